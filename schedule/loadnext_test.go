package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLoadNext: what is made of the step before is what is loaded.
func TestLoadNext(t *testing.T) {
	again := 0
	nested, err := Build(Plan{Spec: AllReduce(31, 62), Chunks: 31, Group: Group{31}, Slices: 2,
		Lane: func(l *Lane) {
			for i := range 3 {
				for j := range 4 {
					l.Send(1, l.Chunk(7*i+2*j))
				}
			}
			for i := range 9 {
				l.Recv(-1, l.Out(i))
				l.Send(2, l.In(5*i))
			}
		}})
	require.NoError(t, err)
	for _, s := range []*Schedule{Ring(t, 9, 100, nil), Direct(t, 7), nested,
		Ring(t, 9, 100, func(p *Plan) { p.Group = nil })} {
		for rank := range s.Spec.Ranks {
			p := s.Program(rank)
			for lane := range p.Lanes() {
				var next, loaded Step
				var before Cursor
				for c := p.Walk(lane); !c.Done(); c.Next(int32(p.Slices(lane))) {
					if p.loadNext(&before, &c, &next); before.pc == c.pc && (rank == 0 || s.Group == nil) {
						again++
					}
					p.Load(&c, &loaded)
					require.True(t, loaded.equal(&next), "%v and %v", loaded, next)
					before = c
				}
			}
		}
	}
	require.Greater(t, again, 30)
}
