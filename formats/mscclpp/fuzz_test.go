package mscclpp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/internal/foreign"
	"collsim/formats/mscclpp"
	"collsim/proof"
)

// FuzzRead: any input is a schedule that can be verified, or an error that names the file; and the
// same one each time.
func FuzzRead(f *testing.F) {
	scripts, err := filepath.Glob("testdata/plans/*.txt")
	require.NoError(f, err)
	for _, name := range scripts {
		script, err := os.ReadFile(name)
		require.NoError(f, err)
		for _, part := range strings.Split(string(script), "\nplan\n")[1:] {
			f.Add([]byte(part[:strings.Index(part, "\n----")]), int64(0), false)
			f.Add([]byte(part[:strings.Index(part, "\n----")]), int64(4096), true)
		}
	}
	f.Add([]byte(allPairs(2, 1, 2)), int64(0), false)
	f.Fuzz(func(t *testing.T, plan []byte, count int64, strict bool) {
		o := foreign.Options{File: "x", Count: max(0, count), StrictNop: strict}
		file, err := mscclpp.Read(strings.NewReader(string(plan)), o)
		if err != nil {
			var wrong *foreign.Error
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, "x", wrong.File)
			return
		}
		again, err := mscclpp.Read(strings.NewReader(string(plan)), o)
		require.NoError(t, err)
		require.Equal(t, file.Schedule.String(), again.Schedule.String())
		require.Equal(t, file.Found, again.Found)
		steps := 0
		for rank := range file.Schedule.Spec.Ranks {
			p := file.Schedule.Program(rank)
			for lane := range p.Lanes() {
				for c := p.Walk(lane); !c.Done() && steps < 2000; c.Next(1) {
					file.Where(rank, lane, steps)
					steps++
				}
			}
		}
		if steps >= 2000 || file.Schedule.Spec.Ranks > 64 {
			return
		}
		_, found := proof.Verify(file.Schedule, proof.Options{Iterations: 1})
		for _, v := range append(file.Found, found...) {
			require.NotEmpty(t, v.Error())
			file.Where(v.Rank, v.Lane, v.Step)
		}
	})
}
