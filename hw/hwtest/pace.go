package hwtest

import (
	"crypto/sha256"
	"time"
)

// Patient scales a duration for an idle machine to the current speed of this one. It times a fixed
// amount of work.
func Patient(idle time.Duration) time.Duration {
	const usual = 40 * time.Millisecond // for 32 MiB; most cores need half as long
	var sum [sha256.Size]byte
	block := make([]byte, 1<<16)
	begin := time.Now()
	for range 512 {
		copy(block, sum[:])
		sum = sha256.Sum256(block)
	}
	slower := max(time.Since(begin)/usual, 1)
	return idle * min(slower, 100)
}
