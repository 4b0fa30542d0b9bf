package run

import (
	"fmt"
	"slices"

	"collsim/formats"
	"collsim/schedule"
)

// Place locates a violation in a file of another format than our text form.
type Place struct {
	File     string
	Line     int    // 0 where there is none
	Block    int    // thread block, as the file numbers it; −1 where there is none
	FileStep int    // likewise
	What     string // what stands there, in a few words
	// Places are those of all steps that the text names: both accesses of a race, every wait of a
	// deadlock.
	Places []PlacedStep
}

// PlacedStep is a step of the schedule and where it stands in the file.
type PlacedStep struct {
	Rank, Lane, Step      int
	Line, Block, FileStep int
	What                  string
}

// placed converts a violation and adds its place in the file.
func placed(file string, f *formats.File, v *schedule.Violation) Violation {
	x := violation(v)
	if f == nil || f.Where == nil || f.Format == formats.Text {
		return x
	}
	x.Place = &Place{File: file, Block: -1, FileStep: -1, Places: []PlacedStep{}}
	if v.Rank >= 0 {
		at := f.Where(v.Rank, v.Lane, v.Step)
		x.Line, x.Block, x.FileStep, x.What = at.Line, at.Block, at.Step, at.Text
	}
	x.Text = v.Named(func(at schedule.At) string { return x.Place.name(at, f) })
	return x
}

// name returns what the file calls a step or a lane, and adds the step to Places.
func (p *Place) name(step schedule.At, f *formats.File) string {
	at := f.Where(step.Rank, step.Lane, step.Step)
	if step.Step < 0 {
		if at.Block >= 0 && at.Text != "" {
			return at.Text
		}
		return step.String()
	}
	one := PlacedStep{step.Rank, step.Lane, step.Step, at.Line, at.Block, at.Step, at.Text}
	if !slices.Contains(p.Places, one) {
		p.Places = append(p.Places, one)
	}
	switch {
	case at.Text == "" && at.Line == 0:
		return step.String()
	case at.Text == "":
		return fmt.Sprintf("%v (line %d)", step, at.Line)
	case at.Line == 0:
		return at.Text
	}
	return fmt.Sprintf("%s (line %d)", at.Text, at.Line)
}

// String returns the file and the line: "my.xml:12".
func (p *Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}
