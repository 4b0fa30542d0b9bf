package run

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/tier"
	"collsim/unit"
)

// TestContest: the fastest is that of simulating all candidates to their ends, on random networks,
// and one that is left out, by its published cost, its bytes or its time so far, is slower.
func TestContest(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	leftOut := map[string]int{}
	for range tier.Of(60, 1500) {
		requireFastest(t, randomContest(rng), leftOut)
	}
	require.Greater(t, leftOut["at least"], 100)
	require.Greater(t, leftOut["more than"], 100)
}

// TestContestOfMachines: so it is on machines, whose devices limit lanes and have protocols.
func TestContestOfMachines(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	names := []string{"dgx-h100", "dgx-a100", "mi300x-8", "p4d"}
	for i := range tier.Of(8, 120) {
		requireFastest(t, fmt.Sprintf("[topology]\npreset = '%s'\nnodes = %d\n"+
			"[[collective]]\nkind = '%v'\nalgorithm = 'fastest'\nbytes = '%d KiB'\n",
			names[i%len(names)], 1+rng.IntN(2), kinds[rng.IntN(len(kinds))], 1<<rng.IntN(16)), nil)
	}
}

// kinds are those of random contests.
var kinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter,
	collective.Broadcast, collective.Reduce, collective.AllToAll, collective.Gather,
	collective.Scatter}

// randomContest returns a scenario of a random network.
func randomContest(rng *rand.Rand) string {
	presets := []string{"preset = 'switch'", "preset = 'full-mesh'", "preset = 'ring'"}
	return fmt.Sprintf("[topology]\n%s\nranks = %d\nbandwidth = '%d GB/s'\nlatency = '%d ns'\n"+
		"[device]\noverhead = '%d ns'\nlane_rate = '%d GB/s'\nchannels = %d\n"+
		"[sim]\nsharing = '%s'\n[[collective]]\nkind = '%v'\nalgorithm = 'fastest'\n"+
		"bytes = '%d B'\n",
		presets[rng.IntN(3)], 2+rng.IntN(12), 1+rng.IntN(9), 100*rng.IntN(9), 300*rng.IntN(3),
		1+rng.IntN(4), 1+rng.IntN(3), []string{"fifo", "fluid"}[rng.IntN(2)],
		kinds[rng.IntN(len(kinds))], 1<<(8+rng.IntN(15))+rng.IntN(1000))
}

// requireFastest compares what is found to be the fastest of a scenario with what simulating all
// finds, and counts the candidates that are left out, by a word of the reason.
func requireFastest(t *testing.T, text string, leftOut map[string]int) {
	s, err := Load("contest.toml", []byte(text), LoadOptions{})
	require.NoError(t, err, text)
	p := s.Points[0]
	r := &runner{s: s, numbers: func(f func()) { f() }}
	require.NoError(t, r.enter(p))
	list := s.fewerChannels(p, standsFor(p))
	best, candidates, err := r.compare(p, standsFor(p))
	require.NoError(t, err, text)
	require.Len(t, candidates, len(list))
	least, first := unit.Forever, ""
	for i, a := range list {
		m, err := s.make(p, a)
		time := unit.Time(-1)
		if err == nil {
			time, err = r.measure(m, p, 0)
		}
		if c := &candidates[i]; err != nil {
			require.True(t, leavesOut(err), "%s: %v: %v", text, a, err)
			require.NotEmpty(t, c.Why)
			require.Negative(t, c.Time)
			continue
		}
		require.Equal(t, m.algorithm.String(), candidates[i].Algorithm.String(), text)
		if time < least {
			least, first = time, m.algorithm.String()
		}
		if c := &candidates[i]; c.Time >= 0 {
			require.Equal(t, time, c.Time, "%s: %v", text, a)
			require.Empty(t, c.Why)
			continue
		}
		require.LessOrEqual(t, candidates[i].AtLeast, time, text)
		require.Greater(t, candidates[i].AtLeast, best.ran.Time, "%s: %v: %s", text, a, candidates[i].Why)
		for _, why := range []string{"at least", "more than"} {
			if leftOut != nil && strings.HasPrefix(candidates[i].Why, "it takes "+why) {
				leftOut[why]++
			}
		}
	}
	require.Equal(t, first, best.algorithm.String(), text)
	require.Equal(t, least, best.ran.Time, text)
}
