package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/reference"
	"collsim/run"
)

// programCompareLines reports how tensors of a program compare with those of files.
func programCompareLines(r *run.ProgramResult) (lines []string) {
	equal, elements := 0, int64(0)
	for i := range r.Compared {
		if c := &r.Compared[i]; c.Why == "" && c.Different == 0 {
			equal++
			elements += c.Elements
		}
	}
	if equal > 0 {
		lines = append(lines, fmt.Sprintf("compare  %sthe same bits in all %d elements",
			shareOfTensors(equal, len(r.Compared)), elements))
	}
	lines = append(lines, firstLines(r)...)
	differ, wrong := 0, 0
	for i := range r.Compared {
		c := &r.Compared[i]
		switch {
		case c.Why == "" && c.Different == 0:
			continue
		case !c.Good():
			wrong++
		default:
			differ++
		}
		if c.Good() && differ > run.MaxWrong || !c.Good() && wrong > run.MaxWrong {
			continue
		}
		lines = append(lines, tensorLines(c)...)
	}
	if more := max(differ-run.MaxWrong, 0) + max(wrong-run.MaxWrong, 0); more > 0 {
		lines = append(lines, fmt.Sprintf("         and %d more (--json has them)", more))
	}
	return lines
}

// shareOfTensors says how many tensors of all are meant.
func shareOfTensors(n, of int) string {
	if n == of {
		return prose.Plural(n, "tensor") + ": "
	}
	return fmt.Sprintf("%d of %d tensors: ", n, of)
}

// firstLines names the first op in program order that is wrong, or else the first whose tensor
// differs.
func firstLines(r *run.ProgramResult) (lines []string) {
	differs := run.FirstOf(r.Compared, func(c *run.TensorComparison) bool { return c.Different > 0 })
	wrong := run.FirstOf(r.Compared, func(c *run.TensorComparison) bool { return c.Beyond > 0 })
	if wrong != nil {
		text := fmt.Sprintf("the first op that is WRONG is %s, which writes %s", wrong.Op, wrong.Tensor)
		if len(wrong.Behind) > 0 {
			text += "; or one before it, of whose results there is none to compare with: " +
				namesText(wrong.Behind)
		}
		return prose.Wrap(text, lineWidth, "compare  ", "         ")
	}
	if differs != nil {
		return []string{fmt.Sprintf("compare  the first op that differs is %s, which writes %s; none "+
			"is wrong", differs.Op, differs.Tensor)}
	}
	return nil
}

// namesText lists the last few of the names of ops, which are the nearest.
func namesText(names []string) string {
	const most = 4
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[n:], ", "), n)
	}
	return strings.Join(names, ", ")
}

// tensorLines reports how a tensor differs.
func tensorLines(c *run.TensorComparison) (lines []string) {
	if c.Why != "" {
		text := fmt.Sprintf("NOTHING is compared: %s with %s: %s", c.Tensor, c.File, c.Why)
		return prose.Wrap(text, lineWidth, "compare  ", "         ")
	}
	indented := func(text string) {
		lines = append(lines, prose.Wrap(text, lineWidth, "         ", "           ")...)
	}
	if c.Beyond > 0 {
		lines = append(lines, prose.Wrap(fmt.Sprintf("WRONG: %s: %d of %d elements, on %s, in %s, are "+
			"not what %s gives of its operands there", c.Tensor, c.Beyond, c.Elements,
			prose.Plural(c.BeyondRanks, "rank"), c.File, c.Op), lineWidth, "compare  ", "         ")...)
		indented(elementText(c.FirstBeyond, c.Shape, c.Op+" gives"))
	} else {
		lines = append(lines, prose.Wrap(fmt.Sprintf("DIFFERS: %s of %s: %d of %d elements, on %s, "+
			"from %s", c.Tensor, c.Op, c.Different, c.Elements, prose.Plural(c.Ranks, "rank"), c.File),
			lineWidth, "compare  ", "         ")...)
		indented(fmt.Sprintf("%s; by %s ulp, %.2g of a value at most",
			elementText(c.First, c.Shape, "here"), ulpText(c.MaxULP), c.MaxRelative))
		indented(verdictText(c))
	}
	return append(lines, orderLines(c)...)
}

// verdictText says of a tensor without wrong elements why that is so.
func verdictText(c *run.TensorComparison) string {
	if c.Rounded == 0 {
		return fmt.Sprintf("none is wrong: it is what %s gives of its operands there", c.Op)
	}
	if c.Unbounded {
		return fmt.Sprintf("whether some are wrong is not judged: no bound of the rounding of %s holds "+
			"for them", c.Op)
	}
	return fmt.Sprintf("none is wrong: all lie within the rounding of %s of its operands there",
		c.Op)
}

// ulpText formats a distance: whole from 100 on, and without digits where it says no more.
func ulpText(x float64) string {
	switch {
	case x >= 1e6:
		return "more than a million"
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// elementText formats an element that differs, with its place along each axis.
func elementText(d *reference.Differing, shape collective.Shape, whose string) string {
	return fmt.Sprintf("rank %d %s: %v; %s %v", d.Rank, placeText(d.Element, shape), d.Theirs, whose,
		d.Ours)
}

// placeText formats the place of an element: "[2, 17]".
func placeText(element int64, shape collective.Shape) string {
	at := make([]string, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		n := max(shape[i], 1)
		at[i] = fmt.Sprint(element % n)
		element /= n
	}
	return "[" + strings.Join(at, ", ") + "]"
}

// orderLines reports which order of additions explains a sum over ranks.
func orderLines(c *run.TensorComparison) (lines []string) {
	switch {
	case c.NoOrder != "":
		return prose.Wrap("no order of additions is looked for: "+c.NoOrder, lineWidth, "         ",
			"           ")
	case c.Order == nil:
		return nil
	case c.Order.Different == 0:
		return []string{"         of what was added there, " + c.Op + " gives these bits here, too"}
	}
	if c.Beyond == 0 {
		lines = append(lines, fmt.Sprintf("         of what was added there, %d elements have other "+
			"bits here", c.Order.Different))
	}
	order := comparisonLines(c.Order, c.Tensor, c.File)
	return append(lines, slices.DeleteFunc(order, func(line string) bool {
		return strings.Contains(line, "none is wrong:") || // it has been said
			strings.HasPrefix(line, "compare  WRONG: ")
	})...)
}
