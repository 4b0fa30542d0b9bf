package topology

import (
	"fmt"
	"strings"

	"collsim/internal/nearest"
	"collsim/unit"
)

// MatchError reports a pattern that matches no link, or no rank.
type MatchError struct {
	Pattern string
	What    string   // "link" or "rank"
	Nearest []string // the nearest names, at most three
}

// Error returns one line with the pattern and the nearest names.
func (e *MatchError) Error() string {
	text := fmt.Sprintf("%.60q matches no %s", e.Pattern, e.What)
	if len(e.Nearest) > 0 {
		text += "; nearest: " + strings.Join(e.Nearest, ", ")
	}
	return text
}

// Change is an override of a link; zero or nil fields keep their value.
type Change struct {
	Bandwidth unit.Rate  // the new bandwidth
	Share     unit.Share // or a share of the current one
	Latency   *unit.Time // the new latency
}

// Override changes every link whose name matches the pattern (see MatchLinks). A pattern without a
// match is a *MatchError. A change that is invalid for a link is an error and changes nothing.
func (g *Graph) Override(pattern string, c Change) error {
	if c.Bandwidth != 0 && c.Share != 0 {
		return fmt.Errorf("%.60q: a bandwidth and a share of it are too much", pattern)
	}
	if c.Bandwidth < 0 || c.Share < 0 {
		return fmt.Errorf("%.60q: a bandwidth above zero is expected", pattern)
	}
	if c.Latency != nil {
		if why := badLatency(*c.Latency); why != "" {
			return fmt.Errorf("%.60q: latency = %v: %s", pattern, *c.Latency, why)
		}
	}
	found, err := g.MatchLinks(pattern)
	if err != nil {
		return err
	}
	var list []changed
	for _, i := range found {
		l := g.Link(i)
		if c.Bandwidth != 0 {
			l.Bandwidth = c.Bandwidth
		}
		if c.Share != 0 {
			if l.Bandwidth.Times(c.Share) == 0 {
				return fmt.Errorf("%v of %v, the bandwidth of %s, is less than 1 B/s",
					c.Share, l.Bandwidth, g.LinkName(i))
			}
			l.Bandwidth = l.Bandwidth.Times(c.Share)
		}
		if c.Latency != nil {
			l.Latency = *c.Latency
		}
		list = append(list, changed{i, l.Bandwidth, l.Latency})
	}
	g.set(list)
	return nil
}

// MatchLinks returns the links whose names match a pattern, by index. "*" stands for any letters or
// none: "gpu0->switch", "*->gpu3", "*". "a <-> b" matches both directions, a->b and b->a. Blanks
// around an arrow do not matter. No match is a *MatchError with the nearest names.
func (g *Graph) MatchLinks(pattern string) ([]int32, error) {
	if err := g.Listable(); err != nil {
		return nil, err
	}
	there, back := directions(pattern)
	found := g.named(there, back)
	if len(found) > 0 {
		return found, nil
	}
	names := make([]string, g.NumLinks())
	for i := range names {
		names[i] = g.LinkName(int32(i))
	}
	near := nearest.To(there, names, 3)
	if from, _, arrow := strings.Cut(there, "->"); arrow && len(near) == 0 {
		near = nearest.To(from+"->", names, 3) // links that leave the same node
	}
	return nil, &MatchError{pattern, "link", near}
}

// named returns the links whose names match one of two patterns, or the first if the second is
// empty. A name has exactly one arrow: if a pattern has one, matching the names of nodes suffices.
func (g *Graph) named(there, back string) (found []int32) {
	from, to, arrow := strings.Cut(there, "->")
	if !arrow {
		for i := range int32(g.NumLinks()) {
			if matches(there, g.LinkName(i)) {
				found = append(found, i)
			}
		}
		return found
	}
	const begins, ends = 1, 2
	nodes := make([]uint8, g.NumNodes())
	for v := range nodes {
		name := g.Node(int32(v)).Name
		if matches(from, name) {
			nodes[v] |= begins
		}
		if matches(to, name) {
			nodes[v] |= ends
		}
	}
	for i := range int32(g.NumLinks()) {
		l := g.Link(i)
		a, b := nodes[l.From], nodes[l.To]
		if a&begins > 0 && b&ends > 0 || back != "" && a&ends > 0 && b&begins > 0 {
			found = append(found, i)
		}
	}
	return found
}

// MatchRanks returns the ranks whose nodes' names match a pattern ("gpu3", "gpu*"), in order. No
// match is a *MatchError with the nearest names.
func (g *Graph) MatchRanks(pattern string) ([]int32, error) {
	names := make([]string, len(g.Ranks))
	var found []int32
	for r, node := range g.Ranks {
		names[r] = g.Node(node).Name
		if matches(pattern, names[r]) {
			found = append(found, int32(r))
		}
	}
	if len(found) == 0 {
		return nil, &MatchError{pattern, "rank", nearest.To(pattern, names, 3)}
	}
	return found, nil
}

// directions splits a link pattern into those of the two directions; back is empty except for
// "<->".
func directions(pattern string) (there, back string) {
	if a, b, ok := strings.Cut(pattern, "<->"); ok {
		a, b = strings.TrimSpace(a), strings.TrimSpace(b)
		return a + "->" + b, b + "->" + a
	}
	if a, b, ok := strings.Cut(pattern, "->"); ok {
		return strings.TrimSpace(a) + "->" + strings.TrimSpace(b), ""
	}
	return strings.TrimSpace(pattern), ""
}

// matches reports whether name is pattern with every "*" replaced by some letters. It tries the
// earliest place for each part between two stars; that suffices, since a later one leaves less.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}
