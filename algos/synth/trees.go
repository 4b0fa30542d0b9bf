package synth

import (
	"collsim/collective"
	"collsim/schedule"
)

// A layout is how a collective goes through its trees.
type layout struct {
	spec            collective.Spec
	channels, tiles int
}

// plan returns a plan with these cuts of input and output, and lanes that a function writes.
func (y layout) plan(in, out schedule.Cut, lanes int, lane func(*schedule.Lane)) schedule.Plan {
	cuts := [3]schedule.Cut{fine(in, y.channels, y.tiles), fine(out, y.channels, y.tiles)}
	return schedule.Plan{Name: Name, Spec: y.spec, Cuts: &cuts, Lanes: lanes, Channels: y.channels,
		Lane: lane}
}

// spread plans an all_gather, or a broadcast: lane i of every rank serves the i-th strand. It
// stores what comes from the parent, and passes it on to all children in the same step.
//
//	root     in → out, to children │ …      tile 0 │ 1 …
//	others   from parent → out, to children │ …
func (y layout) spread(f *Forest) schedule.Plan {
	strands, spec := f.strands(), y.spec
	in, out := f.whole(spec.Count), f.whole(spec.Count)
	if spec.Kind == collective.AllGather {
		in, out = f.own(spec.Count), f.whole(int64(spec.Ranks)*spec.Count)
	}
	return y.plan(in, out, len(strands), func(l *schedule.Lane) {
		s := &strands[l.Index]
		source := l.Index
		if spec.Kind == collective.AllGather {
			source = s.part
		}
		for t := range y.tiles {
			l.Tile(t)
			into := []schedule.Region{l.Out(l.Index)}
			from := l.Local(l.In(source))
			switch {
			case s.Root != l.Rank:
				from = l.From(int(s.Parent[l.Rank]))
			case spec.InPlace:
				into = nil
			}
			l.Combine(into, ints(s.children[l.Rank]), from)
		}
	})
}

// collect plans a reduce_scatter, or a reduce: lane i of every rank adds what the children of the
// i-th strand send to what it has, and sends the sum to the parent.
func (y layout) collect(f *Forest) schedule.Plan {
	strands, spec := f.strands(), y.spec
	in, out := f.whole(spec.Count), f.whole(spec.Count)
	if spec.Kind == collective.ReduceScatter {
		in, out = f.whole(int64(spec.Ranks)*spec.Count), f.own(spec.Count)
	}
	return y.plan(in, out, len(strands), func(l *schedule.Lane) {
		s := &strands[l.Index]
		result := l.Index
		if spec.Kind == collective.ReduceScatter {
			result = s.part
		}
		for t := range y.tiles {
			l.Tile(t)
			s.add(l, l.In(l.Index), l.Out(result))
		}
	})
}

// add adds what children send to a region, and sends the sum to the parent; the root stores it.
func (s *strand) add(l *schedule.Lane, own, result schedule.Region) {
	sources := []schedule.Source{l.Local(own)}
	for _, child := range s.children[l.Rank] {
		sources = append(sources, l.From(int(child)))
	}
	if s.Root != l.Rank {
		l.Combine(nil, []int{int(s.Parent[l.Rank])}, sources...)
		return
	}
	l.Completes()
	l.Combine([]schedule.Region{result}, nil, sources...)
}

// collectAndSpread plans an all_reduce: every strand goes up a tree to its root, being added to,
// and down another one of the same root. Lanes of the way down follow those of the way up, so that
// a tile comes down while later ones go up.
//
//	way up     from children + in → to parent; at the root → out, post
//	way down   from parent → out, to children; at the root after the post: out → children
func (y layout) collectAndSpread(upward, downward *Forest) schedule.Plan {
	up, down := upward.strands(), downward.strands()
	n, cut := len(down), downward.evenly(y.spec.Count)
	return y.plan(cut, cut, 2*n, func(l *schedule.Lane) {
		i := l.Index % n
		isUp, isRoot, children := l.Index < n, down[i].Root == l.Rank, ints(down[i].children[l.Rank])
		for t := range y.tiles {
			l.Tile(t)
			switch {
			case isUp:
				if up[i].add(l, l.In(i), l.Out(i)); isRoot {
					l.Post()
				}
			case isRoot:
				l.After(i, t+1)
				l.Combine(nil, children, l.Local(l.Out(i)))
			default:
				l.Combine([]schedule.Region{l.Out(i)}, children, l.From(int(down[i].Parent[l.Rank])))
			}
		}
	})
}
