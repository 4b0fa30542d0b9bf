package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// numericsTable prints the numerics of results behind #, a table for each heading.
func numericsTable(b *strings.Builder, results []*run.Result) {
	var with []*run.Result
	for _, r := range results {
		if r.Numerics != nil {
			with = append(with, r)
		}
	}
	for _, group := range split(with, numericsHeading) {
		b.WriteString("#\n")
		writeLines(b, "", prose.Wrap(numericsHeading(group[0]), prose.Columns, "# ", "#   "))
		table := numericsLayout().table(group)
		table.Marked = len(table.Rows)
		b.WriteString(table.String())
	}
	for _, line := range overSeeds(with) {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
}

// overSeeds sums up the mean errors of results that differ in their seed alone: median, least and
// greatest. A group of one result is left out.
func overSeeds(results []*run.Result) (lines []string) {
	var keys []string
	means := map[string][]float64{}
	for _, r := range results {
		spec := r.Point.Spec
		key := fmt.Sprintf("%-24v %9s %6d ranks %10d B", r.Algorithm, spec.Type.NCCL(), spec.Ranks,
			int64(spec.Bytes()))
		if means[key] == nil {
			keys = append(keys, key)
		}
		means[key] = append(means[key], r.MeanULP)
	}
	for _, key := range keys {
		if list := slices.Sorted(slices.Values(means[key])); len(list) > 1 {
			if lines == nil {
				lines = []string{"", "mean error (ulp) of several seeds: median, from least to greatest"}
			}
			lines = append(lines, fmt.Sprintf("%s %7.3g  from %.3g to %.3g of %d", key, Median(list),
				list[0], list[len(list)-1], len(list)))
		}
	}
	return lines
}

// Median returns the median of at least one value in ascending order: the mean of the middle two if
// their number is even.
func Median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// numericsHeading names the facts that rows of the table have in common.
func numericsHeading(r *run.Result) string {
	text := "numerics of " + heading(r) + ": " + dataText([]*run.Result{r}) + ", " +
		r.Numerics.Accumulate + " additions"
	o := r.Numerics.Order
	if o == nil {
		return text
	}
	text += "; "
	switch {
	case len(o.DependsOn) == 0:
		text += "the order depends on nothing"
	default:
		text += "the order depends on " + strings.Join(o.DependsOn, ", ")
	}
	if len(o.Unknown) > 0 {
		text += " (not tried: " + strings.Join(o.Unknown, ", ") + ")"
	}
	if o.RankOrder {
		text += "; it is rank order"
	}
	if o.SameTree {
		text += "; one tree for all ranks"
	} else {
		text += "; ranks have trees of their own"
	}
	return text
}

// numericsLayout lists the columns of the table of numerics.
func numericsLayout() Layout {
	figure := func(heading, unit string, of func(*run.Result) float64) Column {
		return Column{Heading: heading, Unit: unit, Width: 9, Value: func(r *run.Result) Value {
			return Text(fmt.Sprintf("%.3g", of(r)))
		}}
	}
	return Layout{
		only(func(r *run.Result) Value { return Int(r.Point.Spec.Bytes()) }).
			headed("size", "(B)", 11),
		only(func(r *run.Result) Value { return Text(ncclType(r)) }).headed("type", "", 9),
		only(func(r *run.Result) Value { return Text(run.OpOf(r.Point.Spec)) }).
			headed("redop", "", 6),
		only(func(r *run.Result) Value { return Int(r.Point.Spec.Ranks) }).headed("ranks", "", 6),
		only(func(r *run.Result) Value { return Int(r.Depth) }).headed("depth", "", 6),
		figure("max", "(ulp)", func(r *run.Result) float64 { return r.MaxULP }),
		figure("mean", "(ulp)", func(r *run.Result) float64 { return r.MeanULP }),
		figure("max rel", "error", func(r *run.Result) float64 { return r.MaxRelative }),
		figure("bound", "/ S|x|", func(r *run.Result) float64 { return r.Bound }),
		only(func(r *run.Result) Value { return Text(yes(r.RanksAgree)) }).headed("agree", "", 6),
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
