package report

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/program"
	"collsim/run"
	"collsim/unit"
)

// TestPasses: what is said of several ops is said once, and of the program with what it saved.
func TestPasses(t *testing.T) {
	notes := []program.Note{
		{Pass: "bucket", Ops: []string{"a", "b"}, Did: "2 calls in one", Why: "they do the same"},
		{Pass: "bucket", Ops: []string{"c"}, Did: "left as it is"},
		{Pass: "bucket", Ops: []string{"d", "e", "f", "g", "h"}, Did: "2 calls in one",
			Why: "they do the same"},
		{Pass: "bucket", Did: "calls: 1 instead of 7", Saved: 2 * unit.Microsecond, Timed: true},
		{Pass: "reorder", Did: "as written", Timed: true},
		{Pass: "coalesce", Did: "calls: 1 instead of 2", Saved: -unit.Microsecond, Timed: true},
		{Pass: "gradient", Tensors: []string{"x", "w"}, Did: "none", Why: "read by no op"},
		{Pass: "gradient", Tensors: []string{"a", "b", "c", "d", "e", "f"}, Did: "none"},
	}
	r := &run.ProgramResult{Lowered: &program.Lowered{Notes: notes}}
	require.Equal(t, []string{
		"bucket: a+b, d+…+h (5): 2 calls in one (they do the same)",
		"bucket: c: left as it is",
		"bucket: calls: 1 instead of 7: saves 2.00 us",
		"reorder: as written: saves nothing",
		"coalesce: calls: 1 instead of 2: costs 1.00 us",
		"gradient: x, w: none (read by no op)",
		"gradient: a, b, c, d, 2 more: none"}, programPasses(r))
	require.Equal(t, "pass=bucket ops=c did=left as it is why= saved_ps= tensors=",
		noteFields().write(&notes[1]).String())
	require.Equal(t, "pass=bucket ops= did=calls: 1 instead of 7 why= "+
		"saved_ps=2000000 tensors=", noteFields().write(&notes[3]).String())
	require.Equal(t, "pass=gradient ops= did=none why=read by no op saved_ps= tensors=x w",
		noteFields().write(&notes[6]).String())

	m := &program.Usage{Bytes: 3 * unit.MiB, Workspace: unit.MiB, Peak: 2 * unit.MiB,
		At: []string{"a"}, Alive: []program.Held{{Name: "x", Bytes: 2 * unit.MiB}}}
	require.Equal(t, "memory 3 MiB a rank, 1 MiB of it workspace; at most 2 MiB in use at once, at a",
		memoryText(m))
	require.Equal(t, "bytes=3145728 workspace_bytes=1048576 peak_bytes=2097152 peak_at=a "+
		"alive=tensor=x bytes=2097152", memoryFields().write(m).String())
}

// TestPassesOfMany: of a pass with a note for each of many ops the first lines are shown, how many
// more there are, and what it did to the program. They are found in one go: a look through all
// notes for each line would take minutes.
func TestPassesOfMany(t *testing.T) {
	const many = 200_000
	notes := make([]program.Note, many)
	for i := range notes {
		name := fmt.Sprint("t", i)
		notes[i] = program.Note{Pass: "reuse", Ops: []string{name}, Did: "lies where " + name + " lay"}
	}
	notes = append(notes, program.Note{Pass: "reuse", Did: "4 MiB a rank"})
	lines := programPasses(&run.ProgramResult{Lowered: &program.Lowered{Notes: notes}})
	require.Len(t, lines, shownNotes+2)
	require.Equal(t, "reuse: t7: lies where t7 lay", lines[7])
	require.Equal(t, []string{"reuse: 199960 more lines; --json has them", "reuse: 4 MiB a rank"},
		lines[shownNotes:])
}
