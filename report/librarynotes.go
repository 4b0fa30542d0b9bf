package report

import (
	"slices"

	"collsim/internal/prose"
	"collsim/run"
)

// libraryLines say of results of NCCL what its choice rests on: rings that are inferred, in tables
// of several results (one alone has it in its heading), a machine that nobody named, and a tuner
// plugin that would decide there.
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
