package model

import (
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// Grids remembers the grids of a run's kernels, and their waves: layers and microbatches of a model
// run the same kernels, one op of a schedule that many parts share.
type Grids struct{ known map[gridKey]*KeptGrid }

// gridKey has all that a kernel's grid depends on.
type gridKey struct {
	op                  *kernel.Op
	rank, blocks, perSM int32
}

// KeptGrid is a grid that is kept, with the waves in which its blocks have run so far.
type KeptGrid struct {
	Grid
	waves []keptWave
}

// keptWave holds a result of Grid.Wave.
type keptWave struct {
	from, n int64
	takes   unit.Time
	bytes   unit.Bytes
}

// Of returns what Rules.GridOf does.
//
// REQUIRES: the op of an address is the same whenever it is asked for.
func (s *Grids) Of(r *Rules, rank int32, op *kernel.Op, l *schedule.Launch) *KeptGrid {
	key := gridKey{op: op, rank: rank, perSM: r.PerSM(l)}
	if l != nil {
		key.blocks = l.Blocks
	}
	g, known := s.known[key]
	if !known {
		if s.known == nil {
			s.known = map[gridKey]*KeptGrid{}
		}
		g = &KeptGrid{Grid: r.GridOf(rank, op, l)}
		s.known[key] = g
	}
	return g
}

// WaveAt returns what Wave does, for the kernel's wave of a number. Kernels that have the same SMs
// free have the same waves.
func (g *KeptGrid) WaveAt(number int, from, n int64) (takes unit.Time, bytes unit.Bytes) {
	if number < len(g.waves) {
		if w := &g.waves[number]; w.from == from && w.n == n {
			return w.takes, w.bytes
		}
	}
	takes, bytes = g.Wave(from, n)
	if number == len(g.waves) {
		g.waves = append(g.waves, keptWave{from, n, takes, bytes})
	}
	return takes, bytes
}
