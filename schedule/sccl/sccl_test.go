package sccl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/schedule/foreign"
)

func TestX(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/schedules/sccl_json/*.json")
	for _, f := range files {
		r, err := os.Open(f)
		require.NoError(t, err)
		for _, o := range []foreign.Options{{}, {Count: 7}, {Place: foreign.InPlace}} {
			r.Seek(0, 0)
			o.File = f
			file, err := Read(r, o)
			if err != nil {
				t.Log(err)
				continue
			}
			p, v := schedule.Verify(file.Schedule, schedule.VerifyOptions{Iterations: 1})
			t.Log(filepath.Base(f), p, v, file.Found, file.Notes)
		}
	}
}
