package collsim

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"collsim/scenarios"
	"collsim/schedule"
	"collsim/schedule/goal"
	"collsim/schedule/msccl"
)

// ImportText is a schedule in our text form, which schedule.Parse reads back, below lines that
// begin with # and say what it was and what is proven of it.
func (v *Verification) ImportText() (string, error) {
	if v.Schedule == nil {
		return "", &scenarios.Error{File: v.File, Text: "no schedule: " + strings.Join(v.Notes, "; ")}
	}
	var b strings.Builder
	line := func(what, text string) {
		fmt.Fprintf(&b, "# %-8s %s\n", what, strings.ReplaceAll(text, "\n", "\n#"))
	}
	line("from", fmt.Sprintf("%s (%s) %s", v.File, v.Format, v.Name))
	line("problem", v.problem())
	line("chunks", v.chunks())
	line("steps", fmt.Sprint(steps(v.Schedule)))
	if v.Good() {
		line("verdict", fmt.Sprintf("OK: %s, no deadlock (FIFO depth %d), no race",
			proven(&v.Schedule.Spec, v.Causal), v.Proof.MinSlots))
	}
	for i, x := range v.Violations {
		if i == maxWrong {
			line("", fmt.Sprintf("and %d more", len(v.Violations)-i))
			break
		}
		line("verdict", "WRONG: "+x.String())
	}
	if v.Sizes != "" {
		line("sizes", v.sizes())
	}
	for _, note := range v.Notes {
		line("note", note)
	}
	if v.foreign() && v.Schedule.OneSided() {
		line("note", "verify runs our text form twice without a barrier; as the runtime calls it: "+
			"--iterations 1")
	}
	return b.String() + v.Schedule.String(), nil
}

// chunks is the number of blocks of every buffer.
func (v *Verification) chunks() string {
	s := v.Schedule
	return fmt.Sprintf("%d in, %d out, %d of scratch", s.Blocks(schedule.Input),
		s.Blocks(schedule.Output), s.Blocks(schedule.Scratch))
}

// steps counts those of all ranks.
func steps(s *schedule.Schedule) int64 { return workOf(s).steps }

// ExportOptions say how a schedule is written.
type ExportOptions struct {
	Runtime  string // of msccl: whose limits hold, "msccl" if empty; "rccl" or "none"
	Protocol string // of msccl: "Simple" if empty; "LL" or "LL128"
}

// ExportFormats lists what Export writes.
func ExportFormats() []string { return []string{"msccl", "goal", textFormat} }

// Export writes a schedule in one of ExportFormats. The notes say what is not as in the schedule.
func Export(w io.Writer, s *schedule.Schedule, format string, o ExportOptions) ([]string, error) {
	if format != "msccl" && (o.Runtime != "" || o.Protocol != "") {
		return nil, fmt.Errorf("collsim: runtime and protocol are for msccl, not for %s", format)
	}
	switch format {
	case "msccl":
		return msccl.Write(w, s, msccl.WriteOptions{Runtime: o.Runtime, Protocol: o.Protocol})
	case "goal":
		return nil, goal.Write(w, s)
	case textFormat:
		_, err := io.WriteString(w, s.String())
		return nil, err
	}
	return nil, fmt.Errorf("collsim: format %q cannot be written; %s can", format,
		strings.Join(ExportFormats(), ", "))
}

// Export writes the schedule of the scenario's only point, with notes as of Export.
func (s *Scenario) Export(format string, o ExportOptions) ([]byte, []string, error) {
	if n := len(s.Points); n != 1 {
		return nil, nil, &scenarios.Error{File: s.File, Text: fmt.Sprintf("%d points, one schedule", n),
			Hint: "choose one with --only, as --only id=" + s.Points[0].ID}
	}
	built, err := s.Build(s.Points[0])
	if err != nil {
		return nil, nil, s.Points[0].Error("collective.algorithm", unprefixed(err), "")
	}
	var b bytes.Buffer
	notes, err := Export(&b, built, format, o)
	if err != nil {
		return nil, nil, &scenarios.Error{File: s.File, Text: s.Points[0].ID + ": " + unprefixed(err)}
	}
	return b.Bytes(), notes, nil
}
