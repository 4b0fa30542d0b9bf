package program

import (
	"fmt"
	"slices"
)

// The pass reorder issues calls early and waits for them late, as far as what they read and write
// allows. Earlier is not always better, since calls share a stream and links with others. So every
// order is timed, and the shortest kept; of equal ones, the first.

// An issueOrder is a rule for issuing the units of a program.
type issueOrder struct {
	name string
	of   func(units [][]resolved, needs [][]int) []int
}

// issueOrders lists the rules besides the written order.
func issueOrders() []issueOrder {
	return []issueOrder{
		{"wait late", func(units [][]resolved, _ [][]int) []int {
			list := make([]int, len(units))
			for i := range list {
				list[i] = i
			}
			return list
		}},
		{"issue early, wait late", raised},
		{"issue early, and what waits last", sunk},
	}
}

// reorder applies the pass.
func reorder(x *plan) (*plan, error) {
	units := x.units()
	if d := x.guide.Decided; d != nil {
		return x.inOrder(units, d.Order), nil
	}
	was, known, err := x.time()
	if err != nil || !known {
		why := "nobody says what is faster"
		if err != nil {
			why = err.Error()
		}
		y := x.fork()
		y.note("reorder", nil, "left as it is", why)
		return y, nil
	}
	best, shortest, kept := x.fork(), was, "as written"
	tried := fmt.Sprintf("as written %v", was)
	needs := x.dependences(units)
	for _, way := range issueOrders() {
		var names []string
		for _, i := range way.of(units, needs) {
			names = append(names, units[i][0].Name)
		}
		y := x.inOrder(units, names)
		t, _, err := y.time()
		if err != nil {
			tried += fmt.Sprintf("; %s: %v", way.name, err)
			continue
		}
		if tried += fmt.Sprintf("; %s %v", way.name, t); t < shortest {
			best, shortest, kept = y, t, way.name
			best.decided.Order = names
		}
	}
	best.moved(units)
	best.notes = append(best.notes, Note{Pass: "reorder", Did: kept, Why: tried, Saved: was - shortest,
		Timed: true})
	return best, nil
}

// inOrder returns a plan with its units in an order, by the names of their first ops. Only readers
// of a call's result wait for it then. With nil names it returns the plan as it is.
func (x *plan) inOrder(units [][]resolved, names []string) *plan {
	y := x.fork()
	if names == nil {
		return y
	}
	y.ops = nil
	for _, name := range names {
		i := slices.IndexFunc(units, func(u []resolved) bool { return u[0].Name == name })
		y.ops = append(y.ops, units[i]...)
	}
	for i := range y.ops {
		if r := &y.ops[i]; r.call != nil && !r.Async {
			o := *r.Op
			o.Async = true
			r.Op = &o
		}
	}
	return y
}

// dependences lists, for each unit, the earlier units that it must follow: those it names in After,
// those that use what it writes, and those that write what it uses.
func (x *plan) dependences(units [][]resolved) [][]int {
	needs := make([][]int, len(units))
	used, named := history[string]{}, map[string][]int{}
	for i, u := range units {
		var list []int
		var uses []interval[string]
		for j := range u {
			for _, name := range u[j].After {
				list = append(list, named[name]...)
			}
			for _, t := range u[j].reads() {
				uses = append(uses, x.interval(t, false))
			}
			for _, t := range u[j].writes() {
				uses = append(uses, x.interval(t, true))
			}
		}
		for _, use := range uses {
			list = append(list, used.before(use)...)
		}
		for _, name := range answersOf(u) {
			named[name] = append(named[name], i)
		}
		for _, use := range uses {
			used.add(use, []int{i}, func([]int) []int { return nil })
		}
		slices.Sort(list)
		needs[i] = slices.Compact(list)
	}
	return needs
}

// interval returns where a tensor is stored: the outermost tensor, and the elements in it.
func (x *plan) interval(name string, writes bool) interval[string] {
	n, off := x.tensors[x.at[name]].Shape.Elements(), int64(0)
	for h, lies := x.homes[name]; lies; h, lies = x.homes[name] {
		name, off = h.in, off+h.off
	}
	return interval[string]{name, off, off + n, writes}
}

// raised issues every call as soon as its needs have been issued.
func raised(units [][]resolved, needs [][]int) []int {
	return listed(units, needs, func(int) bool { return true })
}

// sunk issues calls as raised does, and kernels that read no result of a call before those that do.
func sunk(units [][]resolved, needs [][]int) []int {
	return listed(units, needs, func(i int) bool {
		return !slices.ContainsFunc(needs[i], func(n int) bool { return units[n][0].call != nil })
	})
}

// listed returns an order in which, of the units that can be issued, calls come first, then
// preferred ones, each in the written order.
func listed(units [][]resolved, needs [][]int, preferred func(int) bool) (list []int) {
	issued := make([]bool, len(units))
	rank := func(i int) int {
		switch {
		case len(units[i]) == 1 && units[i][0].call != nil:
			return 0
		case preferred(i):
			return 1
		}
		return 2
	}
	for len(list) < len(units) {
		next := -1
		for i := range units {
			ready := !issued[i] && !slices.ContainsFunc(needs[i], func(n int) bool { return !issued[n] })
			if ready && (next < 0 || rank(i) < rank(next)) {
				next = i
			}
		}
		issued[next] = true
		list = append(list, next)
	}
	return list
}

// moved notes for every call how far it was moved, and what waits for it.
func (x *plan) moved(units [][]resolved) {
	was := map[string]int{}
	waited := map[string]bool{}
	for i, u := range units {
		was[u[0].Name] = i
		waited[u[0].Name] = u[0].call != nil && !u[0].Async
	}
	now := x.units()
	needs := x.dependences(now)
	for i, u := range now {
		if u[0].call == nil || len(u) > 1 {
			continue
		}
		did, why := "", "it needs nothing before"
		if by := was[u[0].Name] - i; by > 0 {
			did = fmt.Sprintf("issued %d ops earlier", by)
		} else if by < 0 {
			did = fmt.Sprintf("issued %d ops later", -by)
		}
		if n := len(needs[i]); n > 0 {
			why = "it needs " + now[needs[i][n-1]][0].Name
		}
		if waited[u[0].Name] && u[0].Async {
			at := slices.IndexFunc(needs, func(list []int) bool { return slices.Contains(list, i) })
			by := "nobody"
			if at >= 0 {
				by = now[at][0].Name
			}
			if did != "" {
				did += ", "
			}
			did += "waited for by " + by
		}
		if did != "" {
			x.note("reorder", u[0].names(), did, why)
		}
	}
}
