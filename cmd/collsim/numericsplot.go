package main

import (
	"fmt"
	"slices"
	"strings"

	"collsim"
	"collsim/plots"
	"collsim/scenarios"
	"collsim/unit"
)

// errorCurve is the curve of --numerics-plot that a point belongs to.
func errorCurve(p *scenarios.Point) string { return fmt.Sprintf("%v %v", p.Algorithm, p.Spec.Type) }

// checkErrors refuses a picture of errors that could not be drawn, before anything is run: results
// of several kinds, or two for one place on a curve.
func (out *outputs) checkErrors(c claims) error {
	name := out.flags.errors
	if name == "" {
		return nil
	}
	if _, err := plots.FormatOf(name); err != nil {
		return &usageError{file: name, text: "curves have no such format",
			hint: "let the name end in .svg, .png or .pdf"}
	}
	if err := c.claim(name, "--numerics-plot"); err != nil {
		return err
	}
	at := map[string]*scenarios.Point{}
	var first *scenarios.Point
	for _, s := range out.scenarios {
		for _, p := range s.Points {
			if first == nil {
				first = p
			}
			key := fmt.Sprintf("%s %d", errorCurve(p), p.Spec.Ranks)
			other := at[key]
			if at[key] = p; other == nil && (p.Spec.Kind != first.Spec.Kind || p.Spec.Op != first.Spec.Op) {
				other = first
			}
			if other != nil {
				return &usageError{file: name, text: fmt.Sprintf("%s and %s belong in different "+
					"figures", other.ID, p.ID), hint: "curves are over ranks, one for each algorithm " +
					"and type: choose with --only"}
			}
		}
	}
	return nil
}

// plotErrors adds a result to the picture of errors. What is exact has no place on a logarithmic
// axis.
func (out *outputs) plotErrors(r *collsim.Result) {
	if out.flags.errors == "" || r.Numerics == nil || r.Gradient != nil || r.MeanULP <= 0 {
		return
	}
	name := errorCurve(r.Point)
	at := slices.IndexFunc(out.errors, func(s plots.Series) bool { return s.Name == name })
	if at < 0 {
		at = len(out.errors)
		out.errors = append(out.errors, plots.Series{Name: name, Look: at})
	}
	insert(&out.errors[at], unit.Bytes(r.Point.Spec.Ranks), r.MeanULP)
}

// writeErrors draws the picture of errors.
func (out *outputs) writeErrors() error {
	name := out.flags.errors
	if name == "" || len(out.errors) == 0 && out.interrupted {
		return nil
	}
	if len(out.errors) == 0 {
		return &usageError{file: name, text: "there are no curves: every result is exact, or its " +
			"numbers are off"}
	}
	format, err := plots.FormatOf(name)
	if err != nil {
		return err
	}
	var files []string
	for _, s := range out.scenarios {
		files = append(files, append([]string{s.File}, s.Set...)...)
	}
	p := out.scenarios[0].Points[0]
	content, err := plots.Curves(out.errors, plots.CurveOptions{
		Title: fmt.Sprintf("%v %v: mean error of %v elements in units of the last place",
			p.Spec.Kind, p.Spec.Op, p.Spec.Count),
		Caption: fmt.Sprintf("%s, seed %d, collsim %s", strings.Join(files, ", "), p.Seed,
			collsim.Version),
		YName: "mean error (ulp)", YLog: true, XName: "ranks", Format: format, Figure: out.figure,
	})
	if err != nil {
		return &usageError{file: name, text: err.Error()}
	}
	return writeFile(name, content)
}
