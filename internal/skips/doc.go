// Command skips reads what go test -json prints, and prints what go test would, and then every test
// that was left out, with its reason. It fails where a test did, or was left out although this
// machine has what the test needs: a table says which tests may be left out, for which reason, and
// what must be missing then.
//
//	go test -json ./... | go run ./internal/skips
package main
