package opgraph

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/internal/foreign"
	"collsim/internal/parallel"
	"collsim/schedule"
)

// lowering converts a graph to a schedule.
type lowering struct {
	g     *Graph
	dags  []*dag
	found []found
	sizes []int64         // distinct sizes of messages, ascending, without 0
	tags  map[int64]int32 // new numbers of tags; nil: tags are used as they are
	most  int             // most messages of one source, destination and tag
	// computing makes the kernels of computations.
	computing schedule.Opaques
}

// found is a violation at an operation of its rank.
type found struct {
	*schedule.Violation
	op int32
}

// Lower makes a schedule of the graph, whose dependencies it takes away: they are not needed once
// they are sorted, and there may be many. With o.As the schedule must order starts before ends of
// ranks as a collective of that kind does; otherwise it must only finish. Found lists messages
// without another end, with two sizes or without order, and operations that wait for themselves.
// The error is a *foreign.Error if the graph cannot be lowered at all.
func (g *Graph) Lower(o *foreign.Options) (*foreign.File, error) {
	if len(g.Ranks) == 0 || len(g.Ranks) > MaxRanks {
		return nil, &foreign.Error{File: o.File, Text: fmt.Sprintf("%d ranks; 1 to %d are possible",
			len(g.Ranks), MaxRanks)}
	}
	if err := refuse(o, len(g.Ranks)); err != nil {
		return nil, err
	}
	l := &lowering{g: g, dags: g.dags()}
	for rank, d := range l.dags {
		if d.count() >= MaxLanes {
			return nil, &foreign.Error{File: o.File, Text: fmt.Sprintf("rank %d has %d chains of "+
				"operations; at most %d are possible", rank, d.count(), MaxLanes-1)}
		}
	}
	for _, x := range g.Defects {
		l.report(x.Kind, int32(x.Rank), int32(x.Op), "%s", x.Text)
	}
	l.strangers()
	l.match()
	f := &foreign.File{Format: g.Format, Name: g.Name, Where: l.where(), Found: l.violations(),
		Notes: l.notes(), Sizes: "the sizes in the file"}
	ops := 0
	for _, d := range l.dags {
		ops += len(d.ops)
	}
	collect(ops) // channels, and what puts them in order
	l.rounds()
	var err error
	if f.Schedule, err = l.assemble(); err != nil {
		return nil, &foreign.Error{File: o.File, Text: err.Error()}
	}
	collect(ops) // all but the schedule and the places of its steps
	return HeldTo(f, o)
}

// manyOps is the number of operations from which on memory is collected between stages.
const manyOps = 1 << 20

// collect has memory collected that a program of many operations needs no more. Otherwise as much
// again would be taken first.
func collect(ops int) {
	if ops >= manyOps {
		runtime.GC()
	}
}

// each calls do for every rank, concurrently.
func (l *lowering) each(do func(rank int)) { each(len(l.dags), do) }

func each(n int, do func(i int)) { parallel.Each(n, func() func(int) { return do }) }

// dags returns the operations of every rank with their dependencies, and takes the edges away.
// Ranks with the same edges share what follows from them.
func (g *Graph) dags() []*dag {
	ranks := len(g.Ranks)
	hashes, dags := make([]uint64, ranks), make([]*dag, ranks)
	each(ranks, func(rank int) {
		r := &g.Ranks[rank]
		if own := g.toItself(rank); len(own) > 0 {
			r.Edges = slices.Concat(r.Edges, own)
		}
		hashes[rank] = hashOf(r.Edges)
	})
	like, firsts := make([]int, ranks), []int(nil) // the first rank with the same edges
	known := map[uint64]int{}
	for rank, hash := range hashes {
		first, there := known[hash]
		if !there || len(g.Ranks[first].Ops) != len(g.Ranks[rank].Ops) ||
			!slices.Equal(g.Ranks[first].Edges, g.Ranks[rank].Edges) {
			first, firsts = rank, append(firsts, rank)
			known[hash] = rank
		}
		like[rank] = first
	}
	shared := make([]*dependencies, ranks)
	each(len(firsts), func(i int) {
		r := &g.Ranks[firsts[i]]
		shared[firsts[i]] = newDependencies(len(r.Ops), r.Edges)
	})
	for rank := range dags {
		dags[rank] = newDAG(g.Ranks[rank].Ops, shared[like[rank]])
		g.Ranks[rank].Edges = nil
	}
	return dags
}

