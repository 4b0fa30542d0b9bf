package mscclpp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/internal/foreign"
	"collsim/formats/mscclpp"
	"collsim/proof"
	"collsim/unit"
)

// TestScripts reads the plans in testdata. The commands:
//
//	plan          keep a plan
//	read [OPTION] print the schedule that the plan is, what is found in it, and the notes
//	verify [OPTION]  print only the verdict, and the places of violations in the plan
//	damage        replace text of the plan ("- old", "+ new", each once) and verify the twin
//
// Options: strict, runtime=none, as=KIND, bytes=N, count=N, dtype=T, protocol=P.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		plan := ""
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "plan":
				plan = d.Input
				return ""
			case "damage":
				return verdict(t, damage(t, plan, d.Input), options(t, d), false)
			case "read", "verify":
				return verdict(t, plan, options(t, d), d.Cmd == "read")
			}
			t.Fatalf("no command %s", d.Cmd)
			return ""
		})
	})
}

// options are the arguments of a command.
func options(t *testing.T, d *datadriven.TestData) foreign.Options {
	o := foreign.Options{File: "plan.json", StrictNop: d.HasArg("strict")}
	var kind, format string
	d.MaybeScanArgs(t, "runtime", &o.Runtime)
	d.MaybeScanArgs(t, "protocol", &o.Protocol)
	d.MaybeScanArgs(t, "count", &o.Count)
	var bytes int64
	d.MaybeScanArgs(t, "bytes", &bytes)
	o.Bytes = unit.Bytes(bytes)
	var err error
	if d.MaybeScanArgs(t, "as", &kind); kind != "" {
		o.As, err = collective.ParseKind(kind)
		require.NoError(t, err)
	}
	if d.MaybeScanArgs(t, "dtype", &format); format != "" {
		o.Type, err = dtype.Parse(format)
		require.NoError(t, err)
	}
	return o
}

// verdict reads a plan and verifies it; with its text if whole.
func verdict(t *testing.T, plan string, o foreign.Options, whole bool) string {
	f, err := mscclpp.Read(strings.NewReader(plan), o)
	if err != nil {
		var wrong *foreign.Error
		require.ErrorAs(t, err, &wrong)
		return err.Error() + "\n"
	}
	var b strings.Builder
	if whole {
		text := f.Schedule.String()
		b.WriteString(text)
		fmt.Fprintf(&b, "sizes: %s\n", f.Sizes)
		for _, note := range f.Notes {
			fmt.Fprintf(&b, "note: %s\n", note)
		}
	}
	proven, violations := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
	for _, v := range append(f.Found, violations...) {
		fmt.Fprintf(&b, "%v\n", v)
		if place := f.Where(v.Rank, v.Lane, v.Step); place.Line > 0 || place.Text != "" {
			fmt.Fprintf(&b, "  at %v\n", place)
		}
	}
	if proven != nil && len(f.Found) == 0 {
		fmt.Fprintf(&b, "OK: %v, %d rounds, %d messages, %d bytes sent\n", f.Schedule.Spec.Kind,
			proven.Rounds, proven.Messages, proven.BytesSent)
	}
	return b.String()
}

// damage replaces text, each old piece once.
func damage(t *testing.T, plan, edits string) string {
	old := ""
	for _, line := range strings.Split(edits, "\n") {
		if rest, ok := strings.CutPrefix(line, "- "); ok {
			old = rest
			continue
		}
		rest, _ := strings.CutPrefix(strings.TrimSpace(line), "+")
		require.Contains(t, plan, old)
		plan = strings.Replace(plan, old, strings.TrimSpace(rest), 1)
	}
	return plan
}
