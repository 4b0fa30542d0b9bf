package proof

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestScripts runs the scripts of testdata. Commands:
//
//	schedule [calls=N]  read a schedule, check that it prints as it was written, and verify it
//	damage [calls=N]    replace lines of it ("- old", "+ new") and verify the twin
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		var text string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var o Options
			d.MaybeScanArgs(t, "calls", &o.Iterations)
			switch d.Cmd {
			case "schedule":
				text = d.Input + "\n"
				s := mustParse(t, text)
				require.Equal(t, text, s.String())
				return verdict(s, o)
			case "damage":
				return verdict(mustParse(t, damage(t, text, d.Input)), o)
			}
			d.Fatalf(t, "no command %q", d.Cmd)
			return ""
		})
	}
}
