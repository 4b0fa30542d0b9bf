package collsim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"collsim/schedule"
	"collsim/schedule/foreign"
)

// Place is where a violation stands in a file that somebody else has written.
type Place struct {
	File     string `json:"file"`
	Line     int    `json:"line"`      // 0 where there is none
	Block    int    `json:"block"`     // thread block, as the file numbers it; −1 where there is none
	FileStep int    `json:"file_step"` // likewise
	What     string `json:"what"`      // what stands there, in a few words
	// Places are those of all steps that the text names: both accesses of a race, every wait of a
	// deadlock.
	Places []PlacedStep `json:"places"`
}

// PlacedStep is a step of the schedule and where it stands in the file.
type PlacedStep struct {
	Rank     int    `json:"rank"`
	Lane     int    `json:"lane"`
	Step     int    `json:"step"`
	Line     int    `json:"line"`
	Block    int    `json:"block"`
	FileStep int    `json:"file_step"`
	What     string `json:"what"`
}

// stepName is how texts of package schedule name a step, or a lane.
var stepName = regexp.MustCompile(`rank (\d+) lane (\d+)(?: step (\d+))?`)

// placed is a violation with its place in the file.
func placed(file string, f *foreign.File, v *schedule.Violation) Violation {
	x := violation(v)
	if f == nil || f.Where == nil || f.Format == textFormat {
		return x
	}
	x.Place = &Place{File: file, Block: -1, FileStep: -1, Places: []PlacedStep{}}
	if v.Rank >= 0 {
		at := f.Where(v.Rank, v.Lane, v.Step)
		x.Line, x.Block, x.FileStep, x.What = at.Line, at.Block, at.Step, at.Text
	}
	x.Text = x.Place.locate(x.Text, f)
	return x
}

// locate names steps as the file does, where a text names them as package schedule does.
func (p *Place) locate(text string, f *foreign.File) string {
	return stepName.ReplaceAllStringFunc(text, func(name string) string {
		m := stepName.FindStringSubmatch(name)
		n := [3]int{2: -1} // digits alone: what is too large is no step of a file
		for i := range n {
			if m[i+1] != "" {
				n[i], _ = strconv.Atoi(m[i+1])
			}
		}
		at := f.Where(n[0], n[1], n[2])
		if n[2] < 0 {
			if at.Block >= 0 && at.Text != "" {
				return at.Text
			}
			return name
		}
		one := PlacedStep{n[0], n[1], n[2], at.Line, at.Block, at.Step, at.Text}
		if !slices.Contains(p.Places, one) {
			p.Places = append(p.Places, one)
		}
		switch {
		case at.Text == "" && at.Line == 0:
			return name
		case at.Text == "":
			return fmt.Sprintf("%s (line %d)", name, at.Line)
		case at.Line == 0:
			return at.Text
		}
		return fmt.Sprintf("%s (line %d)", at.Text, at.Line)
	})
}

// String is the file and the line: "my.xml:12".
func (p *Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}
