package schedule

import "sync/atomic"

// maxCachedParts bounds the programs that are cached for all ranks, in steps and their operands and
// destinations. It is about 160 MiB, which an executor of all ranks needs anyway.
const maxCachedParts = 1 << 20

// A programCache keeps ranks' programs as their author wrote them, the first ones until it is full.
// So the proof, the numbers and each engine need not call the author again.
type programCache struct {
	write func(rank int32) *code
	codes []atomic.Pointer[code] // of each rank; nil: not cached
	parts atomic.Int64           // size of all cached programs
}

// newProgramCache returns an empty cache; write makes a rank's program.
func newProgramCache(ranks int, write func(rank int32) *code) *programCache {
	return &programCache{write: write, codes: make([]atomic.Pointer[code], ranks)}
}

// parts returns the size of a step in units of maxCachedParts: itself, its sources and
// destinations.
func (s *Step) parts() int { return 1 + len(s.From) + len(s.To) + len(s.Send) }

// store caches a rank's program if there is room.
func (k *programCache) store(rank int32, c *code) {
	parts := 0
	for i := range c.leaves {
		parts += c.leaves[i].step.parts()
	}
	if k.parts.Add(int64(parts)) > maxCachedParts {
		k.parts.Add(int64(-parts))
		return
	}
	k.codes[rank].Store(c)
}

// code returns a rank's program, from the cache or from its author.
func (k *programCache) code(rank int32) *code {
	if c := k.codes[rank].Load(); c != nil {
		return c
	}
	c := k.write(rank)
	k.store(rank, c)
	return c
}
