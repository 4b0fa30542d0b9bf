package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// notesOn are the notes that say that two figures of one time are far apart.
func notesOn(list []string) (notes []string) {
	for _, w := range list {
		if strings.Contains(w, "a factor of") {
			notes = append(notes, w)
		}
	}
	return notes
}

// TestTwoPredictions: where the model of a library and the simulation are more than a factor of
// three apart, a note has both and their ratio, and no note where they are not.
func TestTwoPredictions(t *testing.T) {
	for _, c := range []struct {
		ranks, bytes, note string
	}{
		{"64", "1 MiB", "nccl:tree takes 130.5 us by its library's model and 809.7 us in simulation, " +
			"a factor of 6.2"},
		{"2", "1 MiB", ""},
	} {
		s, err := run.Load("s.toml", []byte(`[topology]
preset = "switch"
ranks = `+c.ranks+`
bandwidth = "400 Gbit/s"
latency = "1 us"
[check]
numbers = false
[collective]
kind = "all_reduce"
algorithm = "nccl:tree"
bytes = "`+c.bytes+`"
`), run.LoadOptions{})
		require.NoError(t, err)
		report, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		e, err := s.Explain(s.Points[0], run.RunOptions{})
		require.NoError(t, err)
		require.Equal(t, notesOn(report.Results[0].Warnings), notesOn(e.Result.Warnings))
		if c.note == "" {
			require.Empty(t, notesOn(report.Warnings))
			continue
		}
		require.Len(t, notesOn(report.Warnings), 1)
		require.Contains(t, report.Warnings[0], c.note)
	}
}

// TestUncalibrated: times that are far from what was measured, of figures that no calibration has
// found, are told to be such, once and of the worst.
func TestUncalibrated(t *testing.T) {
	slow := func(_ *hw.Job, r *hw.Result) (*hw.Result, error) {
		r.Repetitions = []hw.Repetition{{Time: 900 * unit.Microsecond}}
		return r, nil
	}
	r := validated(t, four, slow)
	require.Len(t, notesOn(r.Warnings), 1)
	// ring of 1 KiB: 6 rounds of 1 us + 256 B at 1 GB/s; of the four points the two of recursive
	// doubling are faster: 2 rounds of 1 us + 1 KiB
	require.Contains(t, r.Warnings[0], "all_reduce/recursive-doubling/1024: simulated 4.0 us, "+
		"measured 900.0 us, -99.6 %, a factor of 222 (and 3 more beyond 3)")
	require.Contains(t, r.Warnings[0], "collsim calibrate")
	require.Empty(t, notesOn(validated(t, four, nil).Warnings), "10 us beside 4 to 9")

	s, err := run.Load("s.toml", []byte(four), run.LoadOptions{With: []scenarios.With{{Name: "c.toml",
		Text: []byte("[topology]\nlatency = \"3 us\"\n")}}})
	require.NoError(t, err)
	require.Equal(t, []string{"c.toml"}, s.With)
}
