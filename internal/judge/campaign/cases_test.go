package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/judge"
	"collsim/proof"
	"collsim/schedule"
)

// TestScripts: the proof says of the judge's own schedules what the judge says, right or wrong, of
// one call and of two, and in rendezvous.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	c := newContest(t, 0)
	for _, path := range paths {
		script, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, text := range inputs(string(script), "judge") {
			for _, c.rendezvous = range []bool{false, true} {
				require.Empty(t, c.compare(text, 0).why, text)
			}
		}
	}
}

// TestReportedCases: the schedules that were accepted wrongly, as they were reported, come out as
// their table says, of one call and of two, and both say so.
func TestReportedCases(t *testing.T) {
	const folder = "testdata/cases"
	table, err := os.ReadFile(filepath.Join(folder, "index.tsv"))
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		name, verdict, _ := strings.Cut(line, "\t")
		verdict, _, _ = strings.Cut(verdict, "\t")
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		p, readErr := judge.Read(string(text))
		s, parseErr := schedule.Parse(string(text))
		for calls := 1; calls <= 2; calls++ {
			right := readErr == nil &&
				judge.Judge(p, judge.Options{Calls: calls}).Finding == judge.Right
			require.Equal(t, verdict == "accept", right, "the judge of %s, %d calls", name, calls)
			proven := parseErr == nil
			if proven {
				_, found := proof.Verify(s, proof.Options{Iterations: calls})
				proven = len(found) == 0
			}
			require.Equal(t, verdict == "accept", proven, "the proof of %s, %d calls", name, calls)
		}
	}
}
