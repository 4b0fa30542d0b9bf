package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
)

// idleAxis is a swept key that has no effect at a point.
type idleAxis struct {
	label, why string
}

// noEffect begins the reason why a key is idle.
const noEffect = "has no effect"

// idleAxes returns the swept keys that have no effect on a point; used has those that have one.
func (r *run) idleAxes(axes []axis, used map[string]bool) (idle []idleAxis) {
	for i := range axes {
		a := &axes[i]
		if !a.swept || a.key == nil {
			continue
		}
		why := ""
		for _, at := range a.places {
			if why = r.idle(a.key, at, used); why == "" {
				break
			}
		}
		if why != "" {
			idle = append(idle, idleAxis{a.label, strings.TrimPrefix(why, noEffect+": ")})
		}
	}
	return idle
}

// idleNotes say which swept keys have no effect at some points, and at which: points that would
// look as if the key made no difference to them.
func (r *run) idleNotes(points []*Point) (lines []string) {
	seen := map[idleAxis]bool{}
	for _, p := range points {
		for _, idle := range r.idles[p] {
			if !seen[idle] {
				seen[idle] = true
				lines = append(lines, r.idleNote(points, idle))
			}
		}
	}
	return lines
}

// idleNote reports that one swept key has no effect on some points, and names what sets these
// points apart from the others of the sweep.
func (r *run) idleNote(points []*Point, idle idleAxis) string {
	var without, with []*Point
	for _, p := range points {
		switch {
		case slices.Contains(r.idles[p], idle):
			without = append(without, p)
		case slices.ContainsFunc(p.Axes, func(a Axis) bool { return a.Path == idle.label }):
			with = append(with, p)
		}
	}
	where := fmt.Sprintf("%d of %s", len(without), prose.Plural(len(without)+len(with), "point"))
	if told := setApartBy(without, with, idle.label); told != "" {
		where = "where " + told + ", " + where
	} else {
		where = "at " + where
	}
	return fmt.Sprintf("sweep.%q %s %s: %s", idle.label, noEffect, where, idle.why)
}

// setApartBy names a fact that points have and others have not: a value of another sweep, or a
// kind. It is "" where no single fact sets them apart.
func setApartBy(points, others []*Point, but string) string {
	if len(others) == 0 {
		return ""
	}
	kind := func(p *Point) string { return p.Spec.Kind.String() }
	if told := apart(points, others, "kind", kind); told != "" {
		return told
	}
	for _, a := range points[0].Axes {
		told := apart(points, others, a.Path, func(p *Point) string {
			for _, of := range p.Axes {
				if of.Path == a.Path {
					return of.Text
				}
			}
			return ""
		})
		if a.Path != but && told != "" {
			return told
		}
	}
	return ""
}

// apart returns "name is x or y" if no other point has one of the values that points have.
func apart(points, others []*Point, name string, value func(*Point) string) string {
	var values []string
	has := map[string]bool{}
	for _, p := range points {
		if v := value(p); !has[v] {
			has[v] = true
			values = append(values, v)
		}
	}
	if slices.ContainsFunc(others, func(p *Point) bool { return has[value(p)] }) {
		return ""
	}
	return name + " is " + either(values)
}
