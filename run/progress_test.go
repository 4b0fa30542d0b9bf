package run

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgress: a stage reports how much of it is done, more each time: a simulation and a proof of
// all steps of the result, a check of its windows, of which the last is the last report.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		ranks            int
		algorithm, stage string
		sets             []string
	}{
		{512, "ring", simStage.Name, []string{"sim.engine=event", "check.numbers=false"}},
		{512, "ring", simStage.Name, []string{"sim.engine=sweep", "check.numbers=false"}},
		{256, "two-shot", proofStage.Name, []string{"check.numbers=false"}},
		{8, "ring", checkStage.Name, []string{`collective.bytes="64 MiB"`, "check.proof=false"}},
	} {
		s, err := Load("s.toml", []byte(fmt.Sprintf(onSwitch+calling, c.ranks, "all_reduce",
			c.algorithm, "1 MiB")), LoadOptions{Set: c.sets})
		require.NoError(t, err)
		var lock sync.Mutex
		done, total := int64(0), int64(0)
		report, err := s.Run(context.Background(), RunOptions{Phase: func(_ string,
			phase Phase) (Progress, func()) {
			return func(now, of int64) {
				lock.Lock()
				defer lock.Unlock()
				if phase.Name == c.stage {
					require.LessOrEqual(t, done, now)
					done, total = now, of
				}
			}, func() {}
		}})
		require.NoError(t, err)
		require.Positive(t, done, c)
		if c.stage == checkStage.Name {
			require.Equal(t, total, done)
		} else {
			require.Equal(t, report.Results[0].Steps, total)
			require.LessOrEqual(t, done, total)
		}
	}
}
