package fold

import (
	"cmp"
	"encoding/binary"
	"slices"

	"collsim/sim/model"
	"collsim/topology"
	"collsim/unit"
)

// finished is what there is to tell of all ranks, by kinds of rank: those whose parts are of the
// same classes. It refuses where parts of a rank have had a link at one time.
func (q *quotient) finished() (*model.Totals, error) {
	for i := range q.flows {
		x := &q.flows[i]
		if q.network.Routes[x.route].IsShared(x.bytes) {
			for _, h := range [2]int32{2 * q.tasks[x.from].class, 2*x.to + 1} {
				q.links[h].busy = append(q.links[h].busy, span{x.begins, x.leaves})
			}
		}
	}
	for i := range q.links {
		slices.SortFunc(q.links[i].busy, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	}
	k := q.listKinds()
	var orbits []int32 // twice the kind, and 1 for links down
	r, f := &q.totals, model.NewFolded(len(k.of), q.rules.Graph.NumLinks(),
		func(rank int) int { return int(k.of[rank]) },
		func(orbit int, visit func(link int)) { k.members(q.rules.Graph, orbits[orbit], visit) })
	for kind := range k.first[:len(k.first)-1] {
		classes := k.classes[kind*q.classes.Parts:][:q.classes.Parts]
		for lane := range q.lanes {
			class := classes[q.classes.PartOf(lane)]
			f.Ends = append(f.Ends, q.ends[int(class)*q.lanes+lane])
			r.Time = max(r.Time, f.Ends[len(f.Ends)-1])
		}
		for way := range int32(2) {
			load, apart := q.together(classes, way)
			if !apart {
				return nil, &NotFolded{"parts of a rank share a link at one time"}
			}
			if load == 0 {
				continue
			}
			orbits = append(orbits, 2*int32(kind)+way)
			o := model.Orbit{First: -1, Load: load, Busy: load.Over(q.network.Links[0].Bandwidth)}
			k.members(q.rules.Graph, 2*int32(kind)+way, func(link int) {
				if o.Links++; o.First < 0 || int32(link) < o.First {
					o.First = int32(link)
				}
			})
			r.LinkBytes += load * unit.Bytes(o.Links)
			f.Orbits = append(f.Orbits, o)
		}
	}
	f.Lanes, r.Folded = q.lanes, f
	return r, nil
}

// together is what parts of some classes, of one rank, have put on its link up (way 0) or down (way
// 1), and whether no two of them have had it at one time.
func (q *quotient) together(classes []int32, way int32) (load unit.Bytes, apart bool) {
	for i, a := range classes {
		load += q.links[2*a+way].load
		for _, b := range classes[:i] {
			if meet(q.links[2*a+way].busy, q.links[2*b+way].busy) {
				return 0, false
			}
		}
	}
	return load, true
}

// meet reports whether a span of one list and one of another have a time in common. Both lists are
// in order of beginnings.
func meet(a, b []span) bool {
	var until [2]unit.Time // the latest end so far of each
	for len(a) > 0 || len(b) > 0 {
		mine, first := 0, &a
		if len(a) == 0 || len(b) > 0 && b[0].from < a[0].from {
			mine, first = 1, &b
		}
		x := (*first)[0]
		if *first = (*first)[1:]; x.from < until[1-mine] {
			return true
		}
		until[mine] = max(until[mine], x.to)
	}
	return false
}

// kinds are ranks by the classes of their parts.
type kinds struct {
	of      []int32 // the kind of each rank
	classes []int32 // of each kind, by part
	first   []int32 // of each kind, its first rank in ranks, and the number of ranks
	ranks   []int32 // by kind
}

func (q *quotient) listKinds() *kinds {
	c := q.classes
	k := &kinds{of: make([]int32, len(c.Of)/c.Parts)}
	numbers := map[string]int32{}
	var key []byte
	for rank := range k.of {
		mine := c.Of[rank*c.Parts:][:c.Parts]
		key = key[:0]
		for _, class := range mine {
			key = binary.LittleEndian.AppendUint32(key, uint32(class))
		}
		n, known := numbers[string(key)]
		if !known {
			n = int32(len(numbers))
			numbers[string(key)] = n
			k.classes, k.first = append(k.classes, mine...), append(k.first, 0)
		}
		k.of[rank] = n
		k.first[n]++
	}
	sum := int32(0)
	for i, n := range k.first {
		k.first[i] = sum
		sum += n
	}
	k.first = append(k.first, sum)
	k.ranks = make([]int32, len(k.of))
	next := slices.Clone(k.first)
	for rank, kind := range k.of {
		k.ranks[next[kind]] = int32(rank)
		next[kind]++
	}
	return k
}

// members visits the links of an orbit.
func (k *kinds) members(g *topology.Graph, orbit int32, visit func(link int)) {
	for _, rank := range k.ranks[k.first[orbit/2]:k.first[orbit/2+1]] {
		up, down := g.Spokes(rank)
		if orbit%2 == 1 {
			up = down
		}
		visit(int(up))
	}
}
