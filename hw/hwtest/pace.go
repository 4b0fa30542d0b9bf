package hwtest

import (
	"crypto/sha256"
	"time"
)

// Patient scales a duration that suits an idle machine to the pace of this one as it is now: it
// times a fixed amount of work.
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
