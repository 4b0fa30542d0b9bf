package scenarios

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// axis is one dimension of a collective's points.
type axis struct {
	label  string   // in ids: "topology.ranks", "dtype"
	swept  bool     // by [sweep]; label is then the path as written
	places []string // numbered paths that take the value
	items  []item
	key    *Key
}

// view returns the document without any axis set.
func (r *run) view() *view { return &view{d: r.d, used: r.common} }

// enabled reports whether the collective of that number is to be run.
func (r *run) enabled(number int) bool {
	on, ok := fetchOr(r.view(), numbered("collective", number)+".enabled", true)
	return on && ok
}

// disabled notes the collectives that are not run.
func (r *run) disabled() []string {
	var lines []string
	for i := range r.d.count("collective") {
		if r.enabled(i) {
			continue
		}
		what := numbered("collective", i)
		if name, _ := fetchOr(r.view(), what+".name", ""); name != "" {
			what += " " + quoted(name)
		}
		lines = append(lines, what+" is disabled: skipped")
	}
	return lines
}

// expand makes the points of all collectives: those of [sweep] outermost, in its order, then kind,
// dtype, op, algorithm and size.
func (r *run) expand() []*Point {
	n := r.d.count("collective")
	if n == 0 && r.d.root.child("collective") == nil && !r.hasProgram() {
		r.view().missing("collective", "", "a [[collective]] is expected",
			"to see what one looks like: collsim list examples")
	}
	r.network(r.view(), nil)
	var points []*Point
	running := false
	for i := range n {
		if !r.enabled(i) {
			continue
		}
		running = true
		axes := r.axes(i)
		if total := product(axes) + len(points); total > r.most() {
			r.view().fail(numbered("collective", i), r.tooMany(total))
			continue
		}
		points = append(points, r.walk(i, axes)...)
	}
	if n > 0 && !running && len(r.d.errs.list) == 0 {
		r.view().fail(numbered("collective", 0), problem{"every collective is disabled", ""})
	}
	identify(points)
	return points
}

// product returns the number of points of all axes, at most what an int32 holds.
func product(axes []axis) int {
	n := 1
	for _, a := range axes {
		n = min(n*len(a.items), math.MaxInt32)
	}
	return n
}

// axes lists what varies for a collective.
func (r *run) axes(number int) []axis {
	mine := numbered("collective", number) + "."
	var axes []axis
	taken := map[string]bool{}
	for _, s := range r.d.sweeps {
		a := axis{label: s.path, swept: true, items: s.items, key: s.key}
		for _, at := range s.places {
			if isOfProgram(at) {
				continue
			}
			if !strings.HasPrefix(at, "collective[") || strings.HasPrefix(at, mine) {
				a.places = append(a.places, at)
				taken[at] = true
			}
		}
		if len(a.items) == 0 { // reported: one value that cannot be read stands for all
			a.items = []item{{node: s.node}}
		}
		if len(a.places) > 0 {
			axes = append(axes, a)
		}
	}
	for _, name := range []string{"kind", "dtype", "op", "algorithm", "count", "bytes"} {
		l := r.d.leaves[mine+name]
		if l == nil || len(l.items) == 0 || taken[l.path] {
			continue
		}
		if l.axis || name == "algorithm" && slices.ContainsFunc(l.items, isAll) {
			axes = append(axes, axis{label: name, places: []string{l.path}, items: l.items, key: l.key})
		}
	}
	return r.unfold(axes, mine)
}

// maxTrouble ends an expansion early whose points are all wrong in different ways.
const maxTrouble = 1000

// walk makes all points of a collective, the last axis running fastest.
func (r *run) walk(number int, axes []axis) []*Point {
	var points []*Point
	pick := make([]int, len(axes))
	used := map[string]bool{} // by the point at hand
	for {
		clear(used)
		v := r.viewAt(axes, pick, used)
		if p := r.point(v, number, r.network(v, axes)); p != nil && !p.repeats(axes, pick) {
			p.identity(axes, pick)
			r.views[p] = r.again(v, axes, pick)
			if idle := r.idleAxes(axes, used); idle != nil {
				r.idles[p] = idle
			}
			points = append(points, p)
		}
		maps.Copy(r.used, used)
		if len(r.d.errs.list) > maxTrouble || !next(pick, axes) {
			return points
		}
	}
}

// viewAt returns the document with one value of each axis.
func (r *run) viewAt(axes []axis, pick []int, used map[string]bool) *view {
	v := &view{d: r.d, at: map[string]item{}, used: used}
	for i, a := range axes {
		for _, at := range a.places {
			v.at[at] = a.items[pick[i]]
		}
	}
	return v
}

