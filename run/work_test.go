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
					got.written = 0
					require.Equal(t, naiveWork(s), got, "%s %v %+v", a.Name, spec, o)
				}
			}
		}
	}
	require.Greater(t, seen, 200)
}

// received is the number of messages that a step takes in.
func received(step *schedule.Step) (n int64) {
	for i := range step.From {
		if step.From[i].Kind == schedule.Message {
			n++
		}
	}
	return n
}

// afar is the number of blocks of other ranks that a step accesses, once for each rank.
func afar(step *schedule.Step) (n int64) {
	blocks := func(r *schedule.Region) int64 {
		if r.List != nil {
			return int64(len(r.List))
		}
		return int64(r.Run * r.Times)
	}
	for i := range step.From {
		switch f := &step.From[i]; f.Kind {
		case schedule.Get:
			n += blocks(&f.Region)
		case schedule.Multimem:
			for range f.Team {
				n += blocks(&f.Region)
			}
		}
	}
	for i := range step.Send {
		d := &step.Send[i]
		for range d.Team {
			n += blocks(&d.Region)
		}
		if d.Put && d.Team == nil {
			n += blocks(&d.Region)
		}
	}
	return n
}

// naiveWork is workOf, each sub-step of each rank looked at.
func naiveWork(s *schedule.Schedule) (w work) {
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
				w.steps, w.messages = w.steps+1, w.messages+messages
				w.transfers += messages + others
				w.bytes += (messages + others) * n * int64(s.Spec.Type.Width())
				w.received += received(&step) * n * int64(s.Spec.Type.Width())
				for i := range step.From {
					if f := &step.From[i]; f.Kind != schedule.Message {
						w.name(&f.Region)
					}
				}
				w.afar += afar(&step)
				for i := range step.To {
					w.name(&step.To[i])
				}
				most = max(most, len(step.Send))
				if len(step.Send) > 0 {
					w.largest = max(w.largest, n*int64(s.Spec.Type.Width()))
				}
				for i := range step.Send {
					peers[step.Send[i].Peer] = true
				}
			}
			w.places += int64(most)
			w.peers += int64(len(peers))
		}
	}
	return w
}