// HeldTo returns a file of Lower with o.As and o.Root as its required order.
func HeldTo(f *foreign.File, o *foreign.Options) (*foreign.File, error) {
	if err := refuse(o, f.Schedule.Spec.Ranks); err != nil {
		return nil, err
	}
	held := *f
	if held.Causal = nil; o.As != 0 {
		held.Causal = &schedule.Causal{Kind: o.As, Root: o.Root}
	}
	return &held, nil
}

// refuse does what Refuse does, and checks the root against the number of ranks.
func refuse(o *foreign.Options, ranks int) error {
	if err := Refuse(o); err != nil {
		return err
	}
	if o.Root >= ranks {
		return &foreign.Error{File: o.File, Text: fmt.Sprintf("root %d: there are %d ranks", o.Root,
			ranks)}
	}
	return nil
}

// toItself makes every receive from the own rank wait for its send. Such a message is not sent: it
// has arrived once it is posted.
func (g *Graph) toItself(rank int) (edges []Edge) {
	ops := g.Ranks[rank].Ops
	var sends map[int64][]int32
	for i := range ops {
		if ops[i].Kind == Send && int(ops[i].Peer) == rank {
			if sends == nil {
				sends = map[int64][]int32{}
			}
			sends[ops[i].Tag] = append(sends[ops[i].Tag], int32(i))
		}
	}
	for i := range ops {
		if o := &ops[i]; o.Kind == Recv && int(o.Peer) == rank && len(sends[o.Tag]) > 0 {
			edges = append(edges, Edge{Op: int32(i), On: sends[o.Tag][0]})
			sends[o.Tag] = sends[o.Tag][1:]
		}
	}
	return edges
}

// strangers reports operations that fail under any match: messages to and from ranks that do not
// exist, and operations that wait for themselves.
func (l *lowering) strangers() {
	for rank, d := range l.dags {
		for op := range d.ops {
			o := &d.ops[op]
			if o.Kind == Calc || o.Peer >= 0 && int(o.Peer) < len(l.dags) {
				continue
			}
			l.report(schedule.Unmatched, int32(rank), int32(op), "there is no rank %d, only 0…%d",
				o.Peer, len(l.dags)-1)
		}
		if cycle := d.cycle(); cycle != nil {
			text := ""
			for i, op := range cycle {
				if i == maxNamed {
					text += fmt.Sprintf("; … and %d more", len(cycle)-i)
					break
				}
				if i > 0 {
					text += "; "
				}
				text += fmt.Sprint(l.g.Where(rank, int(op)))
			}
			l.report(schedule.Deadlock, int32(rank), cycle[0],
				"each of these waits for the next, the last for the first: %s", text)
		}
	}
}

// maxNamed is the most operations of a cycle that are named.
const maxNamed = 8

// crosses reports whether an operation is one end of a message between two ranks.
func (l *lowering) crosses(rank, op int32) bool {
	d := l.dags[rank]
	o := &d.ops[op]
	return o.Kind != Calc && d.mate[op] >= 0 && o.Peer != rank
}

// violations returns the violations by rank, with their lanes and steps.
func (l *lowering) violations() []*schedule.Violation {
	var all []*schedule.Violation
	for _, f := range l.found {
		d := l.dags[f.Rank]
		f.Lane, f.Step = int(d.lane[f.op]), int(d.step(f.op))
		all = append(all, f.Violation)
	}
	slices.SortStableFunc(all, func(a, b *schedule.Violation) int { return a.Rank - b.Rank })
	return all
}

// where returns what finds the place in the file of a step. It keeps no more than it needs.
func (l *lowering) where() func(rank, lane, step int) foreign.Place {
	all, place := make([]*lanes, len(l.dags)), l.g.Where
	for rank, d := range l.dags {
		all[rank] = d.lanes
	}
	return func(rank, lane, step int) foreign.Place {
		if rank >= 0 && rank < len(all) {
			if op := all[rank].operation(lane, step); op >= 0 {
				return place(rank, int(op))
			}
		}
		return foreign.Place{Block: -1, Step: -1}
	}
}

