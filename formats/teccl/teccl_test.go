package teccl

import (
	"fmt"
	"os"
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

// verdict is what is found, with the places in the file, or the proof.
func verdict(f *foreign.File) string {
	proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
	var b strings.Builder
	if proven != nil {
		fmt.Fprintf(&b, "%v proved: %d rounds, %d messages, %d slots\n", f.Schedule.Spec.Kind,
			proven.Rounds, proven.Messages, proven.MinSlots)
	}
	for _, v := range append(found, f.Found...) {
		fmt.Fprintln(&b, v)
		if v.Step >= 0 {
			fmt.Fprintln(&b, "  at", f.Where(v.Rank, v.Lane, v.Step))
		}
	}
	return b.String()
}

// damage replaces the line after "- " by the one after "+ ", or by nothing.
func damage(t *testing.T, text, patch string) string {
	old, replacement, _ := strings.Cut(patch, "\n")
	if replacement != "" {
		replacement = strings.TrimPrefix(replacement, "+ ") + "\n"
	}
	damaged := strings.Replace(text, strings.TrimPrefix(old, "- ")+"\n", replacement, 1)
	require.NotEqual(t, text, damaged)
	return damaged
}

// TestFiles runs testdata/files.txt over the small samples beside it: verify prints the verdict,
// show the schedule, notes what the file says, damage the verdict of a file with another line.
func TestFiles(t *testing.T) {
	datadriven.RunTest(t, "testdata/files.txt", func(t *testing.T, d *datadriven.TestData) string {
		o, name := foreign.Options{}, ""
		d.ScanArgs(t, "file", &name)
		d.MaybeScanArgs(t, "count", &o.Count)
		if d.HasArg("in-place") {
			o.Place = foreign.InPlace
		}
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		if d.Cmd == "damage" {
			text = []byte(damage(t, string(text), d.Input))
		}
		o.File = name
		f, err := Read(strings.NewReader(string(text)), o)
		if err != nil {
			return err.Error() + "\n"
		}
		checkText(t, f.Schedule)
		switch d.Cmd {
		case "verify", "damage":
			return verdict(f)
		case "show":
			return f.Schedule.String()
		case "notes":
			return f.Sizes + "\n" + strings.Join(f.Notes, "\n") + "\n"
		}
		d.Fatalf(t, "no command %q", d.Cmd)
		return ""
	})
}

// TestSamples records the verdict of TE-CCL's files: the schedule is right, the inputs of the
// solver are no schedules.
func TestSamples(t *testing.T) {
	set := samples.Sets(t, "teccl_json")[0] // all of them
	text, err := os.ReadFile(set.Path("mesh_4.json"))
	require.NoError(t, err)
	for _, o := range []foreign.Options{{}, {Count: 7}, {Place: foreign.InPlace}} {
		f, err := Read(strings.NewReader(string(text)), o)
		require.NoError(t, err)
		require.Equal(t, collective.AllGather, f.Schedule.Spec.Kind)
		proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
		require.Empty(t, found)
		require.Equal(t, 8, proven.Rounds)
		checkText(t, f.Schedule)
		require.EqualValues(t, 240, proven.Messages)
		require.Equal(t, 1, proven.MinSlots)
	}
	for _, name := range []string{"input_mesh.json", "input_ndv2.json"} {
		text, err := os.ReadFile(set.Path(name))
		require.NoError(t, err)
		_, err = Read(strings.NewReader(string(text)), foreign.Options{File: name})
		require.EqualError(t, err,
			name+":2: TopologyParams: this is a solver input, not a schedule")
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ file, old, new, want string }{
		{"gather_line", `"7-Flows"`, `"7-Flow"`, `f:12: key "7-Flow": one of`},
		{"gather_line", `"7-Flows"`, `"6-Flows"`, ""},
		{"gather_line", `"8-Chunk paths"`, `"6-Flows"`, `f:20: "7-Flows" is there in two ways`},
		{"gather_line", `"3-Epochs_Required": 2,`, ``, `has no "3-Epochs_Required"`},
		{"gather_line", `"3-Epochs_Required": 2,`, `"3-Epochs_Required": 2.5,`,
			"f:4: a whole number from 0 to 268435456 is expected, this is 2.5"},
		{"gather_line", `"GPU 1": {"GPU 2"`, `"GPU x": {"GPU 2"`, `f:8: "GPU x": "GPU 3" is expected`},
		{"gather_line", `"GPU 1": {"GPU 2"`, `"GPU 1": {"GPU2"`, `f:8: "GPU2": "GPU 3" is expected`},
		{"gather_line", `{"Chunk 0": 1.0}`, `{"Chunk": 1.0}`, `f:8: "Chunk": "Chunk 0" is expected`},
		{"gather_line", `traveled over 1->2`, `travelled over 1->2`, "f:13: "},
		{"gather_line", `over 1->2 in epoch 0`, `over 1->1 in epoch 0`,
			"f:13: a flow from 1 to itself"},
		{"gather_line", `over 1->2 in epoch 0`, `over 1->2 in epoch x`, "f:13: "},
		{"gather_line", `over 1->2 in epoch 0`, `over 1->2 in epoch 0 via switches`, "f:13: "},
		{"gather_line", `over 1->2 in epoch 0`, `over 1->9 in epoch 0`,
			"f: line 13: node 9 is at the end of a flow, and no demand names it as a GPU"},
		{"gather_line", `over 1->2 in epoch 0`, `over 1->2 with volume 0.5 in epoch 0`,
			"f: line 13: a part of a chunk, where an all-gather takes whole ones"},
		{"gather_line", `over 1->2 in epoch 0`, `over 1->2 with volume 2 in epoch 0`, "f:13: "},
		{"gather_line", `Demand at 1 for`, `Demand on 1 for`, "f:21: "},
		{"gather_line", `["4->2 in`, `["4-2 in`, `f:21: "4-2 in epoch 0 via switches 3"`},
		{"exchange3", `[[0, "0->1`, `[[5, "0->1`, "f:14: a hop in epoch 0 under epoch 5"},
		{"exchange3", `[[0, "0->1`, `[[0, "0->0`, "f:14: a hop from 0 to itself"},
		{"exchange3", `"0->1 with volume 0.25 in epoch 0"]]`,
			`"0->1 with volume 0.35 in epoch 0"]]`, "f: line 13: the paths of chunk 1 from 0 carry 1.1"},
		{"exchange3", `"2->1 with volume 0.75 in epoch 1"]]`,
			`"2->1 with volume 0.5 in epoch 1"]]`,
			"f: line 15: this hop does not go on with what is at 2"},
		{"exchange3", `"2->1 with volume 0.75 in epoch 1"]]`,
			`"2->0 with volume 0.75 in epoch 1"]]`, "f: line 15: this hop does not go on"},
		{"exchange3", `Demand at 2 for chunk 2 from 1`, `Demand at 2 for chunk 0 from 1`,
			"f: line 19: chunk 0 is demanded at 2: chunks of an all-to-all are numbered"},
	}
	for _, tt := range tests {
		text, err := os.ReadFile("testdata/" + tt.file + ".json")
		require.NoError(t, err)
		damaged := strings.Replace(string(text), tt.old, tt.new, 1)
		require.NotEqual(t, string(text), damaged, tt.old)
		o := foreign.Options{File: "f"}
		if tt.file == "exchange3" {
			o.As = collective.AllToAll
		}
		_, err = Read(strings.NewReader(damaged), o)
		if tt.want == "" {
			require.NoError(t, err)
			continue
		}
		var wrong *foreign.Error
		require.ErrorAs(t, err, &wrong, tt.new)
		require.Contains(t, err.Error(), tt.want, tt.new)
	}
}

// TestOptions: what cannot be taken as asked for.
func TestOptions(t *testing.T) {
	text, err := os.ReadFile("testdata/gather_line.json")
	require.NoError(t, err)
	read := func(text string, o foreign.Options) error {
		_, err := Read(strings.NewReader(text), o)
		return err
	}
	require.ErrorContains(t, read(string(text), foreign.Options{As: collective.Reduce}),
		"TE-CCL has no reduce: all_gather or all_to_all is expected")
	require.ErrorContains(t, read(string(text), foreign.Options{As: collective.AllToAll}),
		"chunks of an all-to-all are numbered by destination")
	// Without demands, all ends of flows are GPUs, and it is an all-gather.
	bare := strings.Split(string(text), "\n")
	flows := strings.Join(append(append(bare[:6:6], bare[11:19]...), `"Solver_Time": 1}`), "\n")
	f, err := Read(strings.NewReader(strings.Replace(flows, "],", "],", 1)), foreign.Options{})
	require.NoError(t, err)
	require.Equal(t, 3, f.Schedule.Spec.Ranks)
	require.ErrorContains(t, read(`{"1-Epoch_Duration": 1, "2-Expected_Epoch_Duration": 1,
		"3-Epochs_Required": 0, "4-Collective_Finish_Time": 0, "5-Algo_Bandwidth": 0, "7-Flows": []}`,
		foreign.Options{}), "no flow and no demand names a GPU")
}

// FuzzRead holds the reader and the proof to: no panic, and errors of the reader's own type.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"gather_line", "exchange3"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Read(strings.NewReader(string(text)), foreign.Options{File: "f"})
		if err != nil {
			var wrong *foreign.Error
			require.ErrorAs(t, err, &wrong)
			return
		}
		blocks := file.Schedule.Blocks(schedule.Input) + file.Schedule.Blocks(schedule.Output)
		if blocks*file.Schedule.Spec.Ranks > 10_000 {
			return
		}
		_, found := proof.Verify(file.Schedule, proof.Options{Iterations: 1})
		for _, v := range found {
			_ = file.Where(v.Rank, v.Lane, v.Step).String()
		}
	})
}

// checkText holds a schedule to its text form, which import prints: it reads back as the same.
func checkText(t *testing.T, s *schedule.Schedule) {
	t.Helper()
	back, err := schedule.Parse(s.String())
	require.NoError(t, err)
	require.True(t, schedule.Equal(s, back))
}
