package proof

import "sort"

// known is that a lane has come to a position.
type known struct{ lane, at int32 }

// clock is what a lane knows, sorted by lane. Clocks are immutable and shared.
type clock []known

// knows reports whether the position of a lane is covered.
func (c clock) knows(k known) bool {
	i := sort.Search(len(c), func(i int) bool { return c[i].lane >= k.lane })
	return i < len(c) && c[i].lane == k.lane && c[i].at >= k.at
}

// merge is what a and b know together: a itself if b adds nothing.
func merge(a, b clock) clock {
	news := false
	for i, j := 0, 0; j < len(b) && !news; {
		switch {
		case i == len(a) || a[i].lane > b[j].lane:
			news = true
		case a[i].lane < b[j].lane:
			i++
		default:
			news = b[j].at > a[i].at
			i, j = i+1, j+1
		}
	}
	if !news {
		return a
	}
	all := make(clock, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].lane < b[0].lane:
			all, a = append(all, a[0]), a[1:]
		case len(a) == 0 || b[0].lane < a[0].lane:
			all, b = append(all, b[0]), b[1:]
		default:
			all = append(all, known{a[0].lane, max(a[0].at, b[0].at)})
			a, b = a[1:], b[1:]
		}
	}
	return all
}
