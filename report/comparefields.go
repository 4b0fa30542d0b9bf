package report

import (
	"collsim/reference"
	"collsim/run"
)

// tensorFields lists the members of a tensor's comparison. theirs and ours of first are their bits
// and those of the program; of first_wrong, those of the op on their operands.
func tensorFields() fields[run.TensorComparison] {
	type c = run.TensorComparison
	return fields[c]{
		textField("tensor", func(c *c) *string { return &c.Tensor }),
		textField("op", func(c *c) *string { return &c.Op }),
		textsField("or_ops_before", func(c *c) *[]string { return &c.Behind }),
		textField("file", func(c *c) *string { return &c.File }),
		derivedField("equal", aBool(), func(c *c) Value { return Bool(c.Why == "" && c.Different == 0) }),
		textField("not_compared", func(c *c) *string { return &c.Why }),
		wholeField("elements", func(c *c) *int64 { return &c.Elements }),
		wholeField("different", func(c *c) *int64 { return &c.Different }),
		wholeField("different_ranks", func(c *c) *int { return &c.Ranks }),
		numberField("max_ulp", func(c *c) *float64 { return &c.MaxULP }),
		numberField("max_relative", func(c *c) *float64 { return &c.MaxRelative }),
		ownField("shape", anArray(aWhole()), func(c *c) Value { return listOf(c.Shape, Int[int64]) },
			func(c *c, v Value) {
				for _, one := range v.list {
					c.Shape = append(c.Shape, one.whole)
				}
			}),
		objectField("first", differingFields(), func(c *c) **reference.Differing { return &c.First }),
		wholeField("wrong", func(c *c) *int64 { return &c.Beyond }),
		wholeField("wrong_ranks", func(c *c) *int { return &c.BeyondRanks }),
		objectField("first_wrong", differingFields(), func(c *c) **reference.Differing {
			return &c.FirstBeyond
		}),
		wholeField("rounded", func(c *c) *int64 { return &c.Rounded }),
		boolField("unbounded", func(c *c) *bool { return &c.Unbounded }),
		objectField("order", comparisonFields(), func(c *c) **run.Comparison { return &c.Order }),
		textField("no_order", func(c *c) *string { return &c.NoOrder }),
	}
}

func differingFields() fields[reference.Differing] {
	type d = reference.Differing
	return fields[d]{
		wholeField("rank", func(d *d) *int { return &d.Rank }),
		wholeField("element", func(d *d) *int64 { return &d.Element }),
		structField("theirs", bitsFields(), func(d *d) *reference.Bits { return &d.Theirs }),
		structField("ours", bitsFields(), func(d *d) *reference.Bits { return &d.Ours }),
	}
}

// compareColumns lists the columns of the comparison of a program's tensors; null where none is
// compared.
func compareColumns() []programColumn {
	column := func(name string, of func(*run.ProgramResult) Value) programColumn {
		return programColumn{name, func(r *run.ProgramResult) Value {
			return known(len(r.Compared) > 0, of(r))
		}}
	}
	count := func(is func(*run.TensorComparison) bool) func(*run.ProgramResult) Value {
		return func(r *run.ProgramResult) Value {
			n := 0
			for i := range r.Compared {
				if is(&r.Compared[i]) {
					n++
				}
			}
			return Int(n)
		}
	}
	differs := func(c *run.TensorComparison) bool { return c.Different > 0 }
	wrong := func(c *run.TensorComparison) bool { return c.Beyond > 0 }
	first := func(is func(*run.TensorComparison) bool) func(*run.ProgramResult) Value {
		return func(r *run.ProgramResult) Value {
			c := run.FirstOf(r.Compared, is)
			if c == nil {
				return Value{}
			}
			return Text(c.Op)
		}
	}
	return []programColumn{
		column("tensors_compared", count(func(c *run.TensorComparison) bool { return c.Why == "" })),
		column("tensors_different", count(differs)), column("tensors_wrong", count(wrong)),
		column("first_different_op", first(differs)), column("first_wrong_op", first(wrong)),
	}
}
