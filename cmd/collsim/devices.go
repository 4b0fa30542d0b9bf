package main

import (
	"fmt"
	"strings"

	"collsim/device"
)

// deviceFigure is a figure of a device, as its source has it.
type deviceFigure struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Unit   string `json:"unit"`
	Key    string `json:"key,omitempty"`
	Source string `json:"source"`
}

// devices are those of the catalogue: a scenario may name the first, the others are there to be
// looked up.
func devices() (list []entry) {
	for _, p := range device.Catalogue() {
		e := entry{Name: p.Name, About: p.About}
		if !p.Selectable {
			e.About += " (figures only: not simulated yet)"
		}
		for _, v := range p.Values {
			f := device.Find(v.Figure)
			e.Figures = append(e.Figures, deviceFigure{v.Figure, v.Text, f.Unit.String(), f.Key,
				v.Source})
		}
		list = append(list, e)
	}
	return list
}

// figuresText is a line a figure, below its device.
func figuresText(figures []deviceFigure) string {
	var b strings.Builder
	for _, f := range figures {
		fmt.Fprintf(&b, "  %s\t%s\t%s\n", f.Name, f.Value, f.Source)
	}
	return b.String()
}
