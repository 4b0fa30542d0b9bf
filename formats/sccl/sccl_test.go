package sccl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/internal/samples"
	"collsim/proof"
	"collsim/schedule"
)

func read(t *testing.T, path string, o foreign.Options) (*foreign.File, error) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	o.File = filepath.Base(path)
	return Read(bytes.NewReader(text), o)
}

// verdict is what is found, with the places in the file, or the proof.
func verdict(f *foreign.File) string {
	proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
	var b strings.Builder
	if proven != nil {
		fmt.Fprintf(&b, "proved: %d rounds, %d messages, %d slots\n", proven.Rounds, proven.Messages,
			proven.MinSlots)
	}
	for _, v := range append(found, f.Found...) {
		fmt.Fprintln(&b, v)
		if v.Step >= 0 {
			fmt.Fprintln(&b, "  at", f.Where(v.Rank, v.Lane, v.Step))
		}
	}
	return b.String()
}

// TestFiles runs testdata/files.txt over the small samples beside it: verify prints the verdict,
// show the schedule, notes what the file says.
func TestFiles(t *testing.T) {
	datadriven.RunTest(t, "testdata/files.txt", func(t *testing.T, d *datadriven.TestData) string {
		o, name, as := foreign.Options{}, "", ""
		d.ScanArgs(t, "file", &name)
		d.MaybeScanArgs(t, "count", &o.Count)
		d.MaybeScanArgs(t, "root", &o.Root)
		d.MaybeScanArgs(t, "runtime", &o.Runtime)
		if d.MaybeScanArgs(t, "as", &as); as != "" {
			kind, err := collective.ParseKind(as)
			require.NoError(t, err)
			o.As = kind
		}
		if d.HasArg("in-place") {
			o.Place = foreign.InPlace
		}
		if d.HasArg("avg") {
			o.Op, o.Avg = collective.Avg, collective.AvgPost
		}
		f, err := read(t, "testdata/"+name, o)
		if err != nil {
			return err.Error() + "\n"
		}
		checkText(t, f.Schedule)
		switch d.Cmd {
		case "verify":
			return verdict(f)
		case "show":
			return f.Schedule.String()
		case "notes":
			return f.Format + ": " + f.Name + "\n" + f.Sizes + "\n" + strings.Join(f.Notes, "\n") + "\n"
		}
		d.Fatalf(t, "no command %q", d.Cmd)
		return ""
	})
}

// TestSamples gives the algorithms that msccl-tools found their verdict: all are right, in and out
// of place and at sizes that their chunks do not divide. (The all-to-all is: what is wrong in the
// MSCCL XML that ncclize makes of it comes from ncclize.)
func TestSamples(t *testing.T) {
	dir := samples.Sets(t, "sccl_json")[0].Dir // all of them
	tests := []struct {
		file                 string
		kind                 collective.Kind
		ranks, rounds, sends int
	}{
		{"a2a_line3_s2m1", collective.AllToAll, 3, 2, 8},
		{"ag_dgx1_s2", collective.AllGather, 8, 2, 56},
		{"ag_ring4_s2", collective.AllGather, 4, 2, 12},
		{"bcast_fc4_s1", collective.Broadcast, 4, 1, 3},
		{"gather_line4", collective.Gather, 4, 3, 12},
		{"rs_dgx1_s2", collective.ReduceScatter, 8, 2, 56},
		{"scatter_line4", collective.Scatter, 4, 3, 8},
	}
	for _, tt := range tests {
		for _, o := range []foreign.Options{{}, {Count: 7}, {Place: foreign.InPlace}} {
			f, err := read(t, filepath.Join(dir, tt.file+".msccl.json"), o)
			if tt.kind == collective.AllToAll && o.Place == foreign.InPlace {
				require.ErrorContains(t, err, "input and output apart")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, tt.kind, f.Schedule.Spec.Kind)
			require.Equal(t, tt.ranks, f.Schedule.Spec.Ranks)
			checkText(t, f.Schedule)
			require.Equal(t, o.Place == foreign.InPlace, f.Schedule.Spec.InPlace)
			proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
			require.Empty(t, found, tt.file)
			require.Empty(t, f.Found, tt.file)
			require.Equal(t, tt.rounds, proven.Rounds, tt.file)
			require.EqualValues(t, tt.sends, proven.Messages, tt.file)
			require.Equal(t, 1, proven.MinSlots, tt.file)
		}
	}
}

// checkText holds a schedule to its text form, which import prints: it reads back as the same.
func checkText(t *testing.T, s *schedule.Schedule) {
	t.Helper()
	back, err := schedule.Parse(s.String())
	require.NoError(t, err)
	require.True(t, schedule.Equal(s, back))
}
