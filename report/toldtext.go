package report

import (
	"fmt"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// toldLines lists the outcomes of a run with faults, ranks of the same one together, and whether
// they agree with the simulation.
func toldLines(m *run.Measured, name string) (lines []string) {
	var texts []string
	of := map[string][]int{}
	add := func(text string, rank int) {
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], rank)
	}
	differ := 0
	for _, t := range m.Told {
		if t.Err == "" {
			add("success", t.Rank)
		} else {
			add(strings.ReplaceAll(t.Err, "\n", ";"), t.Rank)
		}
		if t.Why != "" {
			add("DIFFERS from the simulation: "+t.Why, t.Rank)
			differ++
		}
	}
	label := "told     "
	for _, text := range texts {
		lines = append(lines, prose.Wrap(name+ranksWord(of[text])+": "+text, prose.Columns-2, label,
			strings.Repeat(" ", 9))...)
		label = strings.Repeat(" ", 9)
	}
	if m.Told != nil && differ == 0 {
		lines = append(lines, fmt.Sprintf("agrees   %severy rank was told once, as the simulation says",
			name))
	}
	return lines
}
