package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWays: on a switch of 16 ranks every way has two links. Of a ring nobody meets; of a pairwise
// exchange, whose rows are shifts, neither, but links are everybody's; of recursive doubling on a
// tree of 4 · 4 ranks all of a row cross one link in the two rows that leave a switch, of four.
func TestWays(t *testing.T) {
	for _, c := range []struct {
		network, kind, algorithm string
		want                     ways
	}{
		{"switch", "all_reduce", "ring", ways{2, 0, true}},
		{"switch", "all_to_all", "pairwise", ways{2, 0, false}},
		{"tree\"\nk = 4\n#\"", "all_reduce", "recursive-doubling", ways{3, 0.5, false}},
	} {
		text := fmt.Sprintf("[topology]\npreset = \"%s\"\nranks = 16\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = %q\nalgorithm = %q\nbytes = \"1 MiB\"\n",
			c.network, c.kind, c.algorithm)
		s, err := Load("s.toml", []byte(text), LoadOptions{})
		require.NoError(t, err)
		p := s.Points[0]
		m, err := s.make(p, p.Algorithm)
		require.NoError(t, err)
		w := workOf(m.whole)
		w.look(m.whole, p, 0)
		require.Equal(t, c.want, w.ways, c.network+" "+c.algorithm)
		c.want.meet, c.want.alone = 0, false
		w.look(m.whole, p, 1)
		require.Equal(t, c.want, w.ways, "who meets is not looked at")
	}
}
