package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"collsim/plots"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// errorCurve names the curve of --numerics-plot that a point belongs to.
func errorCurve(p *scenarios.Point) string { return fmt.Sprintf("%v %v", p.Algorithm, p.Spec.Type) }

// atRanks is a place on such a curve.
type atRanks struct {
	curve string
	ranks int
	seed  int64
}

// checkErrors refuses a picture of errors that could not be drawn, before anything is run: results
// of several kinds, or two for one place on a curve.
func (out *outputs) checkErrors() error {
	name := out.flags.errors
	if name == "" {
		return nil
	}
	if _, err := curveFormat(name); err != nil {
		return err
	}
	if err := out.app.takeOne(name, "--numerics-plot"); err != nil {
		return err
	}
	at := map[atRanks]*scenarios.Point{}
	var first *scenarios.Point
	for _, s := range out.scenarios {
		for _, p := range s.Points {
			if first == nil {
				first = p
			}
			key := atRanks{errorCurve(p), p.Spec.Ranks, p.Seed}
			other := at[key]
			if at[key] = p; other == nil &&
				(p.Spec.Kind != first.Spec.Kind || p.Spec.Op != first.Spec.Op) {
				other = first
			}
			if other != nil {
				return &usageError{File: name, Text: fmt.Sprintf("%s and %s belong in different "+
					"figures", other.ID, p.ID), Hint: "curves are over ranks, one for each algorithm " +
					"and type, and may differ in the seed: choose with --only"}
			}
		}
	}
	return nil
}

// plotErrors adds a result to the picture of errors. What is exact has no place on a logarithmic
// axis.
func (out *outputs) plotErrors(r *run.Result) {
	if out.flags.errors == "" || r.Numerics == nil || r.Gradient != nil || r.MeanULP <= 0 {
		return
	}
	name, ranks := errorCurve(r.Point), unit.Bytes(r.Point.Spec.Ranks)
	at := slices.IndexFunc(out.errors, func(c errorSeries) bool { return c.name == name })
	if at < 0 {
		at = len(out.errors)
		out.errors = append(out.errors, errorSeries{name: name, found: map[unit.Bytes][]float64{}})
	}
	found := out.errors[at].found
	found[ranks] = append(found[ranks], r.MeanULP)
}

// errorSeries is a curve of errors: by ranks, those of all seeds.
type errorSeries struct {
	name  string
	found map[unit.Bytes][]float64
}

// series returns the curve of medians, with the range from the least to the greatest.
func (c errorSeries) series(look int) plots.Series {
	s := plots.Series{Name: c.name, Look: look}
	for _, ranks := range slices.Sorted(maps.Keys(c.found)) {
		list := slices.Sorted(slices.Values(c.found[ranks]))
		s.X, s.Y = append(s.X, ranks), append(s.Y, report.Median(list))
		s.Low, s.High = append(s.Low, list[0]), append(s.High, list[len(list)-1])
	}
	return s
}

// seeds names the seeds of the results: "seed 0", or "medians of seeds 0, 1, 2".
func (out *outputs) seeds() string {
	var seeds []string
	for _, s := range out.scenarios {
		for _, p := range s.Points {
			if text := fmt.Sprint(p.Seed); !slices.Contains(seeds, text) {
				seeds = append(seeds, text)
			}
		}
	}
	if len(seeds) == 1 {
		return "seed " + seeds[0]
	}
	return fmt.Sprintf("medians and spread of %d seeds", len(seeds))
}

// writeErrors draws the picture of errors.
func (out *outputs) writeErrors() error {
	name := out.flags.errors
	if name == "" || len(out.errors) == 0 && out.incomplete {
		return nil
	}
	if len(out.errors) == 0 {
		return &usageError{File: name, Text: "there are no curves: every result is exact, or its " +
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
	var curves []plots.Series
	for look, c := range out.errors {
		curves = append(curves, c.series(look))
	}
	content, err := plots.Curves(curves, plots.CurveOptions{
		Title: fmt.Sprintf("%v %v: mean error of %v elements in units of the last place",
			p.Spec.Kind, p.Spec.Op, p.Spec.Count),
		Caption: fmt.Sprintf("%s, %s, collsim %s", strings.Join(files, ", "), out.seeds(),
			run.Version),
		YName: "mean error (ulp)", YLog: true, XName: "ranks", Format: format, Figure: out.figure,
	})
	if err != nil {
		return &usageError{File: name, Text: err.Error()}
	}
	return writeFile(name, content)
}