// again returns a function that makes a view once more: there are many points, and few of them are
// in an error.
func (r *run) again(v *view, axes []axis, pick []int) func() *view {
	pick = slices.Clone(pick)
	named := v.named
	return func() *view {
		v := r.viewAt(axes, pick, map[string]bool{})
		v.named = named
		return v
	}
}

// repeats reports whether a point differs from an earlier one in its operator alone, which its kind
// does not have: a list of operators is for the kinds that reduce.
func (p *Point) repeats(axes []axis, pick []int) bool {
	for i, a := range axes {
		if a.key.Path == "collective.op" && p.Spec.Op == 0 && pick[i] > 0 {
			return true
		}
	}
	return false
}

// next moves to the following combination; false after the last.
func next(pick []int, axes []axis) bool {
	for i := len(pick) - 1; i >= 0; i-- {
		if pick[i]++; pick[i] < len(axes[i].items) {
			return true
		}
		pick[i] = 0
	}
	return false
}

// network returns the topology of a view; views that agree on it share one.
func (r *run) network(v *view, axes []axis) *Topology {
	var id strings.Builder
	for _, a := range axes {
		if strings.HasPrefix(a.key.Path, "topology.") {
			id.WriteString(canonical(v.at[a.places[0]].value) + "\n")
		}
	}
	if axes == nil && r.sweepsTopology() {
		return nil // not a network of any point
	}
	n, ok := r.networks[id.String()]
	if !ok {
		own := &view{d: v.d, at: v.at, used: map[string]bool{}}
		n = usedNetwork{own.topology(), own.used}
		r.networks[id.String()] = n
	}
	maps.Copy(v.used, n.used)
	return n.Topology
}

// usedNetwork is a network with the keys that it has a use for.
type usedNetwork struct {
	*Topology
	used map[string]bool
}

func (r *run) sweepsTopology() bool {
	return slices.ContainsFunc(r.d.sweeps, func(s sweep) bool {
		return s.key != nil && strings.HasPrefix(s.key.Path, "topology.")
	})
}

// identity sets the axes of a point and its id, as far as the point alone determines it.
func (p *Point) identity(axes []axis, pick []int) {
	p.ID = fmt.Sprintf("%v/%v/%d", p.Spec.Kind, p.Algorithm, int64(p.Spec.Bytes()))
	for i, a := range axes {
		it := a.items[pick[i]]
		if a.swept {
			p.Axes = append(p.Axes, Axis{a.label, valueOf(it.node.value), canonical(it.value)})
		}
		name, own := cutTable(a.key.Path, "collective")
		if !own {
			name = a.label
		}
		if own && slices.Contains([]string{"kind", "algorithm", "bytes", "count"}, name) ||
			own && name == "op" && p.Spec.Op == 0 {
			continue
		}
		p.ID += "/" + name + "=" + strings.ReplaceAll(canonical(it.value), " ", "")
	}
}

// cutTable removes the table from a path, if that is the table.
func cutTable(key, table string) (string, bool) { return strings.CutPrefix(key, table+".") }

// identify makes the ids unique: equal ones of several collectives get the collective's name or
// number; what is still equal (sizes that round down to the same) is numbered from 2.
func identify(points []*Point) {
	owners := map[string]int{}
	shared := map[string]bool{}
	for _, p := range points {
		if n, ok := owners[p.ID]; ok && n != p.Number {
			shared[p.ID] = true
		}
		owners[p.ID] = p.Number
	}
	seen := map[string]bool{}
	for _, p := range points {
		if shared[p.ID] {
			label := p.Collective
			if label == "" {
				label = strconv.Itoa(p.Number)
			}
			p.ID += "/collective=" + label
		}
		id := p.ID
		for n := 2; seen[p.ID]; n++ {
			p.ID = id + "#" + strconv.Itoa(n)
		}
		seen[p.ID] = true
	}
}

// notes says what sizes were rounded down to, a line for each collective.
func notes(points []*Point) []string {
	const shown = 3
	var lines []string
	for i := 0; i < len(points); {
		number := points[i].Number
		var changes []string
		for ; i < len(points) && points[i].Number == number; i++ {
			for _, s := range points[i].specs() {
				asked, got := points[i].Asked, s.Bytes()
				text := fmt.Sprintf("%v to %v", asked, got)
				if points[i].ByBytes && asked != got && !slices.Contains(changes, text) {
					changes = append(changes, text)
				}
			}
		}
		if len(changes) == 0 {
			continue
		}
		line := "bytes rounded down to whole elements for every rank: " +
			strings.Join(changes[:min(shown, len(changes))], ", ")
		if more := len(changes) - shown; more > 0 {
			line += fmt.Sprintf(", and %d more", more)
		}
		lines = append(lines, line)
	}
	return lines
}
