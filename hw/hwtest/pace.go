package hwtest

import (
	"crypto/sha256"
	"time"
)

// Patient is a time that a test gives to several processes, for a machine that is idle, as long as
// they need it on this one as it is now: a fixed amount of work is done, and timed.
func Patient(idle time.Duration) time.Duration {
	const usual = 40 * time.Millisecond // for 32 MiB, which most cores take half as long for
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
