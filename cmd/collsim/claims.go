package main

import (
	"errors"
	"fmt"

	"collsim/internal/output"
	"collsim/scenarios"
)

// claim claims the files of a scenario.
func (out *outputs) claim(index int) error {
	s := out.scenarios[index]
	for _, one := range []struct{ flag, name, key string }{
		{"", s.Output.JSON, "json"},
		{out.flags.csv, s.Output.CSV, "csv"},
		{out.flags.links, s.Output.Links, "links"},
	} {
		if one.flag != "" || out.file(s, one.name) == "" {
			continue
		}
		key := "output." + one.key
		if err := out.mayWrite(index, nil, key, one.name); err != nil {
			return err
		}
		if err := out.app.take(out.file(s, one.name), key+" of "+s.File); err != nil {
			return err
		}
	}
	for _, p := range s.Points {
		if err := out.claimPoint(index, p); err != nil {
			return err
		}
	}
	for _, p := range s.Programs {
		if err := out.claimDrawings(index, p.Point); err != nil {
			return err
		}
		if err := claimProgramData(out, index, p); err != nil {
			return err
		}
	}
	return nil
}

// claimPoint claims the files that a point has for itself, and its place in a figure.
func (out *outputs) claimPoint(index int, p *scenarios.Point) error {
	if err := out.claimDrawings(index, p); err != nil {
		return err
	}
	if err := out.join(index, p); err != nil {
		return err
	}
	if err := out.claimData(index, p); err != nil || p.Gradient == scenarios.NoGradient {
		return err
	}
	return out.claimData(index, p.Backward())
}

// claimDrawings claims the files of all drawings of a point or a program. Two results that would be
// drawn into one file are an error.
func (out *outputs) claimDrawings(index int, p *scenarios.Point) error {
	for _, d := range drawings() {
		name, err := out.fileOf(d, index, p)
		if err != nil {
			return err
		}
		for _, name := range out.filesOf(d, p, name) {
			err := out.app.take(name, "the "+d.what+" of "+p.ID)
			if sharesFile(err) {
				return out.sharedFileError(name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// filesOf returns all files of a point that belong to a drawing of this name.
func (out *outputs) filesOf(d drawing, p *scenarios.Point, name string) []string {
	if name == "" || name == "-" {
		return nil
	}
	names := []string{name}
	if p.Gradient != scenarios.NoGradient {
		names = append(names, beside(name, "grad"))
	}
	if out.executing && d.what == "trace" {
		for _, name := range names {
			names = append(names, beside(name, "measured"))
		}
	}
	return names
}

// sharesFile reports whether an error is that of two results in one file.
func sharesFile(err error) bool {
	var clash *output.Clash
	return errors.As(err, &clash) && !clash.Kept
}

// sharedFileError returns the error of several results that would be drawn into one file.
func (out *outputs) sharedFileError(name string) error {
	results := 0
	for _, s := range out.scenarios {
		results += len(s.Points) + len(s.Programs)
	}
	into := "{algorithm} and {bytes}"
	if s := out.scenarios[0]; len(s.Points) == 0 && len(s.Programs[0].Axes) > 0 {
		into = "{" + s.Programs[0].Axes[0].Path + "}"
	}
	return &usageError{File: name, Text: fmt.Sprintf("%d results, one file", results),
		Hint: "choose with --only, or put " + into + " into the name ({id} tells all apart)"}
}
