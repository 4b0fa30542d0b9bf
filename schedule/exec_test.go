package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExec(t *testing.T) {
	s, err := Build(Plan{Name: "ring", Spec: allReduce(8, 1000), Group: Group{8}, Chunks: 8, Lane: ringLane})
	require.NoError(t, err)
	c, err := Execute(s, Limits{Slots: 2}, Hooks{})
	require.NoError(t, err)
	require.Equal(t, Counts{Steps: 120, Messages: 112, Rounds: 14, InFlight: 2}, c)
	_, err = Execute(s, Limits{Slots: 1}, Hooks{})
	t.Log(err)
}
func BenchmarkExec1024(b *testing.B) {
	s, _ := Build(Plan{Name: "ring", Spec: allReduce(1024, 1<<20), Group: Group{1024}, Chunks: 1024, Lane: ringLane})
	for b.Loop() {
		if _, err := Execute(s, Limits{Slots: 2}, Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
}
