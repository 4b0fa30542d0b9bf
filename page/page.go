package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"collsim/plots"
)

// Page holds what a file shows, from the top down.
type Page struct {
	Title    string
	Lead     string // one line on what was simulated
	Verdicts []Verdict
	Summary  []string // lines on checks and limits
	Notes    []string
	Parts    []Part
	Repeat   Repeat
}

// Verdict is an outcome in a line.
type Verdict struct {
	Bad  bool
	Text string
}

// Part is a section of a page. It has a title and one kind of content.
type Part struct {
	Title, Note string
	Minor       bool // belongs to the part before it, and is not in the list of parts

	Text     string // as a terminal would show it
	Table    *Table
	Curves   *Curves
	Timeline *Timeline
	Matrix   *Matrix
}

// Curves are drawn as plots.Curves draws them, and by script.
type Curves struct {
	Series  []plots.Series
	Options plots.CurveOptions
}

// Repeat says how to get the page again.
type Repeat struct {
	Command, Version string
	Files            []File
}

// File is the text of a scenario.
type File struct{ Name, Text string }

//go:embed assets
var assets embed.FS

// scripts lists the files of the script in the order in which they are run.
func scripts() []string {
	return []string{"common.js", "table.js", "axes.js", "curves.js", "heat.js", "timeline.js",
		"chain.js", "matrix.js", "main.js"}
}

// HTML writes a page as a file. It returns an error where a curve or a timeline is not valid.
func HTML(p *Page) ([]byte, error) {
	v := view{Page: p}
	data := pageData{Paints: plots.CurvePaints(), Parts: []partData{}}
	for i := range p.Parts {
		part := &p.Parts[i]
		shown, of, err := part.view(fmt.Sprintf("part%d", i+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.Title, err)
		}
		v.Parts = append(v.Parts, shown)
		data.Parts = append(data.Parts, of)
	}
	encoded, err := json.Marshal(data) // it escapes < and >: no text ends the element
	if err != nil {
		return nil, err
	}
	v.Data = template.JS(encoded)
	style, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return nil, err
	}
	v.Style = template.CSS(style)
	script, err := script()
	if err != nil {
		return nil, err
	}
	v.Script = template.JS(script)
	t, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return b.Bytes(), err
}

// script joins the files of the script in a function of its own.
func script() (string, error) {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range scripts() {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String(), nil
}

// view is a page as the template reads it.
type view struct {
	*Page
	Parts  []partView
	Style  template.CSS
	Script template.JS
	Data   template.JS
}

// partView is a part as the template reads it. Pictures are shown where there is no script.
type partView struct {
	*Part
	ID      string
	Picture template.HTML
}

// pageData holds what the script reads.
type pageData struct {
	Paints []string   `json:"paints"`
	Parts  []partData `json:"parts"`
}

type partData struct {
	ID       string        `json:"id"`
	Table    *tableData    `json:"table,omitempty"`
	Curves   *curvesData   `json:"curves,omitempty"`
	Timeline *timelineData `json:"timeline,omitempty"`
	Matrix   *matrixData   `json:"matrix,omitempty"`
}

// view makes what the template and the script read of a part.
func (p *Part) view(id string) (shown partView, data partData, err error) {
	shown, data = partView{Part: p, ID: id}, partData{ID: id}
	var picture []byte
	switch {
	case p.Table != nil:
		data.Table = p.Table.data()
	case p.Curves != nil:
		data.Curves = p.Curves.data()
		o := p.Curves.Options
		o.Format = plots.SVG
		picture, err = plots.Curves(p.Curves.Series, o)
	case p.Timeline != nil:
		if data.Timeline, err = p.Timeline.data(); err == nil {
			picture, err = p.Timeline.picture()
		}
	case p.Matrix != nil:
		data.Matrix = p.Matrix.data()
	}
	shown.Picture = inline(picture)
	return shown, data, err
}

// inline returns a picture without the declaration that only a file of its own may have.
func inline(svg []byte) template.HTML {
	_, element, _ := bytes.Cut(svg, []byte("<svg"))
	if element == nil {
		return ""
	}
	return template.HTML("<svg" + string(element))
}
