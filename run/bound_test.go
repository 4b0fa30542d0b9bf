package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestBoundsOfAlike: bounds see a network whose ranks are known alike, though a run has asked for
// its links: else they would look at all ranks, and those of a torus of 4,096 would take a second.
func TestBoundsOfAlike(t *testing.T) {
	s, err := Load("torus.toml", []byte("[topology]\npreset = \"torus\"\nshape = [3, 4]\n"+
		"bandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\n"+
		"algorithm = \"ring\"\nbytes = \"12 KiB\"\n"), LoadOptions{})
	require.NoError(t, err)
	p := s.Points[0]
	r := &runner{s: s, numbers: func(f func()) { f() }}
	require.NoError(t, r.enter(p))
	m, err := s.make(p, p.Algorithm)
	require.NoError(t, err)
	result := &Result{Point: p}
	_, err = r.simulatePasses(m, result, nil)
	require.NoError(t, err)
	for i := range r.network.graph.Links() { // so that it shows whose links are looked at
		r.network.graph.Links()[i].Latency *= 2
	}
	require.NoError(t, r.bound(m, result))
	require.True(t, r.asNew.Alike())
	require.Equal(t, 3*unit.Microsecond, result.Bounds.Latency) // 1 and 2 links away
}
