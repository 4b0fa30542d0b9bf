package proof

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	second "collsim/internal/judge"
	"collsim/internal/judge/vary"
	"collsim/internal/tier"
	"collsim/schedule"
)

// racesOf is the races of a schedule, none if there are too many to be told: of each the text
// without a signal that would order it, and the step of that signal, nil if there is none.
func racesOf(t *testing.T, p *second.Plan, calls int) map[string]*schedule.At {
	s, err := schedule.Parse(p.String())
	require.NoError(t, err)
	_, found := Verify(s, Options{Iterations: calls})
	races := map[string]*schedule.At{}
	for _, x := range found {
		if x.Kind != schedule.Race {
			continue
		}
		text, _, hinted := strings.Cut(x.Text, ", but the signal of ")
		races[text] = nil
		if hinted {
			races[text] = &x.Steps[len(x.Steps)-1]
		}
	}
	if len(found) >= maxViolations {
		clear(races)
	}
	return races
}

// ordinary has the signals of a step not be relaxed, and reports whether any was.
func ordinary(s *second.Step) (was bool) {
	for i := range s.To {
		was = was || s.To[i].Relaxed
		s.To[i].Relaxed = false
	}
	return was
}

// TestRelaxedOrders: where a race names a relaxed signal, the race is gone without the word; and
// where it names none, there is no single step whose signals would order the two accesses.
func TestRelaxedOrders(t *testing.T) {
	named, unnamed := 0, 0
	for seed := range uint64(tier.Of(600, 6_000)) {
		rng := rand.New(rand.NewPCG(seed, 21))
		p := vary.Random(rng)
		for _, lanes := range p.Ranks {
			for _, l := range lanes {
				for i := range l.Steps {
					for k := range l.Steps[i].To {
						to := &l.Steps[i].To[k]
						to.Relaxed = to.Message() && len(l.Steps[i].From) == 0 && rng.IntN(2) == 0
					}
				}
			}
		}
		if _, err := schedule.Parse(p.String()); err != nil {
			continue
		}
		for text, at := range racesOf(t, p, 1) {
			if at != nil {
				named++
				q := p.Clone()
				require.True(t, ordinary(&q.Ranks[at.Rank][at.Lane].Steps[at.Step]), "%s\n%s", p, text)
				require.NotContains(t, racesOf(t, q, 1), text, "%s\n%v", p, at)
				continue
			}
			unnamed++
			for rank, lanes := range p.Ranks {
				for lane, l := range lanes {
					for i := range l.Steps {
						q := p.Clone()
						if ordinary(&q.Ranks[rank][lane].Steps[i]) {
							require.Contains(t, racesOf(t, q, 1), text, "%s\n%d %d %d", p, rank, lane, i)
						}
					}
				}
			}
		}
	}
	t.Log(named, unnamed)
	require.Greater(t, named, 20)
	require.Greater(t, unnamed, 20)
}
