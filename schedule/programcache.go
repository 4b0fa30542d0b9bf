package schedule

import "sync/atomic"

// KeptParts is how many steps, with what these read, write and send, are kept at most of the
// programs of all ranks: some 40 MiB, which whoever plays all ranks holds anyway.
const MaxCachedParts = 1 << 18

// kept is programs of ranks as they were written, of those that were the first to be, so that a
// proof, the numbers and each engine need not write them anew.
type programCache struct {
	write func(rank int32) *code
	codes []atomic.Pointer[code] // of each rank; nil: not kept
	parts atomic.Int64           // of those that are kept
}

func newProgramCache(ranks int, write func(rank int32) *code) *programCache {
	return &programCache{write: write, codes: make([]atomic.Pointer[code], ranks)}
}

// Parts is how many of KeptParts a step counts for: itself, what it reads, writes and sends.
func (s *Step) Parts() int { return 1 + len(s.From) + len(s.To) + len(s.Send) }

// keep keeps a rank's program if there is room for it.
func (k *programCache) store(rank int32, c *code) {
	parts := 0
	for i := range c.leaves {
		parts += c.leaves[i].step.Parts()
	}
	if k.parts.Add(int64(parts)) > MaxCachedParts {
		k.parts.Add(int64(-parts))
		return
	}
	k.codes[rank].Store(c)
}

// code is a rank's program, which is written if it is not kept.
func (k *programCache) code(rank int32) *code {
	if c := k.codes[rank].Load(); c != nil {
		return c
	}
	c := k.write(rank)
	k.store(rank, c)
	return c
}
