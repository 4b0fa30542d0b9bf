package schedule

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// TestAssembleBeside: of ranks that are assembled beside each other each has its own steps, and of
// several that break a rule the first is told, however many processors there are.
func TestAssembleBeside(t *testing.T) {
	const ranks = 100
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	sizes := make([]int64, ranks)
	head := Schedule{Name: "beside", Spec: collective.Spec{Kind: collective.Custom,
		Type: dtype.Uint8, Ranks: ranks, Splits: [][]int64{sizes, sizes}}}
	lanes := make([]int, ranks)
	for rank := range lanes {
		lanes[rank] = 1
	}
	assemble := func(wrong ...int) (*Schedule, error) {
		bad := map[int]bool{}
		for _, rank := range wrong {
			bad[rank] = true
		}
		return Assemble(head, lanes, func(rank, _ int, add func(Step)) {
			peer := Peer{Rank: int32(rank+1) % ranks}
			for i := range rank {
				if bad[rank] && i == 3 {
					peer.Rank = ranks + int32(rank)
				}
				add(Step{Send: []Dest{{Peer: peer}}})
			}
		})
	}
	for _, processors := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(processors)
		s, err := assemble()
		require.NoError(t, err)
		for rank := range ranks {
			steps := 0
			p := s.Program(rank)
			for c := p.Walk(0); !c.Done(); c.Next(1) {
				steps++
			}
			require.Equal(t, rank, steps)
		}
		_, err = assemble(98, 41, 57, 42)
		require.ErrorContains(t, err, "rank 41 lane 0 step 3: ")
	}
}

// TestStepsShareLeaves: steps that are in no loop are walked as they were written, and a program of
// many takes a leaf for each of few outlines. Tags, peers, blocks, events and kernels are numbers.
func TestStepsShareLeaves(t *testing.T) {
	const ranks, steps, blocks = 5, 400, 50
	sizes, ends := make([]int64, ranks), make([]int64, blocks)
	for rank := range sizes {
		sizes[rank] = blocks
	}
	for i := range ends {
		ends[i] = int64(i) + 1
	}
	head := Schedule{Name: "shared", Spec: collective.Spec{Kind: collective.Custom,
		Type: dtype.Uint8, Ranks: ranks, Splits: [][]int64{sizes, make([]int64, ranks)}}}
	head.Cuts[Input] = Cut{{Axis: Block, Split: Table, Ends: [][]int64{ends}}}
	written := func(rank int) (all []Step) {
		rng := rand.New(rand.NewPCG(1, uint64(rank)))
		for i := range int32(steps) {
			peer := Peer{Rank: int32(rank+1+rng.IntN(ranks-1)) % ranks, Tag: rng.Int32N(1 << 20)}
			s := Step{Round: i * i % 97, Post: rng.IntN(4) == 0}
			switch rng.IntN(3) {
			case 0:
				s.Kernel = Opaque(unit.Time(1 + rng.IntN(1000)))
			case 1:
				s.From = []Source{{Kind: Message, Peer: peer}}
			default:
				s.From = []Source{{Region: Region{First: rng.Int32N(blocks), Run: 1, Times: 1}}}
				s.Send = []Dest{{Peer: peer}}
			}
			if rng.IntN(3) == 0 {
				s.Await = []Event{{Lane: 1, Value: 1 + rng.Int32N(9)}}
			}
			all = append(all, s)
		}
		return all
	}
	s, err := Assemble(head, []int{2, 2, 2, 2, 2}, func(rank, lane int, add func(Step)) {
		for _, step := range written(rank) {
			if lane == 0 {
				add(step)
			}
		}
	})
	require.NoError(t, err)
	for rank := range ranks {
		p, left := s.Program(rank), written(rank)
		var step Step
		for c := p.Walk(0); !c.Done(); c.Next(1) {
			p.Load(&c, &step)
			require.True(t, step.equal(&left[0]), "%s\n%s", s.StepText(0, &step), s.StepText(0, &left[0]))
			left = left[1:]
		}
		require.Empty(t, left)
		require.LessOrEqual(t, len(p.code.leaves), 12)
	}
	again, err := Parse(s.String())
	require.NoError(t, err)
	require.Equal(t, WalkText(s, 0), WalkText(again, 0))
}
