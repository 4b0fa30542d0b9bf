package sccl

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/proof"
)

// TestErrors damages a good file by one replacement each.
func TestErrors(t *testing.T) {
	tests := []struct{ file, old, new, want string }{
		{"allgather_ring3", `"rounds": 2, "sends"`, `"round": 2, "sends"`,
			`f:6: key "round": one of rounds, sends is expected` + "\n  did you mean rounds?"},
		{"allgather_ring3", `[0, 0, 1], `, `[0, 0], `,
			"f:6: a send of 2 fields; address, source and destination are expected"},
		{"allgather_ring3", `[0, 0, 1], `, `[0, 0, 0], `, "f:6: a send from rank 0 to itself"},
		{"allgather_ring3", `[0, 0, 1], `, `[0, 0, 3], `,
			"f: line 6: a send from rank 0 to rank 3 of 3"},
		{"allgather_ring3", `[0, 0, 1], `, `[0, -1, 1], `,
			"f:6: a whole number from 0 to 65535 is expected, this is -1"},
		{"allgather_ring3", `[0, 0, 1], `, `[0, "a", 1], `,
			`f:6: a whole number from 0 to 65535 is expected, this is "a"`},
		{"allgather_ring3", `[0, 0, 1], `, `[9, 0, 1], `,
			"f:6: address 9: no chunk of the collective has it"},
		{"allgather_ring3", `[0, 0, 1], `, `[0, 0, 1, 2, 3, 4, 5], `,
			"f:6: a string is expected, this is 4"},
		{"allgather_ring3", `"chunks": 2, "pipeline"`, `"chunks": 3, "pipeline"`,
			"input_map has no address 2 of rank 0, which chunk 0 needs"},
		{"allgather_ring3", `"chunks": 2, "pipeline"`, `"chunks": 1, "pipeline"`,
			"f: the maps have addresses that no chunk of the collective has"},
		{"allgather_ring3", `"nodes": 3`, `"nodes": 4`,
			"f: the topology has 3 nodes, the collective 4"},
		{"allgather_ring3", `"nodes": 3`, `"nodes": 70000`, "f:8: a whole number from 1 to 65536"},
		{"allgather_ring3", `"Allgather(n=3)", "nodes"`, `"Allgather(n=4)", "nodes"`,
			`f: collective "Allgather(n=4)" has 3 nodes: Allgather(n=…) of these is expected`},
		{"allgather_ring3", `"Allgather(n=3)", "nodes"`, `"Gather(n=3)", "nodes"`,
			"Gather(n=…,root=…) of these is expected"},
		{"allgather_ring3", `"pre": [0]`, `"pre": [0, 7]`, "f: chunk 0 names rank 7 of 3"},
		{"allgather_ring3", `{"0": [0, 1]`, `{"7": [0, 1]`, "f: input_map names rank 7 of 3"},
		{"allgather_ring3", `{"0": [0, 1]`, `{"x": [0, 1]`, `f:3: rank "x": a number below 65536`},
		{"allgather_ring3", `{"0": [0, 1]`, `{"0": [0, 0]`, "input_map gives rank 0 address 0 twice"},
		{"allgather_ring3", `{"0": [0, 1]`, `{"0": [0, 2]`, "input_map has no address 1 of rank 0"},
		{"allgather_ring3", `"0": [0, 1, 2, 3, 4, 5]`, `"0": [0, 1, 2, 3]`,
			"f: the maps give rank 0 2 chunks of input and 4 of output, where all_gather needs 2 and 6"},
		{"allgather_ring3", `"msccl_type": "topology"`, `"sccl_type": "topology"`,
			"f:12: sccl_type in a file with msccl_type"},
		{"allgather_ring3", `"msccl_type": "topology"`, `"msccl_type": "step"`,
			`f:12: msccl_type "step": "topology" is expected here`},
		{"allgather_ring3", `"pipeline": null`, `"pipeline": 0`, "f:2: a whole number from 1"},
		{"allgather_ring3", `"allow_exchange": false`, `"allow_exchange": 0`,
			"f:2: true or false is expected, this is 0"},
		{"allgather_ring3", `"switches": [],`, ``, ""},
		{"allgather_ring3", `"switches": []`, `"switches": [[[0], [1], 1]]`,
			"a switch of 3 fields; sources, destinations, bandwidth and name are expected"},
		{"allgather_ring3", `[[0, 1, 1], `, `[[0, 1], `,
			"f: links into node 0 are 2 numbers; 3 nodes need as many"},
		{"allgather_ring3", `"rounds": 2, "sends"`, `"sends"`, "f:6: the step has no rounds"},
		{"allgather_ring3", `{"msccl_type": "step", `, `{`,
			`f:6: the object has no msccl_type; "step" is expected`},
		{"allgather_ring3", `"rounds": 2, `, `"rounds": 2, "rounds": 2, `,
			`f:6: key "rounds" is given twice`},
		{"taccl_allreduce", `"rrc"`, `"rcc"`,
			`f:6: operation "rcc": one of rrc, null is expected` + "\n  did you mean rrc?"},
		{"taccl_allreduce", `"copies": 1, `, `"copies": 1, "links": [[0, 1], [1, 0]], `,
			"a topology has either links (SCCL) or node_links (TACCL)"},
	}
	for _, tt := range tests {
		text, err := os.ReadFile("testdata/" + tt.file + ".json")
		require.NoError(t, err)
		damaged := strings.Replace(string(text), tt.old, tt.new, 1)
		require.NotEqual(t, string(text), damaged, tt.old)
		_, err = Read(strings.NewReader(damaged), foreign.Options{File: "f"})
		if tt.want == "" {
			require.NoError(t, err)
			continue
		}
		var wrong *foreign.Error
		require.ErrorAs(t, err, &wrong, tt.new)
		require.Contains(t, err.Error(), tt.want, tt.new)
	}
}

