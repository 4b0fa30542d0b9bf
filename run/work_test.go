package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestWorkCounted: what is left out of loops whose iterations are alike is counted all the same.
func TestWorkCounted(t *testing.T) {
	seen := 0
	for _, a := range algos.Table() {
		for _, kind := range collective.Kinds() {
			if kind.Splits() || !a.Does(kind) {
				continue
			}
			for i, ranks := range []int{2, 7, 8, 16} {
				count := []int64{int64(ranks) * 24, int64(ranks)*24 + 5}[i%2]
				spec := collective.Spec{Kind: kind, Ranks: ranks, Count: count, Type: dtype.Float32}
				for _, o := range []algos.Options{{}, {Slices: 3}, {Channels: 2, Slices: 2}} {
					s, err := a.Build(spec, o)
					if err != nil { // another number of ranks, say
						continue
					}
					seen++
					got := workOf(s)
					require.LessOrEqual(t, got.written, got.steps)
					require.LessOrEqual(t, got.listed, got.runs)
					got.written, got.listed = 0, 0
					require.Equal(t, naiveWork(s), got, "%s %v %+v", a.Name, spec, o)
				}
			}
		}
	}
	require.Greater(t, seen, 200)
}

// naiveWork is workOf, each sub-step of each rank looked at.
func naiveWork(s *schedule.Schedule) (w work) {
	w.isOneSided = s.OneSided()
	slices := int32(max(s.Slices, 1))
	var step schedule.Step
	for rank := range s.Spec.Ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			w.lanes++
			most, peers := 1, map[schedule.Peer]bool{}
			for c := p.Walk(lane); !c.Done(); c.Next(slices) {
				p.Load(&c, &step)
				n, _ := s.Size(schedule.Spot{Rank: rank, Channel: p.Channel(lane),
					Slice: int(c.Slice())}, &step)
				messages, others := transfersOf(&step)
				w.steps, w.messages, w.moved = w.steps+1, w.messages+messages, w.moved+n
				w.transfers += messages + others
				w.bytes += (messages + others) * n * int64(s.Spec.Type.Width())
				blocks, runs := blocksOf(&step)
				w.blocks, w.runs = w.blocks+blocks, w.runs+runs
				most = max(most, len(step.Send))
				if len(step.Send) > 0 {
					w.largest = max(w.largest, n*int64(s.Spec.Type.Width()))
				}
				for i := range step.Send {
					peers[step.Send[i].Peer] = true
				}
			}
			w.places += int64(most)
			w.connections += int64(len(peers))
		}
		one := work{}
		one.cutOf(s, rank)
		w.cells, w.held, w.longest = w.cells+one.cells, w.held+one.held, max(w.longest, one.longest)
	}
	return w
}

// cutOf counts the parts of one rank's memories.
func (w *work) cutOf(s *schedule.Schedule, rank int) {
	var homes [3]int64
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		if n := s.Len(b, rank); n > 0 {
			home, _ := s.Home(b, rank)
			pieces := max(int64(len(s.Ends(nil, b, rank, 0))), 1)
			homes[home] = max(homes[home], pieces)
			w.longest = max(w.longest, (n+pieces-1)/pieces)
		}
	}
	w.cells, w.held = homes[0]+homes[1]+homes[2], homes[1]+homes[2]
}
