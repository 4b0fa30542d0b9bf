package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// mostElements bounds a buffer.
const mostElements = math.MaxInt64 / 64

// fact reads a line of the header.
func (r *reader) fact(name string, args []string) (err error) {
	if r.seen[name] && name != "splits" && name != "cut" {
		return fmt.Errorf("a second %q", name)
	}
	r.seen[name] = true
	p := r.plan
	switch name {
	case "schedule":
		p.Name = strings.Join(args, " ")
		return nil
	case "collective":
		return p.Problem.read(args)
	case "splits":
		row, err := numbers(args, 0, mostElements)
		p.Problem.Splits = append(p.Problem.Splits, row)
		return err
	case "group":
		r.group, err = numbers(args, 1, 1<<16)
		return err
	case "cut":
		return r.cut(args)
	}
	into := map[string]*int{"ranks": &p.Problem.Ranks, "root": &p.Problem.Root,
		"count": &p.Problem.Count, "slots": &p.Slots, "slices": &p.Slices,
		"scratch": &p.Scratch}[name]
	most := 1 << 16
	if name == "count" || name == "scratch" {
		most = mostElements
	}
	if into == nil || len(args) != 1 {
		return fmt.Errorf("%s %v is no fact of a schedule", name, args)
	}
	*into, err = number(args[0], 0, most)
	return err
}

// read parses "all_reduce float32 sum post in place".
func (p *Problem) read(args []string) error {
	take := func() string {
		if len(args) == 0 {
			return ""
		}
		word := args[0]
		args = args[1:]
		return word
	}
	if p.Kind = take(); p.Kind != "barrier" {
		p.Type = take()
	}
	if len(args) > 0 && (among(reducing, p.Kind) || p.Kind == "custom") &&
		args[0] != "post" && args[0] != "in" {
		p.Op = take()
	}
	if len(args) > 0 && args[0] == "post" {
		p.Post, args = true, args[1:]
	}
	if strings.Join(args, " ") == "in place" {
		p.InPlace, args = true, nil
	}
	if len(args) > 0 {
		return fmt.Errorf("%q does not belong to the collective", args[0])
	}
	return nil
}

// cut parses "in channel even 2, block even 8 by rank".
func (r *reader) cut(args []string) error {
	buffer := -1
	if len(args) > 0 {
		buffer = slices.Index(bufferNames, args[0])
	}
	if buffer < 0 || r.plan.Cuts[buffer] != nil {
		return fmt.Errorf("cut %v: a buffer that is not cut yet is expected", args)
	}
	for _, text := range strings.Split(strings.Join(args[1:], " "), ",") {
		l, err := readLevel(strings.Fields(text))
		if err != nil {
			return err
		}
		r.plan.Cuts[buffer] = append(r.plan.Cuts[buffer], l)
	}
	return nil
}

// readLevel parses a level of a cut.
func readLevel(words []string) (l Level, err error) {
	if len(words) < 3 || !among(" channel tile block ", words[0]) {
		return l, fmt.Errorf("level %v takes an axis, a way to split, and a number", words)
	}
	l.Axis, l.Split, words = words[0], words[1], words[2:]
	if n := len(words); n > 2 && words[n-2] == "by" && words[n-1] == "rank" {
		l.ByRank, words = true, words[:n-2]
	} else if n > 3 && words[n-3] == "by" && words[n-2] == "mirrored" && words[n-1] == "rank" {
		l.ByRank, l.Mirrored, words = true, true, words[:n-3]
	}
	switch l.Split {
	case "table":
		for _, row := range strings.Split(strings.Join(words, " "), "/") {
			ends, err := numbers(strings.Fields(row), 0, mostElements)
			if err != nil {
				return l, err
			}
			l.Ends = append(l.Ends, ends)
		}
		return l, nil
	case "aligned":
		if len(words) != 3 || words[1] != "to" {
			return l, fmt.Errorf("aligned %v: such as aligned 4 to 16 is expected", words)
		}
		if l.Align, err = number(words[2], 1, 1<<40); err != nil {
			return l, err
		}
		words = words[:1]
	case "even":
		if len(words) == 3 && words[1] == "to" {
			if l.Align, err = number(words[2], 1, 1<<40); err != nil {
				return l, err
			}
			words = words[:1]
		}
	case "ceil", "size":
	default:
		return l, fmt.Errorf("%q is no way to split", l.Split)
	}
	if len(words) != 1 {
		return l, fmt.Errorf("%v: one number is expected", words)
	}
	l.N, err = number(words[0], 1, 1<<40)
	return l, err
}

// settle checks the header, before the first program.
func (r *reader) settle() error {
	p := r.plan
	if err := p.Problem.check(); err != nil {
		return err
	}
	if !r.seen["count"] && !among(splitKinds+"barrier ", p.Problem.Kind) {
		return fmt.Errorf("no line says count")
	}
	order := 1
	for _, d := range r.group {
		order = times(order, d, 1<<20)
	}
	if r.group != nil && order != p.Problem.Ranks {
		return fmt.Errorf("a group of %d on %d ranks", order, p.Problem.Ranks)
	}
	if p.Slices < 1 {
		return fmt.Errorf("%d slices", p.Slices)
	}
	if p.Scratch == 0 { // an empty buffer has no parts, whatever its cut
		p.Cuts[Scratch] = nil
	}
	for _, c := range p.Cuts {
		if err := c.check(p.Problem.Ranks); err != nil {
			return err
		}
	}
	return nil
}

// check validates a cut.
func (c Cut) check(ranks int) error {
	seen := " "
	for i := range c {
		l := &c[i]
		n := 0
		for _, row := range l.Ends {
			if !slices.IsSorted(row) || len(row) != len(l.Ends[0]) {
				return fmt.Errorf("a table's ends do not rise, or its rows differ in length")
			}
			n++
		}
		switch {
		case among(seen, l.Axis):
			return fmt.Errorf("two levels %s", l.Axis)
		case n > 1 && n != ranks:
			return fmt.Errorf("a table of %d rows on %d ranks", n, ranks)
		case l.Axis != "tile" && (l.Split == "size" || l.N > mostParts):
			return fmt.Errorf("a cut of %ss of size %d", l.Axis, l.N)
		case l.ByRank && (l.Axis != "block" || l.parts() != ranks):
			return fmt.Errorf("only blocks, as many as ranks, are numbered by rank")
		}
		seen += l.Axis + " "
	}
	return nil
}
