package algostest

import (
	"reflect"

	"collsim/schedule"
)

// sameStep reports whether two steps are the same, however their regions are written and their
// operands are marked as ordered.
func sameStep(s *schedule.Schedule, x, y *schedule.Step) bool {
	return reflect.DeepEqual(spelledOut(s, x), spelledOut(s, y))
}

// spelledOut returns a copy of a step with every region's blocks as a list.
func spelledOut(s *schedule.Schedule, step *schedule.Step) schedule.Step {
	c := *step
	c.Ranked = false
	c.From, c.To, c.Send, c.Await = nil, nil, nil, append([]schedule.Event(nil), step.Await...)
	for _, f := range step.From {
		if f.Kind != schedule.Message {
			f.Region = listed(s, f.Region)
		}
		c.From = append(c.From, f)
	}
	for _, r := range step.To {
		c.To = append(c.To, listed(s, r))
	}
	for _, d := range step.Send {
		if d.Lands() {
			d.Region = listed(s, d.Region)
		}
		c.Send = append(c.Send, d)
	}
	return c
}

// listed returns a region with its blocks one by one.
func listed(s *schedule.Schedule, r schedule.Region) schedule.Region {
	list := append([]int32(nil), r.List...)
	if r.List == nil {
		for i := range r.Times {
			for j := range r.Run {
				list = append(list, r.First+i*r.Period+j)
			}
		}
	}
	n := int32(s.Blocks(r.Buffer))
	for i, b := range list {
		list[i] = (b%n + n) % n
	}
	return schedule.Region{Buffer: r.Buffer, Tile: r.Tile, List: list}
}
