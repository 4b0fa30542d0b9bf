package report

import (
	"fmt"
	"math"

	"collsim/fidelity"
	"collsim/internal/prose"
	"collsim/run"
)

// modelLines reports in how many calls the library chose what the simulation assumed. It also
// reports how far the library's own estimates are from those of our model of it.
func modelLines(results []*run.Result) (lines []string) {
	same, asked := 0, 0
	var errors []float64
	for _, r := range results {
		if is, isKnown := r.SameChoice(); isKnown {
			if asked++; is {
				same++
			}
		}
		if theirs := r.Measured.Estimate; theirs > 0 && r.Picked.Time > 0 {
			errors = append(errors, math.Abs(float64(r.Picked.Time)/float64(theirs)-1))
		}
	}
	if asked > 0 {
		lines = append(lines, fmt.Sprintf("choice   %d of %d as simulated", same, asked))
	}
	if len(errors) > 0 {
		text := fmt.Sprintf("NCCL's own estimates of %s are off from those here by %.1f %% in the "+
			"median, %.1f %% at most", prose.Plural(len(errors), "call"),
			100*fidelity.NearestRank(errors, 0.5), 100*fidelity.NearestRank(errors, 1))
		lines = append(lines, prose.Wrap(text, lineWidth, "model    ", "         ")...)
	}
	return lines
}
