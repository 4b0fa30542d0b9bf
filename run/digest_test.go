package run_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// TestDigest takes the digest of every point of every example: it is the same when the scenario is
// read again, and after its network was built and its rings were found, and no
// two points share one.
func TestDigest(t *testing.T) {
	whose := map[string]string{}
	for _, name := range scenarios.Examples() {
		text, err := scenarios.Example(name)
		require.NoError(t, err)
		read := func(set ...string) *run.Scenario {
			s, err := run.Load("example:"+name, text, run.LoadOptions{Set: set,
				Read: func(file string, _ unit.Bytes) ([]byte, error) { return scenarios.ExampleFile(file) }})
			require.NoError(t, err, name)
			return s
		}
		a, b, other := read(), read(), read("seed=77")
		for i, p := range a.Points {
			_, err := p.Topology.Graph()
			require.NoError(t, err)
			p.Topology.Rings(nil, 2) // a run looks for them, and keeps what it has found
			d := p.Digest("1")
			require.Len(t, d, 16)
			require.Equal(t, d, b.Points[i].Digest("1"), p.ID)
			require.NotEqual(t, d, b.Points[i].Digest("2"), p.ID)
			require.NotEqual(t, d, other.Points[i].Digest("1"), p.ID)
			require.NotContains(t, whose, d)
			whose[d] = name + " " + p.ID
		}
	}
	require.Greater(t, len(whose), 100)
}
