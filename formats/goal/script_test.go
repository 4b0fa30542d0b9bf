package goal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/goal"
	"collsim/formats/internal/foreign"
	"collsim/proof"
	"collsim/schedule"
)

// TestScripts runs the scripts of testdata/scripts. Commands:
//
//	read [as=KIND] [root=R] [rendezvous] [quiet]  read a GOAL file; print the schedule, unless
//	        quiet, and what is proven of it or wrong with it, with the place in the file
//	write   read a schedule in its text form, print it as GOAL, read that back, and print the same
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			o := foreign.Options{File: "x.goal"}
			switch d.Cmd {
			case "read":
				if d.HasArg("as") {
					var kind string
					d.ScanArgs(t, "as", &kind)
					var err error
					o.As, err = collective.ParseKind(kind)
					require.NoError(t, err)
				}
				d.MaybeScanArgs(t, "root", &o.Root)
				f, err := goal.Read(strings.NewReader(d.Input), o)
				if err != nil {
					return err.Error() + "\n"
				}
				text := ""
				if !d.HasArg("quiet") {
					text = f.Schedule.String()
				}
				return text + verdict(f, proof.Options{Rendezvous: d.HasArg("rendezvous")})
			case "write":
				s, err := schedule.Parse(d.Input + "\n")
				require.NoError(t, err)
				var text strings.Builder
				if err := goal.Write(&text, s); err != nil {
					return err.Error() + "\n"
				}
				o.As, o.Root = s.Spec.Kind, s.Spec.Root
				f, err := goal.Read(strings.NewReader(text.String()), o)
				require.NoError(t, err)
				f.Notes = nil
				return text.String() + verdict(f, proof.Options{})
			}
			d.Fatalf(t, "no command %q", d.Cmd)
			return ""
		})
	})
}

// verdict is what is proven of a file, or wrong with it.
func verdict(f *foreign.File, o proof.Options) string {
	var b strings.Builder
	for _, note := range f.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	o.Iterations, o.Causal = 1, f.Causal
	proven, more := proof.Verify(f.Schedule, o)
	all := append(f.Found, more...)
	for _, v := range all {
		fmt.Fprintf(&b, "%v\n", v)
		if place := f.Where(v.Rank, v.Lane, v.Step); place.Line > 0 {
			fmt.Fprintf(&b, "  at %v\n", place)
		}
	}
	if len(all) == 0 {
		fmt.Fprintf(&b, "proved: %d rounds, %d messages, %d bytes sent\n", proven.Rounds,
			proven.Messages, proven.BytesSent)
	}
	return b.String()
}
