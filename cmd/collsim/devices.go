package main

import (
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

// devices lists the GPUs of the catalogue.
func devices() (list []entry) {
	for _, p := range device.Catalogue() {
		e := entry{Name: p.Name, About: p.About}
		for _, v := range p.Values {
			f := device.Find(v.Figure)
			e.Figures = append(e.Figures, deviceFigure{v.Figure, v.Text, f.Unit.String(), f.Key,
				v.Source})
		}
		list = append(list, e)
	}
	return list
}
