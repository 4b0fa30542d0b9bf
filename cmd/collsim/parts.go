package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/plots"
	"collsim/trace"
	"collsim/unit"
)

// part selects what timelines show of a run: some ranks, and a time.
type part struct {
	ranks    [][2]int32 // first and last of each range; nil: all
	from, to unit.Time  // to is 0: all of it
}

// parsePart reads --rows and --window; nil if neither is given.
func parsePart(rows, window string) (*part, error) {
	if rows == "" && window == "" {
		return nil, nil
	}
	p := &part{}
	wrong := func() (*part, error) {
		return nil, &usageError{Text: fmt.Sprintf("--rows %.60q: ranks are expected", rows),
			Hint: "for example: --rows 0-7,12"}
	}
	for _, one := range strings.Split(rows, ",") {
		if rows == "" {
			break
		}
		first, last, is := strings.Cut(strings.TrimSpace(one), "-")
		if !is {
			last = first
		}
		a, err := strconv.ParseInt(strings.TrimSpace(first), 10, 32)
		if err != nil || a < 0 {
			return wrong()
		}
		b, err := strconv.ParseInt(strings.TrimSpace(last), 10, 32)
		if err != nil || b < a {
			return wrong()
		}
		p.ranks = append(p.ranks, [2]int32{int32(a), int32(b)})
	}
	if window == "" {
		return p, nil
	}
	from, to, _ := strings.Cut(window, "..")
	var err error
	if p.from, err = unit.ParseTime(strings.TrimSpace(from)); err == nil {
		p.to, err = unit.ParseTime(strings.TrimSpace(to))
	}
	if err != nil || p.from < 0 || p.to <= p.from {
		return nil, &usageError{Text: fmt.Sprintf("--window %.60q: two times are expected, the later "+
			"one last", window), Hint: "for example: --window '10 us..40 us'"}
	}
	return p, nil
}

// has reports whether a rank is shown.
func (p *part) has(rank int32) bool {
	return p.ranks == nil || slices.ContainsFunc(p.ranks, func(r [2]int32) bool {
		return r[0] <= rank && rank <= r[1]
	})
}

// of returns a subject whose timelines show a part.
func (p *part) of(of *subject) (*subject, error) {
	if p == nil || of.trace == nil {
		return of, nil
	}
	part := *of
	part.panels = nil
	for _, panel := range of.panels {
		t, to := panel.Trace, p.to
		if to == 0 {
			to = t.End
		}
		switch {
		case len(t.Repeats) > 0:
			return nil, &usageError{File: of.point.ID, Text: "its timeline leaves out repetitions, so " +
				"that it has no part", Hint: `sim.engine = "event" leaves none out`}
		case p.from >= t.End && t.End > 0:
			return nil, &usageError{File: of.point.ID, Text: fmt.Sprintf("--window begins at %v: it ends "+
				"at %v", p.from, t.End)}
		case !slices.ContainsFunc(t.Tracks, func(k trace.Track) bool { return p.has(k.Rank) }):
			return nil, &usageError{File: of.point.ID, Text: "its timeline has no rank of --rows"}
		}
		panel.Trace, panel.Path = t.Part(p.has, p.from, to), p.path(panel.Path, to)
		part.panels = append(part.panels, panel)
	}
	if p.to > 0 {
		part.shows = fmt.Sprintf(", from %v to %v", p.from, min(p.to, of.trace.End))
		part.title += part.shows
	}
	return &part, nil
}

// path returns the part of a critical path.
func (p *part) path(all []plots.Span, to unit.Time) (path []plots.Span) {
	for _, s := range all {
		s.From, s.To = max(s.From, p.from)-p.from, min(s.To, to)-p.from
		if s.From < s.To {
			path = append(path, s)
		}
	}
	return path
}
