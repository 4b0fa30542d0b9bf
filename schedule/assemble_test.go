package schedule

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
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
