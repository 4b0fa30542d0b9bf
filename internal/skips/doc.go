// Command skips reads the output of go test -json. It prints what go test would print, and then
// every skipped test with its reason. It fails if a test failed, or was skipped although this
// machine has what the test needs. A table says which tests may be skipped, for which reason, and
// what the machine must lack then.
//
//	go test -json ./... | go run ./internal/skips
package main
