package main

import (
	"errors"
	"path/filepath"
	"strings"

	"collsim/report"
	"collsim/run"
)

// pivotFile names the flag that writes the table of --pivot to a file.
func pivotFile(flag string) string {
	if flag != "--pivot" {
		return ""
	}
	return ": --pivot-to FILE.csv or FILE.md"
}

// newPivot makes the table that is asked for, or refuses it.
func (out *outputs) newPivot() error {
	o := out.flags
	ext := strings.ToLower(filepath.Ext(o.pivotTo))
	switch {
	case o.pivot == "" && o.across != "":
		return &usageError{Text: "--across says what --pivot has across; no --pivot is given",
			Hint: "for example: --pivot busbw --across " + o.across}
	case o.pivot == "" && o.flags.Changed("pivot-to"):
		return &usageError{Text: "--pivot-to says where the table of --pivot goes; no --pivot is given",
			Hint: "for example: --pivot busbw --pivot-to " + o.pivotTo}
	case o.pivot == "":
		return nil
	case o.pivotTo != "-" && ext != ".csv" && ext != ".md":
		return &usageError{File: o.pivotTo, Text: "a table has no such format",
			Hint: "let the name end in .csv or .md, or write - for standard output"}
	}
	var err error
	out.pivot, err = report.NewPivot(o.pivot, o.across, out.scenarios...)
	var wrong *report.PivotError
	if !errors.As(err, &wrong) {
		return err
	}
	flag := "--pivot " + o.pivot
	if wrong.Across {
		flag = "--across " + o.across
	}
	return &usageError{Text: flag + ": " + wrong.Text, Hint: wrong.Hint}
}

// pivoting reports whether the table of --pivot is printed in place of rows.
func (out *outputs) pivoting() bool { return out.pivot != nil && out.flags.pivotTo == "-" }

// writePivot writes it to its file, if it has one.
func (out *outputs) writePivot(reports []*run.Report) {
	if out.pivot == nil || out.pivoting() {
		return
	}
	text, err := []byte(nil), error(nil)
	if strings.ToLower(filepath.Ext(out.flags.pivotTo)) == ".md" {
		text = []byte(harmless(out.pivot.Markdown(reports...)))
	} else {
		text, err = out.pivot.CSV(reports...)
	}
	if err == nil {
		err = writeFile(out.flags.pivotTo, text)
	}
	out.lose(err)
}
