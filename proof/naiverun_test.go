package proof

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// The steps of the naive judge's interleavings.

// connection is from a rank and lane, to the peer.
type connection struct {
	rank, lane int
	to         schedule.Peer
}

// sending is the connection over which a lane sends to a peer.
func (l *naiveLane) sending(to schedule.Peer) connection { return connection{l.rank, l.number, to} }

// receiving is the connection over which a lane receives from a peer.
func (l *naiveLane) receiving(from schedule.Peer) connection {
	to := schedule.Peer{Rank: int32(l.rank), Lane: int32(l.number), Class: from.Class, Tag: from.Tag}
	return connection{int(from.Rank), int(from.Lane), to}
}

// ready reports whether the next step of a lane can be carried out.
func (r *naiveRun) ready(lane int) bool {
	l := &r.lanes[lane]
	if r.at[lane] >= len(l.steps) || r.call[l.rank] >= r.calls {
		return false
	}
	s := &l.steps[r.at[lane]]
	for _, f := range s.From {
		if f.Kind == schedule.Message && len(r.messages[l.receiving(f.Peer)]) == 0 {
			return false
		}
	}
	for _, d := range s.Send {
		if r.strict && d.Peer.Class == schedule.Pad &&
			len(r.messages[l.sending(d.Peer)]) > 0 {
			return false
		}
	}
	for _, e := range s.Await {
		if r.posts[lane-l.number+int(e.Lane)] < int(e.Value) {
			return false
		}
	}
	return true
}

// step carries out the next step of a lane.
func (r *naiveRun) step(lane int) {
	l := &r.lanes[lane]
	s := &l.steps[r.at[lane]]
	id := (r.call[l.rank]*1000+r.at[lane])*1000 + lane
	var operands [][]string
	for i := range s.From {
		f := &s.From[i]
		switch f.Kind {
		case schedule.Local:
			operands = append(operands, r.read(lane, id, l.rank, &f.Region))
		case schedule.Get:
			operands = append(operands, r.read(lane, id, int(f.Peer.Rank), &f.Region))
		case schedule.Message:
			c := l.receiving(f.Peer)
			operands = append(operands, r.messages[c][0])
			r.messages[c] = r.messages[c][1:]
		}
	}
	var value []string
	switch {
	case s.Kernel != nil:
		value = r.kernel(*s.Kernel, operands)
	case len(operands) > 0:
		value = slices.Clone(operands[0])
		for _, more := range operands[1:] {
			op := r.s.SpecAt(schedule.Spot{Rank: l.rank, Part: l.part}).Op
			for e := range value {
				value[e] = r.combined(op, value[e], more[e])
			}
		}
	}
	for _, d := range s.Send {
		c := l.sending(d.Peer)
		r.messages[c] = append(r.messages[c], value)
	}
	for i := range s.To {
		r.write(lane, id, &s.To[i], value)
	}
	if r.at[lane]++; s.Post {
		r.posts[lane]++
	}
	r.end(l.rank)
}

// end ends a rank's call when all its lanes have ended: its caller looks at the results.
func (r *naiveRun) end(rank int) {
	for i, l := range r.lanes {
		if l.rank == rank && r.at[i] < len(l.steps) {
			return
		}
	}
	for i, t := range r.s.Tensors {
		if !t.Role.IsResult() {
			continue
		}
		key := [2]int{rank, int(schedule.FirstTensor) + i}
		for e, v := range r.mem[key] {
			r.touch(key, e, naiveAccess{-1 - rank, r.callerID(rank) + 1, false})
			if want := r.want[r.call[rank]][key][e]; v != want && want != "" && want != "?" {
				r.wrong = fmt.Sprintf("%s element %d of rank %d", t.Name, e, rank)
			}
		}
	}
	if r.call[rank]++; r.call[rank] < r.calls {
		r.begin(rank)
	}
}

// callerID numbers what the caller of a rank does before a call; what it does after it is 1 more.
func (r *naiveRun) callerID(rank int) int { return 1e9 + r.call[rank]*1000 + 2*rank }

// begin has the caller of a rank write what is given, and its lanes begin.
func (r *naiveRun) begin(rank int) {
	r.give(r.mem, rank, r.call[rank])
	for i, t := range r.s.Tensors {
		key := [2]int{rank, int(schedule.FirstTensor) + i}
		for e := range r.mem[key] {
			if t.Role.IsGiven() {
				r.touch(key, e, naiveAccess{-1 - rank, r.callerID(rank), true})
			}
		}
	}
	for i, l := range r.lanes {
		if l.rank == rank {
			r.at[i], r.posts[i] = 0, 0
		}
	}
}

// touch notes in which order accesses to an element are seen.
func (r *naiveRun) touch(key [2]int, e int, now naiveAccess) {
	for _, then := range r.touched[key][e] {
		if then.actor != now.actor && (then.write || now.write) {
			r.after[[2]int{then.id, now.id}] = true
		}
	}
	r.touched[key][e] = append(r.touched[key][e], now)
}

func (r *naiveRun) elements(lane, rank int, region *schedule.Region) (key [2]int, list []int) {
	l := &r.lanes[lane]
	where := schedule.Spot{Rank: rank, Channel: l.channel, Part: l.part}
	home, base := r.s.Locate(where, region.Buffer)
	for _, span := range r.s.Spans(nil, where, region) {
		for e := range span.Len {
			list = append(list, int(base+span.Off+e))
		}
	}
	return [2]int{rank, int(home)}, list
}

func (r *naiveRun) read(lane, id, rank int, region *schedule.Region) (values []string) {
	key, list := r.elements(lane, rank, region)
	for _, e := range list {
		r.touch(key, e, naiveAccess{lane, id, false})
		v := r.mem[key][e]
		if v == "" {
			r.wrong, v = "a read of nothing", "?"
		}
		values = append(values, v)
	}
	return values
}

func (r *naiveRun) write(lane, id int, region *schedule.Region, values []string) {
	key, list := r.elements(lane, r.lanes[lane].rank, region)
	for i, e := range list {
		r.touch(key, e, naiveAccess{lane, id, true})
		r.mem[key][e] = values[i]
	}
}

// flips reports whether two accesses have been seen in both orders.
func (n *naive) flips() bool {
	for pair := range n.after {
		if n.after[[2]int{pair[1], pair[0]}] {
			return true
		}
	}
	return false
}
