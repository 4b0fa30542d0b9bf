package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/run"
	"collsim/unit"
)

// mostExplained bounds the lines of an explanation that are of single ops. Where there are more,
// turns of a loop are summed up in one line, unless all are asked for.
const mostExplained = 100

// summedLoops returns an explanation in which ops that differ in counters alone are one: times are
// sums, and the number of ops stands behind the name. Few lines stay as they are.
func summedLoops(e *run.ProgramExplanation) *run.ProgramExplanation {
	if len(e.Shares)+len(e.Spent)+2*len(e.Cuts) <= mostExplained {
		return e
	}
	s, loop := *e, loopsOf(e.Result)
	s.Shares = summed(e.Shares, loop, func(x *run.OpShare) *string { return &x.Op },
		func(x *run.OpShare) *unit.Time { return &x.Time })
	slices.SortStableFunc(s.Shares, func(a, b run.OpShare) int {
		return cmp.Compare(b.Time, a.Time)
	})
	s.Spent = summed(e.Spent, loop, func(x *run.Spent) *string { return &x.Op },
		func(x *run.Spent) *unit.Time { return &x.Time })
	s.Cuts = summed(e.Cuts, loop, func(x *run.KernelCut) *string { return &x.Op }, nil)
	return &s
}

// loopsOf returns a function that names the loop of an op: ops of the same one differ in counters
// alone. Those of a file are in a loop where their names differ in numbers alone, those of a
// scenario if they are also of the same table.
func loopsOf(r *run.ProgramResult) func(op string) string {
	table := map[string]int{}
	for i := range r.Point.Ops {
		table[r.Point.Ops[i].Name] = r.Point.Ops[i].At
	}
	return func(op string) string {
		loop := starred(op)
		for _, name := range strings.Split(op, "+") {
			if at, is := table[name]; is && at >= 0 {
				loop += fmt.Sprintf(" %d", at)
			}
		}
		return loop
	}
}

// starred replaces the numbers in a name by stars.
func starred(name string) string {
	var b strings.Builder
	digits := false
	for _, c := range name {
		is := c >= '0' && c <= '9'
		switch {
		case !is:
			b.WriteRune(c)
		case !digits:
			b.WriteByte('*')
		}
		digits = is
	}
	return b.String()
}

// summed joins items whose ops are in the same loop and that are alike but for the op and, where
// they have one, a time, which is added up. The name of several ops has stars for their counters,
// and their number behind it.
func summed[T comparable](items []T, loop func(string) string, op func(*T) *string,
	time func(*T) *unit.Time) (sums []T) {
	at, ops := map[T]int{}, [][]string{} // by sum, the ops that it is of
	for i := range items {
		one := items[i]
		key := one
		if *op(&key) = loop(*op(&one)); time != nil {
			*time(&key) = 0
		}
		n, known := at[key]
		switch {
		case !known:
			n, at[key] = len(sums), len(sums)
			sums, ops = append(sums, one), append(ops, nil)
		case time != nil:
			*time(&sums[n]) += *time(&one)
		}
		if !slices.Contains(ops[n], *op(&one)) {
			ops[n] = append(ops[n], *op(&one))
		}
	}
	for n := range sums {
		if turns := len(ops[n]); turns > 1 {
			*op(&sums[n]) = fmt.Sprintf("%s (×%d)", starred(ops[n][0]), turns)
		}
	}
	return sums
}
