package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"collsim"
	"collsim/plots"
	"collsim/scenarios"
	"collsim/unit"
)

// outputs knows where results go: flags win over the scenario's [output].
type outputs struct {
	flags     *runFlags
	scenarios []*collsim.Scenario
	pictures  strings.Builder // timelines as text
}

// newOutputs refuses what cannot be written, before anything is run.
func newOutputs(list []*collsim.Scenario, o *runFlags) (*outputs, error) {
	out := &outputs{flags: o, scenarios: list}
	if o.json && o.csv == "-" {
		return nil, &usageError{text: "--json and --csv - both want standard output",
			hint: "give --csv a file"}
	}
	if o.timeline == "-" && (o.json || o.csv == "-") {
		return nil, &usageError{text: "--timeline - wants standard output, as --json and --csv - do",
			hint: "draw into a file: --timeline '{id}.svg'"}
	}
	owner := map[string]string{} // of each file to be written
	claim := func(name, what string) error {
		if name == "" || name == "-" {
			return nil
		}
		if other, taken := owner[name]; taken {
			return &usageError{text: fmt.Sprintf("%s and %s would both be written to %s", other, what,
				name)}
		}
		owner[name] = what
		return nil
	}
	if err := claim(o.csv, "--csv"); err != nil {
		return nil, err
	}
	for i, s := range list {
		if err := claim(out.file(s, s.Output.JSON), "output.json of "+s.File); err != nil {
			return nil, err
		}
		if o.csv == "" {
			if err := claim(out.file(s, s.Output.CSV), "output.csv of "+s.File); err != nil {
				return nil, err
			}
		}
		for _, p := range s.Points {
			name, err := out.picture(i, p)
			if err != nil {
				return nil, err
			}
			if claim(name, "the timeline of "+p.ID) != nil {
				return nil, out.manyPictures(name)
			}
		}
	}
	return out, nil
}

// manyPictures is the error of several results that would be drawn into one file.
func (out *outputs) manyPictures(name string) error {
	results := 0
	for _, s := range out.scenarios {
		results += len(s.Points)
	}
	return &usageError{file: name, text: fmt.Sprintf("%d results, one file", results),
		hint: "choose with --only, or put {algorithm} and {bytes} into the name ({id} tells all apart)"}
}

// file is the name of a file that the scenario names, relative to the scenario.
func (out *outputs) file(s *collsim.Scenario, name string) string {
	if name == "" {
		return ""
	}
	return s.Resolve(name)
}

// pattern is the name that timelines of a scenario go to, "" for none.
func (out *outputs) pattern(index int) string {
	if out.flags.timeline != "" {
		return out.flags.timeline
	}
	s := out.scenarios[index]
	return out.file(s, s.Output.Timeline)
}

// drawing reports whether timelines of a scenario are wanted.
func (out *outputs) drawing(index int) bool { return out.pattern(index) != "" }

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// picture is the file that a point's timeline goes to, "" for none.
func (out *outputs) picture(index int, p *scenarios.Point) (string, error) {
	pattern := out.pattern(index)
	if pattern == "" || pattern == "-" {
		return pattern, nil
	}
	name := p.FileName(pattern)
	if unknown := placeholder.FindString(name); unknown != "" {
		known := []string{"{kind}", "{algorithm}", "{bytes}", "{count}", "{dtype}", "{op}", "{ranks}",
			"{name}", "{id}"}
		for _, a := range p.Axes {
			known = append(known, "{"+a.Path+"}")
		}
		return "", &usageError{file: pattern, text: unknown + " stands for nothing",
			hint: "known: " + strings.Join(known, ", ")}
	}
	if filepath.Ext(name) != ".svg" {
		return "", &usageError{file: name, text: "timelines are drawn as SVG",
			hint: "let the name end in .svg, or write - for text"}
	}
	return name, nil
}

// draw draws the timeline of a result. One that came to no end has none.
func (out *outputs) draw(index int, r *collsim.Result) error {
	name, err := out.picture(index, r.Point)
	if err != nil || name == "" || r.Trace == nil {
		return err
	}
	if name == "-" {
		text, err := plots.TimelineText(r.Trace, plots.TextOptions{})
		out.pictures.WriteString("\n# " + r.Point.ID + "\n" + text)
		return err
	}
	s := out.scenarios[index]
	svg, err := plots.Timeline(r.Trace, plots.Options{
		Title: fmt.Sprintf("%v %v, %d ranks, %v: %s", r.Point.Spec.Kind, r.Point.Algorithm,
			r.Point.Spec.Ranks, r.Point.Spec.Bytes(), short(r.Time)),
		Caption: fmt.Sprintf("%s, seed %d, collsim %s", caption(s, r.Point), r.Point.Seed,
			collsim.Version),
	})
	if err != nil {
		return err
	}
	return writeFile(name, svg)
}

// caption is what it takes to get a result again.
func caption(s *collsim.Scenario, p *scenarios.Point) string {
	parts := append([]string{s.File}, s.Set...)
	if len(s.Points) > 1 {
		parts = append(parts, p.ID)
	}
	return strings.Join(parts, ", ")
}

// short is a time in the unit that its size asks for, to four digits.
func short(t unit.Time) string {
	for _, u := range []struct {
		of   unit.Time
		name string
	}{{unit.Second, "s"}, {unit.Millisecond, "ms"}, {unit.Microsecond, "us"},
		{unit.Nanosecond, "ns"}} {
		if t >= u.of {
			return fmt.Sprintf("%.4g %s", float64(t)/float64(u.of), u.name)
		}
	}
	return t.String()
}

// write writes the files of reports and returns what goes to standard output.
func (out *outputs) write(reports []*collsim.Report) (string, error) {
	if err := out.writeCSV(reports); err != nil {
		return "", err
	}
	for _, r := range reports {
		name := out.file(r.Scenario, r.Scenario.Output.JSON)
		if name == "" {
			continue
		}
		text, err := collsim.JSON(r)
		if err != nil {
			return "", err
		}
		if err := writeFile(name, text); err != nil {
			return "", err
		}
	}
	switch {
	case out.flags.json:
		text, err := collsim.JSON(reports...)
		return string(text), err
	case out.flags.csv == "-":
		text, err := collsim.CSV(reports...)
		return string(text), err
	}
	return collsim.Table(reports...) + out.pictures.String(), nil
}

// writeCSV writes one file where the flag says so, else one for each scenario that names one.
func (out *outputs) writeCSV(reports []*collsim.Report) error {
	if out.flags.csv != "" {
		if out.flags.csv == "-" {
			return nil
		}
		text, err := collsim.CSV(reports...)
		if err != nil {
			return err
		}
		return writeFile(out.flags.csv, text)
	}
	for _, r := range reports {
		if name := out.file(r.Scenario, r.Scenario.Output.CSV); name != "" {
			text, err := collsim.CSV(r)
			if err != nil {
				return err
			}
			if err := writeFile(name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFile puts a file in its place when it is complete: nobody sees half of it. What is no
// ordinary file (a device, a pipe) is written to as it is.
func writeFile(name string, text []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return writeError(name, err)
		}
		return nil
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return writeError(name, err)
	}
	_, err = f.Write(text)
	for _, step := range []func() error{
		func() error { return f.Chmod(mode) },
		f.Close,
		func() error { return os.Rename(f.Name(), name) },
	} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return writeError(name, err)
	}
	return nil
}

func writeError(name string, err error) error {
	e := fileError(name, err).(*usageError)
	if errors.Is(err, fs.ErrNotExist) {
		e.text = "there is no such directory"
	}
	e.text, e.hint = "cannot be written: "+e.text, ""
	return e
}
