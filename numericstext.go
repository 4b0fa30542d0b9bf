package collsim

import (
	"fmt"
	"slices"
	"strings"
)

type (
	// jsonNumerics is, beside max_ulp and ranks_agree, the mean error in units of the last place, the
	// largest relative one, how many roundings lie between an input and a result, and what errors
	// are at most, by the sum of magnitudes; on what data, and how steps add.
	jsonNumerics struct {
		Data        string     `json:"data"`
		Accumulate  string     `json:"accumulate"`
		MeanULP     any        `json:"mean_ulp"`
		MaxRelative any        `json:"max_relative_error"`
		Depth       int        `json:"depth"`
		Bound       any        `json:"bound"`
		Order       *jsonOrder `json:"order"` // null unless --numerics asks, and where nothing is added
	}
	jsonOrder struct {
		DependsOn []string `json:"depends_on"`
		Unknown   []string `json:"unknown"`
		RankOrder bool     `json:"rank_order"`
		SameTree  bool     `json:"same_tree"`
		Ranks     int      `json:"found_on_ranks"`
	}
)

func (r *Result) numericsJSON() *jsonNumerics {
	j := &jsonNumerics{Data: r.data, Accumulate: r.Point.Accumulate, MeanULP: finite(r.MeanULP),
		MaxRelative: finite(r.MaxRelative), Depth: r.Depth, Bound: finite(r.Bound)}
	if r.Numerics != nil && r.Numerics.Order != nil {
		o := r.Numerics.Order
		j.Order = &jsonOrder{orEmpty(o.DependsOn), orEmpty(o.Unknown), o.RankOrder, o.SameTree,
			o.Ranks}
	}
	return j
}

// numericsTable prints the numerics of results, a table for each heading, behind #.
func numericsTable(b *strings.Builder, results []*Result) {
	var with []*Result
	for _, r := range results {
		if r.Numerics != nil {
			with = append(with, r)
		}
	}
	for _, group := range split(with, (*Result).numericsHeading) {
		b.WriteString("#\n")
		for _, line := range wrapped(group[0].numericsHeading(), columns-len("# "), "", "  ") {
			b.WriteString("# " + line + "\n")
		}
		writeNumerics(b, group)
	}
	for _, line := range overSeeds(with) {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
}

// overSeeds sums the mean errors of results up that differ in their seed alone, of which there are
// more than one: median, least and greatest.
func overSeeds(results []*Result) (lines []string) {
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

// Median is that of values in ascending order, at least one: the mean of the middle two if their
// number is even.
func Median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// numericsHeading names what rows of the table have in common.
func (r *Result) numericsHeading() string {
	text := "numerics of " + r.heading() + ": " + dataText([]*Result{r}) + ", " +
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

// numericsColumns are the columns, with their units and widths.
var numericsColumns = []struct {
	name, unit string
	width      int
}{
	{"size", "(B)", 11}, {"type", "", 9}, {"redop", "", 6}, {"ranks", "", 6}, {"depth", "", 6},
	{"max", "(ulp)", 9}, {"mean", "(ulp)", 9}, {"max rel", "error", 9}, {"bound", "/ S|x|", 9},
	{"agree", "", 6},
}

func writeNumerics(b *strings.Builder, results []*Result) {
	rows := make([][]string, 0, len(results))
	width := make([]int, len(numericsColumns))
	for i, c := range numericsColumns {
		width[i] = c.width
	}
	for _, r := range results {
		row := r.numericsCells()
		for i, cell := range row {
			width[i] = max(width[i], 1+len(cell))
		}
		rows = append(rows, row)
	}
	var names, unitsOf []string
	for _, c := range numericsColumns {
		names, unitsOf = append(names, c.name), append(unitsOf, c.unit)
	}
	writeLine(b, "#", names, width)
	writeLine(b, "#", unitsOf, width)
	for _, row := range rows {
		writeLine(b, "#", row, width)
	}
}

// numericsCells are the values of a row.
func (r *Result) numericsCells() []string {
	agree := "no"
	if r.RanksAgree {
		agree = "yes"
	}
	spec := r.Point.Spec
	return []string{fmt.Sprint(int64(spec.Bytes())), spec.Type.NCCL(), r.op(),
		fmt.Sprint(spec.Ranks), fmt.Sprint(r.Depth), fmt.Sprintf("%.3g", r.MaxULP),
		fmt.Sprintf("%.3g", r.MeanULP), fmt.Sprintf("%.3g", r.MaxRelative),
		fmt.Sprintf("%.3g", r.Bound), agree}
}
