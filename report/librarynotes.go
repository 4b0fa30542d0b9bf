package report

import (
	"slices"

	"collsim/internal/prose"
	"collsim/run"
)

// libraryLines notes the assumptions behind NCCL's choice: rings that are inferred, a machine that
// the scenario does not name, and a tuner plugin that would decide instead. Inferred rings are
// noted in tables of several results; a single one has them in its heading.
func libraryLines(results []*run.Result) (lines []string) {
	var notes []string
	for _, r := range results {
		of := run.LibraryNotes(r.Point, r.Algorithm.String())
		if r.Picked.Inferred && len(results) > 1 {
			of = append(of, "rings inferred; nccl.graph takes NCCL's own dump")
		}
		for _, note := range of {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	for _, note := range notes {
		lines = append(lines, prose.Wrap(note, prose.Columns-2, "nccl     ", "         ")...)
	}
	return lines
}
