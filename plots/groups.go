package plots

import (
	"fmt"
	"slices"
)

// group holds the curves of a facet, and their heading if they share one.
type group struct {
	heading        string
	series, bounds []Series
}

// grouped divides curves by their groups, in the order of these. It returns nil where another
// layout shows more: with few curves; where some curves have no group or most groups one curve. It
// is also nil where two curves of a group look the same, or one look means different names in two
// groups.
func grouped(series []Series) (groups []group) {
	at := map[string]int{}
	names := map[int]string{} // by look
	curves := 0
	for _, s := range series {
		if s.Bound {
			continue
		}
		curves++
		n, there := at[s.Group]
		if !there {
			n = len(groups)
			at[s.Group] = n
			groups = append(groups, group{heading: s.Group})
		}
		g := &groups[n]
		look := s.Look % (lookCount * lookCount)
		name, known := names[look]
		if s.Group == "" || known && name != s.Name || len(g.series) == facetMost ||
			slices.ContainsFunc(g.series, func(o Series) bool { return o.Name == s.Name }) {
			return nil
		}
		names[look] = s.Name
		g.series = append(g.series, s)
	}
	if curves <= facetMost || curves < 2*len(groups) || len(groups) < 2 {
		return nil
	}
	for n := range groups {
		for _, s := range series {
			if s.Bound && (s.Group == "" || s.Group == groups[n].heading) {
				groups[n].bounds = append(groups[n].bounds, s)
			}
		}
	}
	return groups
}

// explained lists the curves for a legend of all groups: each name once.
func explained(groups []group) (list []Series) {
	for _, g := range groups {
		for _, s := range slices.Concat(g.series, g.bounds) {
			if !slices.ContainsFunc(list, func(o Series) bool { return o.Name == s.Name }) {
				list = append(list, s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Series) int {
		switch {
		case a.Bound == b.Bound:
			return 0
		case b.Bound:
			return -1
		}
		return 1
	})
	return list
}

// ungroup adds the group of a curve to its name and gives curves of different groups different
// looks. It drops bounds of several groups, which a reader could not assign, and notes that.
func (c *chart) ungroup() {
	var kept, bounds []Series
	shades := Shades(c.series)
	groups := map[string]bool{}
	taken := map[int]string{} // by look, whose it is
	for n, s := range c.series {
		if s.shaded = shades != nil && !s.Bound; s.shaded {
			s.shade = shades[n]
		}
		if s.Bound && s.Group != "" {
			groups[s.Group] = true
			bounds = append(bounds, s)
			continue
		}
		for s.Group != "" {
			other, there := taken[s.Look]
			if !there || other == s.Group {
				break
			}
			s.Look += lookCount
		}
		if s.Group != "" {
			taken[s.Look] = s.Group
			s.Name, s.Group = s.full(), ""
		}
		kept = append(kept, s)
	}
	if len(groups) == 1 {
		kept = append(kept, bounds...)
	} else if len(groups) > 1 {
		c.notes = append(c.notes, c.faces.small.wrap(fmt.Sprintf("%d bounds that differ are not drawn",
			len(bounds)), c.width-2*margin)...)
	}
	c.series = kept
}

// full returns the name of a curve with its group.
func (s Series) full() string {
	if s.Name == "" {
		return s.Group
	}
	return s.Name + ", " + s.Group
}
