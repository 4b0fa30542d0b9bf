// Package performance measures simulation speed, and writes docs/performance.md. Its tests compare
// the simulated times there with today's, and measure this machine's speed again on request. Each
// row is a benchmark as well:
//
//	go test ./internal/performance -update
//	go test ./internal/performance -bench . -run XXX
package performance
