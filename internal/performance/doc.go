// Package performance measures how long simulations take, and writes docs/performance.md: its
// tests hold the times that are simulated there to what comes out today, and measure those of this
// machine anew when asked to. Each row is a benchmark as well:
//
//	go test ./internal/performance -update
//	go test ./internal/performance -bench . -run XXX
package performance
