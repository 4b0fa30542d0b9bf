package run

import (
	"fmt"
	"strings"

	"collsim/hw/calibrate"
	"collsim/internal/prose"
)

// MachineFit holds several tables of one machine, and one set of figures with which our
// algorithms take the times of all of them. Several tables separate the cost of a call from
// latency: it is common to the small sizes of all.
type MachineFit struct {
	Tables []*TableFit
	Ranks  int // the most of a table
	Ranges *calibrate.Ranges
	Notes  []string // what a reader should know
}

// FitMachine fits one set of figures to several tables, each read by FitTable.
func FitMachine(tables []*TableFit) (*MachineFit, error) {
	m := &MachineFit{Tables: tables}
	if len(tables) < 2 {
		return nil, &TableError{"tables", fmt.Sprintf("%s: two or more are expected to be of one "+
			"machine", prose.Plural(len(tables), "table"))}
	}
	var series []calibrate.Series
	ranks := map[int]bool{}
	for i, t := range tables {
		s := t.series
		s.Name = fmt.Sprintf("%d %v", i+1, t.Kind)
		series = append(series, s)
		m.Ranks = max(m.Ranks, t.Ranks)
		if s.Message == nil {
			m.Notes = append(m.Notes, fmt.Sprintf("messages of %s %v are of several sizes in a call: "+
				"there is one range for all tables", t.Kind, t.Algorithm))
		}
		ranks[t.Ranks] = true
	}
	if len(ranks) > 1 {
		m.Notes = append(m.Notes,
			fmt.Sprintf("tables are of different numbers of ranks; the preset has "+
				"%d", m.Ranks))
	}
	var err error
	if m.Ranges, err = calibrate.FitRanges(series, calibrate.Options{}); err != nil {
		return nil, &TableError{"algorithm", reason(err)}
	}
	m.Notes = append(m.Notes, doubts(m.Ranges)...)
	return m, nil
}

// Title says what was measured: "4 tables of one machine".
func (m *MachineFit) Title() string {
	return prose.Plural(len(m.Tables), "table") +
		" of one machine"
}

// Preset returns the tables [topology] and [device] of a scenario on which the algorithms take
// the times of all tables, with intervals and residuals in comments.
func (m *MachineFit) Preset() string {
	var source []string
	for i, t := range m.Tables {
		source = append(source, fmt.Sprintf("%d: %s: %s", i+1, t.Title(), t.source()))
	}
	for _, note := range m.Notes {
		source = append(source, "Note: "+note)
	}
	return m.Ranges.Preset(calibrate.Head{Title: m.Title(), Source: strings.Join(source, "\n")},
		m.Ranks)
}
