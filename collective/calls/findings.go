package calls

import (
	"cmp"
	"slices"
)

// Fault is the kind of a finding.
type Fault uint8

// The faults. Ranks are those at fault.
const (
	Missing Fault = iota + 1 // they have not made a call in which others wait
	Skipped                  // they leave a call out: theirs is the next one of the others
	Extra                    // they make a call more: their next one is that of the others
	Swapped                  // they make two calls in the other order
	Differs                  // their call has another value in a field
	Crossed                  // they wait elsewhere for ranks that wait here for them
	Stuck                    // all have made the call alike, and it does not end
	Silent                   // they answer no more; there is no meeting
)

var faultNames = [...]string{Missing: "missing", Skipped: "skipped", Extra: "extra",
	Swapped: "swapped", Differs: "differs", Crossed: "crossed", Stuck: "stuck",
	Silent: "silent"}

// String returns the word for JSON.
func (f Fault) String() string { return faultNames[f] }

// Finding is something wrong with a meeting.
type Finding struct {
	Fault      Fault
	Group      int
	Meeting    *Meeting
	Call       *Call // of most ranks
	Ranks      []int // at fault, ascending
	Waiting    []int // that have come, ascending; those at fault among them if theirs differs
	Difference Difference
	Completed  bool   // the call has completed all the same
	Circle     []Wait // of Crossed, each waits for the next
}

// Wait says which ranks wait in a meeting for which others.
type Wait struct {
	Meeting    *Meeting
	Ranks, For []int
}

// Judgement holds the findings of a log, the cause first, and all waits.
type Judgement struct {
	Meetings []*Meeting
	Findings []Finding
	Waits    []Wait
}

// Judge finds out why ranks of a log wait, and which calls differ.
func (l *Log) Judge() *Judgement {
	p := l.meet().run()
	j := judge{progress: p, node: map[int32]int{}}
	j.blocked()
	j.silent()
	j.roots()
	j.circles()
	j.completed()
	if len(j.Findings) == 0 {
		j.stuck()
	}
	j.Meetings = p.list
	return &j.Judgement
}

// silent finds the ranks that answer no more.
func (j *judge) silent() {
	for g := range j.Groups {
		if ranks := slices.Sorted(slices.Values(j.Groups[g].Silent)); ranks != nil {
			j.Findings = append(j.Findings, Finding{Fault: Silent, Group: g, Ranks: ranks})
		}
	}
}

// judge looks for causes among the meetings in which ranks wait.
type judge struct {
	*progress
	Judgement
	at    []int32 // those meetings
	node  map[int32]int
	next  [][]int // by node: the nodes in which the ranks wait that are awaited there
	prior [][]int // by node: the nodes that have it as next
	gone  [][]int // by node: ranks that are awaited and wait nowhere
	cause []bool  // by node: it is one, or waits for one
}

// blocked collects the meetings in which ranks wait, and whom they wait for.
func (j *judge) blocked() {
	for i := range j.Ranks {
		for _, at := range j.waits(i) {
			if _, known := j.node[at]; !known {
				j.node[at] = len(j.at)
				j.at = append(j.at, at)
			}
		}
	}
	for _, at := range j.at {
		m := j.list[at]
		w := Wait{Meeting: m}
		var next, gone []int
		for n, rank := range m.Ranks {
			switch {
			case j.here(at, n):
				if m.Calls[n].State != Completed {
					w.Ranks = append(w.Ranks, rank)
				}
				continue
			case m.Calls[n] == nil && !j.lacks(m, rank):
				continue
			}
			w.For = append(w.For, rank)
			elsewhere := j.elsewhere(rank, m.Group)
			if elsewhere == nil {
				gone = append(gone, rank)
			}
			next = append(next, elsewhere...)
		}
		slices.Sort(next)
		slices.Sort(w.Ranks)
		slices.Sort(w.For)
		slices.Sort(gone)
		j.next, j.gone = append(j.next, slices.Compact(next)), append(j.gone, gone)
		j.Waits = append(j.Waits, w)
	}
	j.cause, j.prior = make([]bool, len(j.at)), make([][]int, len(j.at))
	for n := range j.at {
		for _, other := range j.next[n] {
			j.prior[other] = append(j.prior[other], n)
		}
	}
}

