package run

import (
	"collsim/collective"
	"collsim/formats/arrays"
	"collsim/proof"
	"collsim/reference"
)

// Comparison holds the bitwise comparison of a result with one that was computed elsewhere.
type Comparison struct {
	File string
	Why  string // nothing was compared: why; empty where it was
	reference.BitComparison
}

// Equal reports whether theirs are the bits that the schedule gives.
func (c *Comparison) Equal() bool { return c.Why == "" && c.Different == 0 }

// unproven is why nothing is compared with a schedule that is wrong.
const unproven = "the schedule is wrong, so there is nothing to compare with"

// compare holds a team's outputs, which are by rank, against theirs.
func (t *teamRun) compare(theirs, ours []arrays.Array, c *Comparison) error {
	x := reference.Case{Schedule: t.schedule, Ranks: t.team, Inputs: t.calculated.in,
		Accumulate: t.sums, Report: t.calculated.report, Altered: t.altered, TermsOf: proof.TermsOf}
	if tensor := t.tensor(); tensor != nil {
		x.Moves = func(position int) []collective.Move {
			return tensor.Unpack(position, len(t.team))
		}
	}
	a, b := make([][]byte, len(t.team)), make([][]byte, len(t.team))
	for position, rank := range t.team {
		a[position], b[position] = theirs[rank].Data, ours[rank].Data
	}
	return x.Compare(a, b, &c.BitComparison)
}
