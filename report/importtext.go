package report

import (
	"fmt"
	"strings"

	"collsim/run"
	"collsim/scenarios"
	"collsim/schedule"
)

// ImportText writes a schedule in the text form that schedule.Parse reads. Lines behind # above it
// say which format it came from and what is proven.
func ImportText(v *run.Verification) (string, error) {
	if v.Schedule == nil {
		return "", &scenarios.Error{File: v.File, Text: "no schedule: " + strings.Join(v.Notes, "; ")}
	}
	var b strings.Builder
	line := func(what, text string) {
		fmt.Fprintf(&b, "# %-8s %s\n", what, strings.ReplaceAll(text, "\n", "\n#"))
	}
	line("from", fmt.Sprintf("%s (%s) %s", v.File, v.Format, v.Name))
	line("problem", problemText(v))
	line("chunks", chunksText(v))
	line("steps", fmt.Sprint(run.Steps(v.Schedule)))
	if v.Good() {
		line("verdict", fmt.Sprintf("OK: %s, no deadlock (FIFO depth %d), no race",
			run.Proven(&v.Schedule.Spec, v.Causal), v.Proof.MinSlots))
	}
	for i, x := range v.Violations {
		if i == run.MaxWrong {
			line("", fmt.Sprintf("and %d more", len(v.Violations)-i))
			break
		}
		line("verdict", "WRONG: "+x.String())
	}
	if v.Sizes != "" {
		line("sizes", sizesText(v))
	}
	for _, text := range sizeRangesText(v) {
		line("", text)
	}
	for _, note := range v.Notes {
		line("note", note)
	}
	if isForeign(v) && v.Schedule.OneSided() {
		line("note", "verify runs our text form twice without a barrier; as the runtime calls it: "+
			"--iterations 1")
	}
	return b.String() + v.Schedule.String(), nil
}

// chunksText formats the number of blocks of each buffer.
func chunksText(v *run.Verification) string {
	s := v.Schedule
	return fmt.Sprintf("%d in, %d out, %d of scratch", s.Blocks(schedule.Input),
		s.Blocks(schedule.Output), s.Blocks(schedule.Scratch))
}
