package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
)

// A ParseError is an error in a schedule's text, with its line.
type ParseError struct {
	Line int
	Text string
}

// Error formats the error, such as "line 3: a second "ranks"".
func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Bounds of what is read. A text beyond them is refused, so that it cannot exhaust the machine.
const (
	maxRanks    = 1 << 16
	maxLanes    = 1 << 16 // of a rank
	maxAllLanes = 1 << 22 // of all ranks; an idle lane takes about 300 bytes in a proof
	maxCount    = 1 << 24 // of a loop
	// maxWork bounds the work of all ranks, in blocks of regions and peers of sub-steps. It is that
	// of a ring all_reduce on 11,000 ranks. A proof handles some millions a second.
	maxWork = 1 << 30
)

// Parse reads the text form. Blank lines do not count, nor does a # at the beginning of a line or
// after a space, with what follows it.
func Parse(text string) (*Schedule, error) {
	return (&parser{}).parse(strings.Split(text, "\n"))
}

// parse reads lines; p.line is the number of the line before the first.
func (p *parser) parse(lines []string) (*Schedule, error) {
	p.s = &Schedule{Slices: 1}
	for len(lines) > 0 {
		p.line++
		raw := uncomment(lines[0])
		if lines = lines[1:]; strings.TrimSpace(raw) == "" {
			continue
		}
		indent := indentOf(raw)
		var err error
		switch words := strings.Fields(raw); {
		case words[0] == "part" && indent == 0:
			lines, err = p.part(strings.TrimSpace(raw), lines)
		case len(p.parts) > 0:
			err = fmt.Errorf("%q: a part is expected, or what it does, indented below it", words[0])
		case words[0] == "rank" && indent == 0:
			err = p.rank(words[1:])
		case p.roles == nil && indent == 0:
			err = p.fact(words[0], words[1:])
		default:
			err = p.body(indent, words, strings.TrimSpace(raw))
		}
		if err != nil {
			return nil, atLine(p.line, err)
		}
	}
	if len(p.parts) > 0 {
		return p.compose()
	}
	if err := p.finish(); err != nil {
		return nil, atLine(p.line, err)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p.s, nil
}

// atLine adds a line to an error that has none.
func atLine(line int, err error) error {
	if _, has := err.(*ParseError); has {
		return err
	}
	return &ParseError{line, err.Error()}
}

// A parser is the state between two lines.
type parser struct {
	s     *Schedule
	line  int
	facts []string // seen so far
	roles []*code  // one for each rank; one in all with a group
	lines [][]int  // of the leaves of each role
	loops []open   // not closed yet, outermost first
	load           // of all ranks so far

	member bool // reads a part, which has no parts itself
	parts  []readPart
}

// load measures what a text demands: lanes, and work in the units of maxWork.
type load struct{ lanes, work int64 }

// open is a loop that still takes steps.
type open struct{ node, indent int32 }

// uncomment removes a comment and the spaces before it.
func uncomment(line string) string {
	if strings.HasPrefix(line, "#") {
		return ""
	}
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return strings.TrimRight(line, " \r")
}

// indentOf returns the number of spaces that a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// fact reads a line of the header.
func (p *parser) fact(name string, args []string) error {
	if name != "splits" {
		for _, seen := range p.facts {
			if seen == name && name != "cut" && name != "tensor" && name != "define" {
				return fmt.Errorf("a second %q", name)
			}
		}
	}
	p.facts = append(p.facts, name)
	s := p.s
	switch name {
	case "schedule":
		s.Name = strings.Join(args, " ")
		return nil
	case "collective":
		return p.collective(args)
	case "splits":
		row, err := numbers[int64](args, 0, collective.MaxElements)
		s.Spec.Splits = append(s.Spec.Splits, row)
		return err
	case "group":
		digits, err := numbers[int32](args, 1, maxRanks)
		s.Group = digits
		return err
	case "protocol":
		protocol, err := parseProtocol(args)
		s.Protocol = protocol
		return err
	case "cut":
		return p.cut(args)
	case "tensor":
		return p.tensor(args)
	case "define":
		return p.define(args)
	}
	into, most := map[string]*int{"ranks": &s.Spec.Ranks, "root": &s.Spec.Root, "slots": &s.Slots,
		"slices": &s.Slices}[name], int64(maxRanks)
	count := map[string]*int64{"count": &s.Spec.Count, "scratch": &s.Memory}[name]
	if count != nil {
		most = collective.MaxElements
	}
	if into == nil && count == nil {
		return fmt.Errorf("%q is no fact of a schedule; facts are schedule, collective, ranks, "+
			"root, count, splits, group, slots, slices, scratch, protocol, cut, tensor and define", name)
	}
	value, err := numbers[int64](args, 0, most)
	if err != nil || len(value) != 1 {
		return fmt.Errorf("%s takes one number from 0 to %d", name, most)
	}
	if count != nil {
		*count = value[0]
	} else {
		*into = int(value[0])
	}
	return nil
}

// collective reads "all_reduce float32 sum post in place".
func (p *parser) collective(args []string) (err error) {
	spec := &p.s.Spec
	if len(args) < 1 {
		return fmt.Errorf("collective takes a kind and a data type")
	}
	if spec.Kind, err = collective.ParseKind(args[0]); err != nil {
		return err
	}
	if args = args[1:]; spec.Kind != collective.Barrier {
		if len(args) < 1 {
			return fmt.Errorf("collective takes a kind and a data type")
		}
		if spec.Type, err = dtype.Parse(args[0]); err != nil {
			return err
		}
		args = args[1:]
	}
	if (spec.Kind.Reduces() || spec.Kind == collective.Custom) && len(args) > 0 &&
		args[0] != "post" && args[0] != "in" { // custom has an operator or not
		var factor float64
		if spec.Op, factor, err = collective.ParseOp(args[0]); err != nil {
			return err
		}
		if spec.Op == collective.PremulSum {
			spec.Factor = factor
		}
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "post" {
		spec.Avg, args = collective.AvgPost, args[1:]
	}
	if len(args) == 2 && args[0] == "in" && args[1] == "place" {
		spec.InPlace, args = true, nil
	}
	if len(args) > 0 {
		return fmt.Errorf("%q does not belong to the collective", args[0])
	}
	return nil
}

// cut reads "in channel even 2, block even 8 by rank".
func (p *parser) cut(args []string) error {
	if len(args) < 1 {
		return fmt.Errorf("cut takes a buffer and levels")
	}
	buffer, ok := p.s.bufferOf(args[0])
	if !ok || *p.s.cut(buffer) != nil {
		return fmt.Errorf("%q is no buffer that is still to be cut: in, out, scratch or a tensor above",
			args[0])
	}
	cut := p.s.cut(buffer)
	for _, text := range strings.Split(strings.Join(args[1:], " "), ",") {
		words := strings.Fields(text)
		if len(words) < 3 {
			return fmt.Errorf("level %q takes an axis, a way to split, and a number", text)
		}
		axis, err := index(axisNames[:], words[0])
		if err != nil {
			return err
		}
		split, err := index(splitNames[:], words[1])
		if err != nil {
			return err
		}
		l := Level{Axis: Axis(axis), Split: Split(split)}
		words = words[2:]
		switch n := len(words); {
		case n > 2 && slices.Equal(words[n-2:], []string{"by", "rank"}):
			l.ByRank, words = true, words[:n-2]
		case n > 3 && slices.Equal(words[n-3:], []string{"by", "mirrored", "rank"}):
			l.ByRank, l.Mirrored, words = true, true, words[:n-3]
		}
		if err := l.numbers(words); err != nil {
			return err
		}
		*cut = append(*cut, l)
	}
	return nil
}

// numbers reads the numbers of a level, after its rule.
func (l *Level) numbers(words []string) error {
	if l.Split == Table {
		for _, text := range strings.Split(strings.Join(words, " "), "/") {
			row, err := numbers[int64](strings.Fields(text), 0, collective.MaxElements)
			if err != nil {
				return err
			}
			l.Ends = append(l.Ends, row)
		}
		return nil
	}
	aligns := l.Split == Aligned || l.Split == Even
	if aligns && len(words) == 3 && words[1] == "to" {
		words = []string{words[0], words[2]}
	} else if len(words) != 1 {
		return fmt.Errorf("%q: one number is expected", strings.Join(words, " "))
	}
	row, err := numbers[int64](words, 1, 1<<40)
	if err == nil {
		l.N = row[0]
		if l.Split == Aligned || len(row) > 1 {
			l.Align = row[len(row)-1]
		}
	}
	return err
}

// rank begins a program.
func (p *parser) rank(args []string) error {
	if p.roles == nil {
		if p.s.Spec.Ranks > maxRanks {
			return fmt.Errorf("more than %d ranks", maxRanks)
		}
		if err := p.complete(); err != nil {
			return err
		}
		p.s.withoutVectors()
		if p.s.Memory == 0 {
			p.s.Cuts[Scratch] = nil // nothing is nothing, however cut; it is not printed either
		}
		if err := p.s.settle(); err != nil {
			return err
		}
	}
	want := strconv.Itoa(len(p.roles))
	if p.s.Group != nil {
		want = "*"
	}
	if len(args) != 1 || args[0] != want || p.s.Group != nil && len(p.roles) == 1 ||
		len(p.roles) >= p.s.Spec.Ranks {
		return fmt.Errorf("rank %s: rank %s of %d is expected", strings.Join(args, " "), want,
			p.s.Spec.Ranks)
	}
	p.roles, p.lines = append(p.roles, &code{}), append(p.lines, nil)
	p.loops = nil
	return nil
}

// finish checks that every rank has its program.
func (p *parser) finish() error {
	want := p.s.Spec.Ranks
	if p.s.Group != nil {
		want = 1
	}
	if p.roles == nil || len(p.roles) != want {
		return fmt.Errorf("the text ends after %d programs; %d are needed", len(p.roles), want)
	}
	for _, c := range p.roles {
		for i, n := range c.nodes {
			if n.leaf < 0 && n.size == 0 {
				return fmt.Errorf("loop %d of a program is empty", i)
			}
		}
	}
	roles, group := p.roles, p.s.Group != nil
	p.s.role = func(rank int32) *code {
		if group {
			return roles[0]
		}
		return roles[rank]
	}
	return nil
}

// numbers reads numbers within bounds.
func numbers[T int32 | int64](words []string, least, most T) ([]T, error) {
	var row []T
	for _, w := range words {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || n < int64(least) || n > int64(most) {
			return nil, fmt.Errorf("%q: a number from %d to %d is expected", w, least, most)
		}
		row = append(row, T(n))
	}
	if row == nil {
		return nil, fmt.Errorf("a number is missing")
	}
	return row, nil
}

// index returns the position of a name in a list.
func index(names []string, name string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q: one of %s is expected", name, strings.Join(names, ", "))
}
