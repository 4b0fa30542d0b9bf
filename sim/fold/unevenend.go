package fold

import (
	"collsim/sim/model"
	"collsim/unit"
)

// finished sums up the run for all ranks: when each lane ends, and the loads of links. Those that
// are alike are in one orbit.
func (q *uneven) finished() *model.Totals {
	r, sym := &q.totals, q.sym
	r.Steps, r.Messages = r.Steps*int64(q.size), r.Messages*int64(q.size)
	r.BytesSent *= unit.Bytes(q.size)
	var members [][]int32 // numbers of links, of each orbit; nil for all but the changed ones
	var orbits []int32
	visit := func(i int, visit func(link int)) {
		orbit := orbits[i]
		if members[i] != nil {
			visit(int(q.net.at(orbit, members[i][0])))
			return
		}
		for n := range q.size {
			if _, isChanged := q.changed[[2]int32{orbit, n}]; !isChanged {
				visit(int(q.net.at(orbit, n)))
			}
		}
	}
	r.Folded = model.NewFolded(sym.Group.Order(), q.net.graph.NumLinks(),
		func(rank int) int { return rank }, visit)
	f := r.Folded
	f.Lanes = int(q.perRank)
	f.Ends = make([]unit.Time, sym.Group.Order()*f.Lanes)
	for i := range q.lanes {
		l := &q.lanes[i]
		l.end.Each(q.size, func(n int32, t unit.Time) {
			f.Ends[int(sym.Rank(l.class, n))*f.Lanes+int(l.index)] = t
			r.Time = max(r.Time, t)
		})
	}
	add := func(orbit int32, numbers []int32, link model.Link) {
		o := q.busy(orbit, &link)
		orbits, members = append(orbits, orbit), append(members, numbers)
		o.First = -1
		visit(len(orbits)-1, func(link int) {
			if o.Links++; o.First < 0 || int32(link) < o.First {
				o.First = int32(link)
			}
		})
		if o.Links == 0 {
			orbits, members = orbits[:len(orbits)-1], members[:len(members)-1]
			return
		}
		r.LinkBytes += o.Load * unit.Bytes(o.Links)
		f.Orbits = append(f.Orbits, o)
	}
	for i := range q.links {
		orbit := int32(i)
		if !q.links[i].isUsed {
			continue
		}
		add(orbit, nil, q.links[i].base)
		for _, number := range q.edges[orbit] {
			add(orbit, []int32{number}, q.changed[[2]int32{orbit, number}])
		}
	}
	return r
}

// busy returns the bytes that each link of an orbit has carried, and how long it was at work.
func (q *uneven) busy(orbit int32, link *model.Link) (o model.Orbit) {
	for _, x := range q.links[orbit].loads {
		o.Load += x.bytes * unit.Bytes(x.times)
		if takes := x.bytes.Over(link.Bandwidth); takes > 0 {
			if x.times >= int64(unit.Forever/takes) {
				o.Busy = unit.Forever
			} else {
				o.Busy = min(o.Busy+takes*unit.Time(x.times), unit.Forever)
			}
		}
	}
	if q.isFluid {
		o.Busy = o.Load.Over(link.Bandwidth)
	}
	return o
}
