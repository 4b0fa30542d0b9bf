package report

import (
	"collsim/reference"
	"collsim/run"
)

// comparisonFields lists the members of a comparison. not_compared is the reason why nothing was
// compared, empty where it was. wrong is null where the kind has no definition, ranks_agree where
// ranks may differ.
func comparisonFields() fields[run.Comparison] {
	type c = run.Comparison
	return fields[c]{
		textField("file", func(c *c) *string { return &c.File }),
		derivedField("equal", aBool(), func(c *c) Value { return Bool(c.Equal()) }),
		textField("not_compared", func(c *c) *string { return &c.Why }),
		wholeField("elements", func(c *c) *int64 { return &c.Elements }),
		wholeField("different", func(c *c) *int64 { return &c.Different }),
		wholeField("different_ranks", func(c *c) *int { return &c.Ranks }),
		objectField("first", differenceFields(), func(c *c) **reference.Difference { return &c.First }),
		wholeField("wrong", func(c *c) *int64 { return &c.Wrong }).when(func(c *c) bool {
			return c.Why == "" && !c.Undefined
		}),
		wholeField("wrong_ranks", func(c *c) *int { return &c.WrongRanks }),
		listField("outside", outsideFields(), func(c *c) *[]reference.Outside { return &c.Outside }),
		ownField("ranks_agree", aBool().orNull(), func(c *c) Value {
			return known(c.Why == "" && c.Shared, Bool(c.Disagree == nil))
		}, func(c *c, _ Value) { c.Shared = true }),
		objectField("disagree", disagreementFields(), func(c *c) **reference.Disagreement {
			return &c.Disagree
		}),
	}
}

// differenceFields lists the members of the first element that differs. For each change of order in
// tried, would_give_theirs counts the differing, not wrong elements that it explains. would_change
// counts the equal elements that it would change.
func differenceFields() fields[reference.Difference] {
	type d = reference.Difference
	return fields[d]{
		wholeField("rank", func(d *d) *int { return &d.Rank }),
		wholeField("element", func(d *d) *int64 { return &d.Element }),
		wholeField("chunk", func(d *d) *int { return &d.Chunk }),
		structField("theirs", bitsFields(), func(d *d) *reference.Bits { return &d.Theirs }),
		structField("ours", bitsFields(), func(d *d) *reference.Bits { return &d.Ours }),
		textField("order", func(d *d) *string { return &d.Order }),
		boolField("switch", func(d *d) *bool { return &d.Switch }),
		textsField("tried", func(d *d) *[]string { return &d.Tried }),
		textsField("would_give_theirs", func(d *d) *[]string { return &d.Gives }),
		wholeField("would_give_elements", func(d *d) *int64 { return &d.Explains }),
		wholeField("would_give_of", func(d *d) *int64 { return &d.Differ }),
		wholeField("would_change", func(d *d) *int64 { return &d.Changes }),
		wholeField("would_change_of", func(d *d) *int64 { return &d.Equal }),
		derivedField("would_give_all", aBool(), func(d *d) Value { return Bool(d.All()) }),
		ownField("looked_at_all", aBool(), func(d *d) Value { return Bool(!d.Part) },
			func(d *d, v Value) { d.Part = v.whole == 0 }),
	}
}

func outsideFields() fields[reference.Outside] {
	type o = reference.Outside
	return fields[o]{
		wholeField("rank", func(o *o) *int { return &o.Rank }),
		wholeField("element", func(o *o) *int64 { return &o.Element }),
		structField("theirs", bitsFields(), func(o *o) *reference.Bits { return &o.Theirs }),
		structField("right", bitsFields(), func(o *o) *reference.Bits { return &o.Right }),
		textsField("looks_like", func(o *o) *[]string { return &o.Looks }),
	}
}

func disagreementFields() fields[reference.Disagreement] {
	type d = reference.Disagreement
	return fields[d]{
		ownField("ranks", anArray(aWhole()), func(d *d) Value { return listOf(d.Ranks[:], Int[int]) },
			func(d *d, v Value) {
				for i, one := range v.list[:min(len(v.list), len(d.Ranks))] {
					d.Ranks[i] = int(one.whole)
				}
			}),
		wholeField("elements", func(d *d) *int64 { return &d.Elements }),
		wholeField("first", func(d *d) *int64 { return &d.First }),
		ownField("theirs", anArray(bitsFields().form()),
			func(d *d) Value { return bitsFields().all(d.Theirs[:]) },
			func(d *d, v Value) {
				for i, one := range v.list[:min(len(v.list), len(d.Theirs))] {
					bitsFields().read(one, &d.Theirs[i])
				}
			}),
	}
}

func bitsFields() fields[reference.Bits] {
	return fields[reference.Bits]{
		textField("bits", func(b *reference.Bits) *string { return &b.Bits }),
		textField("value", func(b *reference.Bits) *string { return &b.Value }),
	}
}
