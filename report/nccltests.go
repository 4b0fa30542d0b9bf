package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"collsim/run"
	"collsim/scenarios"
)

// ncclRow is a line of nccl-tests: a call out of place, and the same call in place. One of them may
// be nil.
type ncclRow struct{ out, in *run.Result }

// any returns the call out of place, or the one in place if there is none.
func (r *ncclRow) any() *run.Result {
	if r.out != nil {
		return r.out
	}
	return r.in
}

// sameCall reports whether two results are of the same call but for in place.
func sameCall(a, b *run.Result) bool {
	x, y := a.Point.Spec, b.Point.Spec
	x.InPlace, y.InPlace = false, false
	return x.Key() == y.Key() && a.Algorithm.String() == b.Algorithm.String()
}

// ncclRows pairs the results that NCCL has executed, in order: each call in place joins the same
// one out of place.
func ncclRows(results []*run.Result) (rows []ncclRow) {
	for _, r := range results {
		if !r.Measured.Executed() || r.Measured.Executor != scenarios.NCCL {
			continue
		}
		into := func(row *ncclRow) **run.Result {
			if r.Point.Spec.InPlace {
				return &row.in
			}
			return &row.out
		}
		joined := false
		for i := range rows {
			if at := into(&rows[i]); !joined && *at == nil && sameCall(rows[i].any(), r) {
				*at, joined = r, true
			}
		}
		if !joined {
			rows = append(rows, ncclRow{})
			*into(&rows[len(rows)-1]) = r
		}
	}
	return rows
}

// writeNCCLTests writes the results that NCCL has executed in the columns of nccl-tests, then
// NCCL's choices beside the simulated ones. It writes nothing where NCCL executed nothing. Elements
// count as wrong if no order of additions gives them.
func writeNCCLTests(results []*run.Result, b *strings.Builder) {
	rows := ncclRows(results)
	if rows == nil {
		return
	}
	half := fmt.Sprintf("  %7s %6s %6s %6s", "time", "algbw", "busbw", "#wrong")
	units := fmt.Sprintf("  %7s %6s %6s %6s", "(us)", "(GB/s)", "(GB/s)", "")
	lead := "%12s  %12s  %8s  %6s  %6s"
	head := "#\n# measured, in the columns of nccl-tests\n#\n#" +
		fmt.Sprintf("%72s%28s", "out-of-place", "in-place") + "\n#" +
		fmt.Sprintf(lead, "size", "count", "type", "redop", "root")[1:] + half + half + "\n#" +
		fmt.Sprintf(lead, "(B)", "(elements)", "", "", "")[1:] + units + strings.TrimRight(units, " ")
	b.WriteString(head + "\n")
	for i := range rows {
		r := rows[i].any()
		op, root := "none", "-1"
		if r.Point.Spec.Op != 0 {
			op = r.Point.Spec.Op.String()
		}
		if r.Point.Spec.Kind.Rooted() {
			root = fmt.Sprint(r.Point.Spec.Root)
		}
		line := fmt.Sprintf(lead, fmt.Sprint(int64(r.Point.Spec.Bytes())),
			fmt.Sprint(r.Point.Spec.Count), ncclType(r), op, root)
		b.WriteString(line + ncclTiming(rows[i].out) + ncclTiming(rows[i].in) + "\n")
	}
	writeChoices(rows, b)
}

// writeChoices prints NCCL's choices of algorithm beside the simulated ones.
func writeChoices(rows []ncclRow, b *strings.Builder) {
	first := "#\n"
	for i := range rows {
		r := rows[i].any()
		if r.Measured.Chose == "" {
			continue
		}
		simulated := cmp.Or(r.Picked.What, r.Algorithm.String())
		fmt.Fprintf(b, "%s# chose    %v of %v: %s; simulated: %s\n", first, r.Point.Spec.Kind,
			r.Point.Spec.Bytes(), r.Measured.Chose, simulated)
		first = ""
	}
	var results []*run.Result
	for i := range rows {
		for _, r := range []*run.Result{rows[i].out, rows[i].in} {
			if r != nil {
				results = append(results, r)
			}
		}
	}
	writeLines(b, "# ", modelLines(results))
}

// ncclTiming formats time, bandwidths and wrong elements of one call.
func ncclTiming(r *run.Result) string {
	if r == nil {
		return fmt.Sprintf("  %7s %6s %6s %6s", missing, missing, missing, missing)
	}
	m := r.Measured
	as := *r // at the measured time
	as.Time, as.Calls = m.Time, nil
	algbw, _ := as.AlgBW()
	busbw, _ := as.BusBW()
	wrong := missing
	if c := m.Comparison; c != nil && !c.Undefined && !c.Altered && c.Why == "" {
		wrong = fmt.Sprint(c.Wrong)
	}
	return fmt.Sprintf("  %7s %6s %6s %6s", fitted(float64(m.Time)/1e6, 7), fitted(algbw, 6),
		fitted(busbw, 6), wrong)
}

// fitted formats a number as nccl-tests does: with two decimals, one, or none, whichever fits, else
// with an exponent (src/util.cu).
func fitted(x float64, width int) string {
	for decimals := 2; decimals >= 0; decimals-- {
		if text := fmt.Sprintf("%.*f", decimals, x); len(text) <= width || math.IsNaN(x) {
			return text
		}
	}
	if width >= 7 {
		return fmt.Sprintf("%.1e", x)
	}
	return fmt.Sprintf("%.0e", x)
}