// TestTruncated: every beginning of a file is refused, with a line.
func TestTruncated(t *testing.T) {
	text, err := os.ReadFile("testdata/allgather_ring3.json")
	require.NoError(t, err)
	whole := strings.TrimSpace(string(text))
	for n := range len(whole) {
		_, err := Read(strings.NewReader(whole[:n]), foreign.Options{File: "f"})
		var wrong *foreign.Error
		require.ErrorAs(t, err, &wrong, whole[:n])
		require.Positive(t, wrong.Line)
	}
	_, err = Read(strings.NewReader(whole+"{}"), foreign.Options{File: "f"})
	require.ErrorContains(t, err, "the end of the file is expected, this is an object")
}

// TestOptions: what cannot be taken as asked for.
func TestOptions(t *testing.T) {
	tests := []struct {
		file string
		o    foreign.Options
		want string
	}{
		{"allreduce_composed", foreign.Options{As: collective.Reduce, Root: 9}, "root 9 is none of 2"},
		{"scan_line3", foreign.Options{Place: foreign.InPlace}, "not known to run in place"},
		{"scan_line3", foreign.Options{As: collective.AllToAll}, "the maps give rank 0 no chunk"},
	}
	for _, tt := range tests {
		_, err := read(t, "testdata/"+tt.file+".json", tt.o)
		require.ErrorContains(t, err, tt.want)
	}
	f, err := read(t, "testdata/scan_line3.json", foreign.Options{Count: 10})
	require.NoError(t, err)
	require.Equal(t, [][]int64{{10, 10, 10}, {10, 10, 10}}, f.Schedule.Spec.Splits)
	f, err = read(t, "testdata/allgather_ring3.json", foreign.Options{Bytes: 1})
	require.NoError(t, err)
	require.True(t, f.Schedule.Spec.Empty())
	require.Zero(t, f.Schedule.Program(0).Lanes())
	require.Zero(t, f.Where(0, 0, 0).Line)
}

// FuzzRead holds the reader and the proof to: no panic, and errors of the reader's own type.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"allgather_ring3", "allreduce_composed", "taccl_allreduce",
		"scan_damaged"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Read(strings.NewReader(string(text)), foreign.Options{File: "f"})
		if err != nil {
			var wrong *foreign.Error
			require.True(t, errors.As(err, &wrong), "%v", err)
			return
		}
		checkSmall(t, file)
	})
}

// checkSmall proves a schedule if it is small, and looks every violation up.
func checkSmall(t *testing.T, file *foreign.File) {
	steps := 0
	for rank := range file.Schedule.Spec.Ranks {
		p := file.Schedule.Program(rank)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done() && steps < 2000; c.Next(1) {
				steps++
			}
		}
	}
	if steps == 2000 || file.Schedule.Spec.Ranks > 64 {
		return
	}
	_, found := proof.Verify(file.Schedule, proof.Options{Iterations: 1})
	for _, v := range append(found, file.Found...) {
		_ = file.Where(v.Rank, v.Lane, v.Step).String()
	}
}
