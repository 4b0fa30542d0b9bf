package msccl_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/msccl"
	"collsim/proof"
	"collsim/schedule"
	"collsim/unit"
)

// TestScripts runs the scripts of testdata. Commands, with the options of reading as=, root=,
// count=, bytes=, op=, place=, protocol=, runtime=:
//
//	file      read a file and print it as a schedule
//	shown     the same of the file before, with other options
//	verdict   what is wrong with the file, and where, or that it is proven; with its notes
//	damage    the verdict of the file with lines replaced ("- old", "+ new")
//	schedule  take a schedule, which is right unless it is said to be unproven
//	write     write the schedule as a file (runtime=, protocol=), which must come back the same
//	lost      write the schedule and print why that cannot be
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		var file, text string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file", "shown":
				if d.Cmd == "file" {
					file = d.Input + "\n"
				}
				f, err := msccl.Read(strings.NewReader(file), options(t, d))
				if err != nil {
					return err.Error() + "\n"
				}
				return f.Schedule.String()
			case "verdict":
				return verdict(t, file, d)
			case "damage":
				return verdict(t, patched(t, file, d.Input), d)
			case "schedule":
				text = d.Input + "\n"
				s, err := schedule.Parse(text)
				require.NoError(t, err)
				_, found := proof.Verify(s, proof.Options{})
				require.Equal(t, d.HasArg("unproven"), len(found) > 0)
				return map[bool]string{true: "proven\n", false: "wrong\n"}[len(found) == 0]
			case "write":
				return written(t, text, d)
			case "lost":
				s, err := schedule.Parse(text)
				require.NoError(t, err)
				var b bytes.Buffer
				_, err = msccl.Write(&b, s, writeOptions(t, d))
				require.Error(t, err)
				require.Zero(t, b.Len())
				return err.Error() + "\n"
			}
			d.Fatalf(t, "no command %q", d.Cmd)
			return ""
		})
	}
}

// options are those that a command's arguments name.
func options(t *testing.T, d *datadriven.TestData) foreign.Options {
	o := foreign.Options{File: "f.xml"}
	var as, op, place string
	var bytes int64
	d.MaybeScanArgs(t, "as", &as)
	d.MaybeScanArgs(t, "op", &op)
	d.MaybeScanArgs(t, "place", &place)
	d.MaybeScanArgs(t, "bytes", &bytes)
	d.MaybeScanArgs(t, "root", &o.Root)
	d.MaybeScanArgs(t, "count", &o.Count)
	d.MaybeScanArgs(t, "protocol", &o.Protocol)
	d.MaybeScanArgs(t, "runtime", &o.Runtime)
	o.Bytes = unit.Bytes(bytes)
	var err error
	if as != "" {
		o.As, err = collective.ParseKind(as)
		require.NoError(t, err)
	}
	if op != "" {
		o.Op, o.Factor, err = collective.ParseOp(op)
		require.NoError(t, err)
	}
	o.Place = map[string]foreign.Placement{"": foreign.AsFile, "in": foreign.InPlace,
		"out": foreign.OutOfPlace}[place]
	return o
}

func writeOptions(t *testing.T, d *datadriven.TestData) msccl.WriteOptions {
	o := msccl.WriteOptions{Prove: prove}
	var from, to int64
	d.MaybeScanArgs(t, "runtime", &o.Runtime)
	d.MaybeScanArgs(t, "protocol", &o.Protocol)
	d.MaybeScanArgs(t, "min", &from)
	d.MaybeScanArgs(t, "max", &to)
	o.MinBytes, o.MaxBytes = unit.Bytes(from), unit.Bytes(to)
	return o
}

// prove is the first violation of a schedule in one call.
func prove(s *schedule.Schedule) error {
	if _, found := proof.Verify(s, proof.Options{Iterations: 1}); len(found) > 0 {
		return found[0]
	}
	return nil
}

// verdict reads and verifies a file.
func verdict(t *testing.T, text string, d *datadriven.TestData) string {
	f, err := msccl.Read(strings.NewReader(text), options(t, d))
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	proof, lines := judge(f)
	if len(lines) == 0 {
		fmt.Fprintf(&b, "proven: %d rounds, %d steps, %d messages, %d slots; same tree %t, "+
			"in rank order %t\n", proof.Rounds, proof.Steps, proof.Messages, proof.MinSlots,
			proof.SameTree, proof.KeepsRankOrder)
	}
	for _, line := range lines {
		fmt.Fprintln(&b, line)
	}
	for _, note := range f.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if d.HasArg("sizes") {
		fmt.Fprintf(&b, "sizes: %s\n", f.Sizes)
	}
	return b.String()
}

// patched replaces each line that a patch marks with "- ", which must be there once, by the "+ "
// lines that follow it.
func patched(t *testing.T, text, patch string) string {
	lines := strings.Split(text, "\n")
	at := -1
	for _, p := range strings.Split(patch, "\n") {
		mark, line := p[:1], strings.TrimSpace(p[1:])
		if mark == "+" {
			lines = slices.Insert(lines, at, line)
			at++
			continue
		}
		at = slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, line) })
		require.GreaterOrEqual(t, at, 0, line)
		lines = slices.Delete(lines, at, at+1)
	}
	return strings.Join(lines, "\n")
}

// written is the file of a schedule, which is the same a second time, and proven when read back.
func written(t *testing.T, text string, d *datadriven.TestData) string {
	s, err := schedule.Parse(text)
	require.NoError(t, err)
	var b, again bytes.Buffer
	o := writeOptions(t, d)
	notes, err := msccl.Write(&b, s, o)
	require.NoError(t, err)
	_, err = msccl.Write(&again, s, o)
	require.NoError(t, err)
	require.Equal(t, b.String(), again.String())
	count := s.Spec.Count
	f, err := msccl.Read(&again, foreign.Options{Count: count, Op: s.Spec.Op, Root: s.Spec.Root,
		Runtime: o.Runtime})
	require.NoError(t, err)
	theirs, lines := judge(f)
	require.Empty(t, lines)
	ours, _ := proof.Verify(s, proof.Options{})
	require.Equal(t, ours.BytesSent, theirs.BytesSent)
	require.Equal(t, ours.MinSlots, theirs.MinSlots)
	for _, note := range notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}
