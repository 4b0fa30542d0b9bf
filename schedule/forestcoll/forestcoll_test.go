package forestcoll

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/schedule"
	"collsim/schedule/foreign"
)

func TestX(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/schedules/forestcoll/*.xml")
	for _, f := range files {
		r, err := os.Open(f)
		require.NoError(t, err)
		for _, o := range []foreign.Options{{}, {Count: 7}, {Place: foreign.InPlace},
			{As: collective.ReduceScatter}, {As: collective.AllReduce}, {As: collective.ReduceScatter, Place: foreign.InPlace}, {As: collective.AllReduce, Place: foreign.InPlace, Count: 1},
		} {
			r.Seek(0, 0)
			o.File = f
			file, err := Read(r, o)
			if err != nil {
				t.Log(err)
				continue
			}
			p, v := schedule.Verify(file.Schedule, schedule.VerifyOptions{Iterations: 1})
			if len(v) > 0 {
				t.Log(filepath.Base(f), o, v, file.Found, file.Notes)
			} else {
				t.Log(filepath.Base(f), p.Rounds, p.Steps, p.MinSlots, p.KeepsRankOrder, file.Notes)
			}
		}
	}
}
