package report

import (
	"fmt"
	"strings"

	"collsim/program"
	"collsim/run"
)

// shownOps is the most names of ops that a line of the text lists.
const shownOps = 4

// shownRows is the most ops that the text lists, shownNotes the most lines of a pass about ops.
const shownRows, shownNotes = 1000, 40

// programPasses lists what each pass did, to ops and to the program. Ops with the same note share a
// line, where the first of them is. A pass has so many such lines at most.
func programPasses(r *run.ProgramResult) (lines []string) {
	type entry struct {
		pass, text string
		names      []string // of the first ops; none: the whole program
		count      int
	}
	var entries []*entry
	known, ofPass := map[[2]string]*entry{}, map[string]int{}
	for i := range r.Lowered.Notes {
		n := &r.Lowered.Notes[i]
		text := noteText(n)
		if len(n.Ops) == 0 {
			if len(n.Tensors) > 0 {
				text = firstOf(n.Tensors, len(n.Tensors)) + ": " + text
			}
			entries = append(entries, &entry{pass: n.Pass, text: text})
			continue
		}
		x := known[[2]string{n.Pass, text}]
		if x == nil {
			x = &entry{pass: n.Pass, text: text}
			known[[2]string{n.Pass, text}], entries = x, append(entries, x)
			ofPass[n.Pass]++
		}
		if x.count++; x.count <= shownOps {
			x.names = append(x.names, opsText(n.Ops))
		}
	}
	shown := map[string]int{}
	for _, x := range entries {
		if x.count > 0 {
			shown[x.pass]++
		}
		switch most := shown[x.pass]; {
		case x.count == 0:
			lines = append(lines, x.pass+": "+x.text)
		case most <= shownNotes:
			lines = append(lines, fmt.Sprintf("%s: %s: %s", x.pass, firstOf(x.names, x.count), x.text))
		case most == shownNotes+1:
			lines = append(lines, fmt.Sprintf("%s: %d more lines; --json has them", x.pass,
				ofPass[x.pass]-shownNotes))
		}
	}
	return lines
}

// firstOf lists the first names of so many.
func firstOf(names []string, count int) string {
	names = names[:min(len(names), shownOps)]
	text := strings.Join(names, ", ")
	if count > len(names) {
		text += fmt.Sprintf(", %d more", count-len(names))
	}
	return text
}

// noteText formats a note and the time that was saved.
func noteText(n *program.Note) string {
	text := n.Did
	if n.Why != "" {
		text += " (" + n.Why + ")"
	}
	switch {
	case n.Timed && n.Saved > 0:
		text += fmt.Sprintf(": saves %v", n.Saved)
	case n.Timed && n.Saved < 0:
		text += fmt.Sprintf(": costs %v", -n.Saved)
	case n.Timed:
		text += ": saves nothing"
	}
	return text
}

// opsText formats the name of an op, or the names of those that were merged into one.
func opsText(names []string) string {
	if len(names) > shownOps {
		return fmt.Sprintf("%s+…+%s (%d)", names[0], names[len(names)-1], len(names))
	}
	return strings.Join(names, "+")
}

// memoryText formats the memory that a program takes on each rank.
func memoryText(m *program.Usage) string {
	text := fmt.Sprintf("memory %v a rank", m.Bytes)
	if m.Workspace > 0 {
		text += fmt.Sprintf(", %v of it workspace", m.Workspace)
	}
	return text + fmt.Sprintf("; at most %v in use at once, at %s", m.Peak, opsText(m.At))
}