// notes reports where the format's own simulator would serialise operations.
func (l *lowering) notes() []string {
	if l.g.Simulator == "" {
		return nil
	}
	f := newFacts()
	for rank, d := range l.dags {
		cpus, nics := [256]int32{}, [256]int32{} // the last operation of each, plus 1
		f.of(d)
		for place := range d.placed {
			op := d.at(place)
			o, last := &d.ops[op], (*int32)(nil)
			switch {
			case o.Kind == Calc && o.Amount > 0:
				last = &cpus[o.CPU]
			case o.Kind == Send && o.Amount > 0:
				last = &nics[o.NIC]
			default:
				continue
			}
			if a := *last - 1; a >= 0 && d.lane[a] != d.lane[op] {
				if f.gather(op, d.pos(a)); f.work <= 0 {
					return nil // too costly for a note
				} else if f.ended[a] != f.stamp {
					return []string{fmt.Sprintf("operations without order go on at once here; %s has "+
						"those of one CPU, and the sends of one NIC, take turns (first on rank %d: %v)",
						l.g.Simulator, rank, l.g.Where(rank, int(op)))}
				}
			}
			*last = op + 1
		}
	}
	return nil
}

// assemble makes the schedule from its lanes.
func (l *lowering) assemble() (*schedule.Schedule, error) {
	total, err := l.survey()
	if err != nil {
		return nil, err
	}
	ranks := len(l.dags)
	// Sends never wait for a slot: there are enough for all messages of two calls.
	head := schedule.Schedule{Name: l.g.Name, Slices: 1, Slots: 2 * l.most, Spec: collective.Spec{
		Kind: collective.Custom, Type: dtype.Uint8, Ranks: ranks,
		Splits: [][]int64{make([]int64, ranks), make([]int64, ranks)}}}
	if len(l.sizes) > 0 {
		ends, end := make([]int64, len(l.sizes)), int64(0)
		for i, n := range l.sizes {
			end += n
			ends[i] = end
		}
		head.Cuts[schedule.Input] = schedule.Cut{{Axis: schedule.Block, Split: schedule.Table,
			Ends: [][]int64{ends}}}
		for rank := range ranks {
			head.Spec.Splits[0][rank] = total
		}
	}
	lanes := make([]int, ranks)
	l.each(func(rank int) {
		d := l.dags[rank]
		lanes[rank] = max(1, d.count())
		for op := range d.ops {
			if d.stuck(int32(rank), int32(ranks), int32(op)) {
				lanes[rank] = d.count() + 1
				break
			}
		}
	})
	return schedule.Assemble(head, lanes, l.write)
}

// survey collects the sizes and tags of messages and returns the sum of the sizes.
func (l *lowering) survey() (total int64, err error) {
	wide, seen, last := false, map[int64]bool{}, int64(0)
	for rank, d := range l.dags {
		for op := range d.ops {
			o := &d.ops[op]
			if o.Kind == Calc {
				continue
			}
			wide = wide || o.Tag < 0 || o.Tag >= 1<<31
			if o.Kind == Send && o.Amount > 0 && o.Amount != last && l.crosses(int32(rank), int32(op)) {
				last = o.Amount
				seen[last] = true
			}
		}
	}
	l.sizes = slices.Sorted(maps.Keys(seen))
	most := collective.MaxElements / int64(len(l.dags))
	for _, n := range l.sizes {
		if n > most-total {
			return 0, fmt.Errorf("messages of %d bytes on %d ranks are too large", n, len(l.dags))
		}
		total += n
	}
	if wide { // number them
		var tags []int64
		for _, d := range l.dags {
			for op := range d.ops {
				if o := &d.ops[op]; o.Kind != Calc {
					tags = another(tags, o.Tag)
				}
			}
		}
		slices.Sort(tags)
		l.tags = map[int64]int32{}
		for i, tag := range slices.Compact(tags) {
			l.tags[tag] = int32(i)
		}
	}
	return total, nil
}

// another appends x to a list, unless it is the last item; the caller sorts and compacts the list.
func another(list []int64, x int64) []int64 {
	if last := len(list) - 1; last >= 0 && list[last] == x {
		return list
	}
	return append(list, x)
}

func (l *lowering) tag(t int64) int32 {
	if l.tags != nil {
		return l.tags[t]
	}
	return int32(t)
}