// elsewhere lists the nodes in which a rank of a group waits.
func (j *judge) elsewhere(rank, group int) (nodes []int) {
	i, known := j.place[rank]
	if !known {
		return nil
	}
	for _, at := range j.waits(i) {
		if !j.Apart || j.list[at].Group == group {
			nodes = append(nodes, j.node[at])
		}
	}
	return nodes
}

// roots finds the meetings whose calls differ, or in which ranks are missing that wait nowhere.
// Those that wait for no other come first; of these the earliest, or the one that most others wait
// for.
func (j *judge) roots() {
	var found []int
	weight := make([]int, len(j.at))
	for n, at := range j.at {
		if !j.alike[at] || j.gone[n] != nil {
			found = append(found, n)
			weight[n] = j.reach(n, make([]bool, len(j.at)))
			j.reach(n, j.cause)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(min(1, len(j.next[a])), min(1, len(j.next[b]))),
			cmp.Compare(j.began(a), j.began(b)), cmp.Compare(weight[b], weight[a]))
	})
	for _, n := range found {
		if !j.alike[j.at[n]] {
			j.Findings = append(j.Findings, j.differs(j.at[n]))
		} else {
			w := j.Waits[n]
			j.Findings = append(j.Findings, Finding{Fault: Missing, Group: w.Meeting.Group,
				Meeting: w.Meeting, Call: w.Meeting.First(), Ranks: j.gone[n], Waiting: w.Ranks})
		}
	}
}

// began returns when the first rank came to a node.
func (j *judge) began(n int) (first int64) {
	for _, c := range j.Waits[n].Meeting.Calls {
		if c != nil && (first == 0 || c.Time < first) {
			first = c.Time
		}
	}
	return first
}

// reach marks a node and those that wait for it, and counts those that were not marked before.
func (j *judge) reach(n int, marked []bool) (count int) {
	if marked[n] {
		return 0
	}
	marked[n], count = true, 1
	for _, other := range j.prior[n] {
		count += j.reach(other, marked)
	}
	return count
}

// circles finds the ranks that wait for each other in a circle.
func (j *judge) circles() {
	for n := range j.at {
		if j.cause[n] {
			continue
		}
		circle := j.walk(n)
		for _, m := range circle {
			j.reach(m, j.cause)
		}
		j.Findings = append(j.Findings, j.crossed(circle))
	}
}

// walk follows waits from a node to a circle.
func (j *judge) walk(n int) (circle []int) {
	for !slices.Contains(circle, n) {
		circle = append(circle, n)
		n = j.next[n][0]
	}
	return circle[slices.Index(circle, n):]
}

// crossed describes a circle. At fault are the fewest ranks that are awaited in one of its meetings
// and wait in the next: that meeting is named.
func (j *judge) crossed(circle []int) Finding {
	var f Finding
	odd, at, fewest := []int(nil), 0, len(j.Ranks)+1
	for i, n := range circle {
		next := circle[(i+1)%len(circle)]
		var both []int
		for _, rank := range j.Waits[n].For {
			if slices.Contains(j.elsewhere(rank, j.Waits[n].Meeting.Group), next) {
				both = append(both, rank)
			}
		}
		switch {
		case len(both) < fewest:
			odd, at, fewest = both, i, len(both)
		case len(both) == fewest:
			odd = append(slices.Clip(odd), both...)
		}
	}
	for i := range circle {
		f.Circle = append(f.Circle, j.Waits[circle[(at+i)%len(circle)]])
	}
	w := f.Circle[0]
	f.Fault, f.Group, f.Meeting = Crossed, w.Meeting.Group, w.Meeting
	f.Call, f.Waiting = w.Meeting.First(), w.Ranks
	slices.Sort(odd)
	f.Ranks = slices.Compact(odd)
	return f
}
