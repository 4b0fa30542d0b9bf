package hlo

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds on what listings show.
const (
	maxCalls = 16
	maxTeams = 4
	maxParts = 6 // of a team: ranks, or ranges of them
)

// listing says who takes part in the calls of a program, a line an instruction, and how often those
// in loops are made.
func listing(p *Program) (lines []string) {
	type line struct {
		first *Op
		times int
	}
	var list []line
	at := map[string]int{}
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.Call == nil {
			continue
		}
		key := fmt.Sprint(o.Line, o.Call, o.Teams)
		n, known := at[key]
		if !known {
			n, at[key] = len(list), len(list)
			list = append(list, line{first: o})
		}
		list[n].times++
	}
	for n, l := range list {
		if n == maxCalls {
			lines = append(lines, fmt.Sprintf("and %d more", len(list)-n))
			break
		}
		lines = append(lines, described(l.first, l.times))
	}
	return lines
}

// described describes a call that is made so many times.
func described(o *Op, times int) string {
	text := fmt.Sprintf("%s (line %d)", o.Name, o.Line)
	if times > 1 {
		text += fmt.Sprintf(", %d times", times)
	}
	kind, _, _ := strings.Cut(o.Call.String(), " splits") // of a permute they are as many as ranks
	text += ": " + kind + " of"
	for k, t := range o.Tensors {
		if k == maxTeams {
			text += fmt.Sprintf(" and %d more", len(o.Tensors)-k)
			break
		}
		text += fmt.Sprintf(" %v %v", t.Type, t.Shape)
	}
	text += ", ranks "
	for k, team := range o.Teams {
		if k == maxTeams {
			return text + fmt.Sprintf(" and %d more such teams", len(o.Teams)-k)
		}
		if k > 0 {
			text += " | "
		}
		text += ranksOf(o, team)
	}
	return text
}

// ranksOf lists the ranks of a team: 0…7, or 0 2 4. Those of a permute are its pairs.
func ranksOf(o *Op, team []int) string {
	var parts []string
	if o.Call.Splits != nil {
		for from, row := range o.Call.Splits {
			if to := slices.Index(row, 1); to >= 0 {
				parts = append(parts, fmt.Sprintf("%d→%d", team[from], team[to]))
			}
		}
	}
	for i := 0; i < len(team) && o.Call.Splits == nil; i++ {
		end := i
		for end+1 < len(team) && team[end+1] == team[end]+1 {
			end++
		}
		if end > i+1 {
			parts = append(parts, fmt.Sprintf("%d…%d", team[i], team[end]))
			i = end
			continue
		}
		parts = append(parts, fmt.Sprint(team[i]))
	}
	if more := len(parts) - maxParts; more > 0 {
		parts = append(parts[:maxParts], fmt.Sprintf("… (%d in all)", len(parts)))
	}
	return strings.Join(parts, " ")
}
