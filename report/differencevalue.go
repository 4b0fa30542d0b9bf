package report

import (
	"collsim/reference"
	"collsim/run"
)

// comparisonValue makes the object of a comparison. not_compared is the reason why nothing was
// compared, empty where it was. wrong is null where the kind has no definition, ranks_agree where
// ranks may differ.
func comparisonValue(c *run.Comparison) Value {
	if c == nil {
		return Value{}
	}
	return object(members{
		{"file", Text(c.File)},
		{"equal", Bool(c.Equal())},
		{"not_compared", Text(c.Why)},
		{"elements", Int(c.Elements)},
		{"different", Int(c.Different)},
		{"different_ranks", Int(c.Ranks)},
		{"first", differenceValue(c.First)},
		{"wrong", known(c.Why == "" && !c.Undefined, Int(c.Wrong))},
		{"wrong_ranks", Int(c.WrongRanks)},
		{"outside", listOf(c.Outside, outsideValue)},
		{"ranks_agree", known(c.Why == "" && c.Shared, Bool(c.Disagree == nil))},
		{"disagree", disagreementValue(c.Disagree)},
	})
}

// differenceValue makes the object of the first element that differs. For each change of order in
// tried, would_give_theirs counts the differing, not wrong elements that it explains. would_change
// counts the equal elements that it would change.
func differenceValue(d *reference.Difference) Value {
	if d == nil {
		return Value{}
	}
	return object(members{{"rank", Int(d.Rank)}, {"element", Int(d.Element)},
		{"chunk", Int(d.Chunk)}, {"theirs", bitsValue(d.Theirs)}, {"ours", bitsValue(d.Ours)},
		{"order", Text(d.Order)}, {"switch", Bool(d.Switch)}, {"tried", listOf(d.Tried, Text)},
		{"would_give_theirs", listOf(d.Gives, Text)}, {"would_give_elements", Int(d.Explains)},
		{"would_give_of", Int(d.Differ)}, {"would_change", Int(d.Changes)},
		{"would_change_of", Int(d.Equal)}, {"would_give_all", Bool(d.All())},
		{"looked_at_all", Bool(!d.Part)}})
}

func outsideValue(o reference.Outside) Value {
	return object(members{{"rank", Int(o.Rank)}, {"element", Int(o.Element)},
		{"theirs", bitsValue(o.Theirs)}, {"right", bitsValue(o.Right)},
		{"looks_like", listOf(o.Looks, Text)}})
}

func disagreementValue(d *reference.Disagreement) Value {
	if d == nil {
		return Value{}
	}
	return object(members{{"ranks", listOf(d.Ranks[:], Int[int])}, {"elements", Int(d.Elements)},
		{"first", Int(d.First)}, {"theirs", listOf(d.Theirs[:], bitsValue)}})
}

func bitsValue(b reference.Bits) Value {
	return object(members{{"bits", Text(b.Bits)}, {"value", Text(b.Value)}})
}
