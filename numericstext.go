package collsim

import (
	"fmt"
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
