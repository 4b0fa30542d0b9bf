package run

import (
	"bytes"
	"fmt"
	"io"

	"collsim/formats"
	"collsim/proof"
	"collsim/scenarios"
	"collsim/schedule"
)

// proveOnce returns the first violation of a schedule in one call, or nil.
func proveOnce(s *schedule.Schedule) error {
	if _, found := proof.Verify(s, proof.Options{Iterations: 1}); len(found) > 0 {
		return found[0]
	}
	return nil
}

// export writes a schedule in one of formats.Written, and proves what a runtime would make of the
// file. The notes say what is not as in the schedule.
func export(w io.Writer, s *schedule.Schedule, format string, o formats.WriteOptions) ([]string,
	error) {
	o.Prove = proveOnce
	return formats.Write(w, s, format, o)
}

// Export writes the schedule of the scenario's only point, with notes as of Export.
func (s *Scenario) Export(format string, o formats.WriteOptions) (_ []byte, notes []string,
	err error) {
	defer func() { err = s.located(err) }()
	if len(s.Programs) > 0 {
		return nil, nil, &scenarios.Error{File: s.File, Key: "program", Text: "an export is the " +
			"schedule of one collective, not a program",
			Hint: "to see what it is carried out as: --timeline, or collsim verify"}
	}
	if n := len(s.Points); n != 1 {
		return nil, nil, &scenarios.Error{File: s.File, Text: fmt.Sprintf("%d points, one schedule", n),
			Hint: "choose one with --only, as --only id=" + s.Points[0].ID}
	}
	built, err := s.Build(s.Points[0])
	if err != nil {
		return nil, nil, s.Points[0].Refuse("collective.algorithm", reason(err), "")
	}
	if s.Free.Bytes > 0 {
		t := Takes{Text: textTakes(format, workOf(built))}
		if err := s.Free.lacks(t); err != nil {
			return nil, nil, s.refuseLarge(s.Points[0], err)
		}
	}
	var b bytes.Buffer
	notes, err = export(&b, built, format, o)
	if err != nil {
		return nil, nil, &scenarios.Error{File: s.File,
			Text: s.Points[0].ID + ": " + err.Error()}
	}
	return b.Bytes(), notes, nil
}
