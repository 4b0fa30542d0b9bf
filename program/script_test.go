package program_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/program"
)

// TestScripts prints pipelines as text.
func TestScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/pipelines.txt", func(t *testing.T, d *datadriven.TestData) string {
		var ranks int
		d.ScanArgs(t, "ranks", &ranks)
		v := program.Repaired
		if d.HasArg("seed") {
			v = program.Seed
		}
		s, ok := pipelines(t, ranks, v)[d.Cmd]
		require.True(t, ok)
		return s.String()
	})
}
