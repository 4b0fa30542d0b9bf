// Package program describes compute and collectives together: ops on tensors, which passes lower to
// one schedule of parts. Its pipelines are schedules on two streams that fuse a matmul with the
// collective before or after it.
package program
