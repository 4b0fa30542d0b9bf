package main

import (
	"fmt"
	"strings"

	"collsim/page"
	"collsim/plots"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

// drawMap draws the map of winners. An algorithm has the colour that it has in curves, unless
// another one has that here.
func drawMap(out *outputs, m *report.Winners, name string) ([]byte, error) {
	format, err := plots.FormatOf(name)
	if err != nil {
		return nil, err
	}
	seen, taken := map[string]int{}, map[int]bool{}
	look := func(a scenarios.Algorithm) int {
		n, known := seen[a.String()]
		if known {
			return n
		}
		n = (&figure{}).look(a) % looks
		for k := 0; taken[n] && k < looks; k++ {
			n = (n + 1) % looks
		}
		seen[a.String()], taken[n] = n, true
		return n
	}
	cells := make([][]plots.HeatCell, len(m.Cells))
	for i, row := range m.Cells {
		for _, w := range row {
			c := plots.HeatCell{}
			if w.Best != nil {
				c.Name, c.Text = w.Best.Algorithm.String(), w.Percent()
				c.Look = look(w.Best.Algorithm)
				c.Share, _ = w.Share()
			}
			cells[i] = append(cells[i], c)
		}
	}
	var names, files []string
	for _, s := range out.scenarios {
		names, files = append(names, s.Name), append(files, append([]string{s.File}, s.Set...)...)
	}
	return plots.Heat(m.X, m.Y, cells, plots.HeatOptions{Title: strings.Join(names, ", ") +
		": the fastest algorithm, and the lower bound as a share of its time",
		Caption: fmt.Sprintf("%s, seed %d, collsim %s", strings.Join(files, ", "),
			run.AllPoints(out.scenarios[0])[0].Seed, run.Version),
		XName: m.XName, YName: m.YName, Format: format, Figure: out.figure})
}

// winnerParts makes the part of a page that says who wins where: of results of several algorithms
// over two keys.
func winnerParts(reports []*run.Report) []page.Part {
	m, err := report.NewWinners("", "", reports...)
	if err != nil || len(m.X) < 2 || len(m.Y) < 2 {
		return nil
	}
	known, winners := false, map[string]bool{}
	for _, row := range m.Cells {
		for _, w := range row {
			if w.Best != nil {
				winners[w.Best.Algorithm.String()] = true
			}
			known = known || w.Next != nil || len(winners) > 1
		}
	}
	if !known {
		return nil
	}
	return []page.Part{{Title: fmt.Sprintf("Who wins where: %s across, %s down", m.XName, m.YName),
		Note:  "The fastest algorithm, and the lower bound as a share of its time.",
		Table: &page.Table{Columns: m.Grid()}}}
}
