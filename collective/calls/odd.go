package calls

import "slices"

// differs describes a meeting whose calls differ: in a field or, if that is why, in order.
func (j *judge) differs(at int32) Finding {
	m := j.list[at]
	d, _ := m.Difference()
	f := Finding{Fault: Differs, Group: m.Group, Meeting: m, Ranks: d.Odd(), Waiting: m.Made(),
		Difference: d}
	slices.Sort(f.Waiting)
	usual := d.Values[0].Ranks[0]
	f.Call = m.Calls[m.member(usual)]
	f.Completed = !slices.ContainsFunc(m.Calls, func(c *Call) bool {
		return c != nil && c.State != Completed
	})
	if m.From >= 0 || d.Field == SplitsField || d.Field == SumField {
		return f
	}
	for i, rank := range f.Ranks {
		fault := j.shift(m, usual, rank)
		if i > 0 && fault != f.Fault {
			fault = Differs
		}
		f.Fault = fault
	}
	return f
}

// shift compares what a rank calls from a meeting on with what another does.
func (j *judge) shift(m *Meeting, usual, odd int) Fault {
	a, b := j.behind(m, usual), j.behind(m, odd)
	switch {
	case usual == odd:
		return Differs
	case alike(b[0], a[1]) && alike(b[1], a[0]):
		return Swapped
	case alike(b[0], a[1]) && (b[1] == nil || a[2] == nil || alike(b[1], a[2])):
		return Skipped
	case alike(b[1], a[0]) && (b[2] == nil || a[1] == nil || alike(b[2], a[1])):
		return Extra
	}
	return Differs
}

// behind returns a rank's call in a meeting and its next two of the group, nil where there are
// none.
func (j *judge) behind(m *Meeting, rank int) (next [3]*Call) {
	i, n := j.place[rank], 0
	all := j.Ranks[i].Calls
	first := m.Calls[m.member(rank)]
	for k := range all {
		c := &all[k]
		if c.Group != m.Group || c.Message() || n == 0 && c != first {
			continue
		}
		if next[n] = c; n == 2 {
			break
		}
		n++
	}
	return next
}

// completed finds collectives that differ and have completed all the same. Messages that have
// completed need not be those of each other: a log may have lost some of either end.
func (j *judge) completed() {
	for at, m := range j.list {
		if _, waits := j.node[int32(at)]; j.alike[at] || waits || m.From >= 0 {
			continue
		}
		if f := j.differs(int32(at)); f.Completed {
			j.Findings = append(j.Findings, f)
		}
	}
}

// stuck finds the first meeting to which all ranks have come alike, and that has not completed.
func (j *judge) stuck() {
	for _, at := range j.ended {
		m := j.list[at]
		var waiting []int
		for i, c := range m.Calls {
			if c != nil && (c.State == Started || c.State == Scheduled) {
				waiting = append(waiting, m.Ranks[i])
			}
		}
		if waiting != nil {
			slices.Sort(waiting)
			j.Findings = append(j.Findings, Finding{Fault: Stuck, Group: m.Group, Meeting: m,
				Call: m.First(), Ranks: waiting, Waiting: waiting})
			return
		}
	}
}
