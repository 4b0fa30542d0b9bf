// Package program is compute and collectives together. Its pipelines are schedules on two streams
// that fuse a matmul with the collective before or after it.
package program
