package judge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrLarge reports a text that is too long for the judge when unrolled.
var ErrLarge = errors.New("too large to judge")

// Bounds of a text.
const (
	mostSteps = 5000    // unrolled, of all lanes
	mostParts = 1 << 24 // of a cut
	mostDeep  = 4       // depth of nested loops
)

var bufferNames = []string{"in", "out", "scratch"}

// Read parses the text form (docs/schedule.md) and unrolls it.
func Read(text string) (*Plan, error) {
	r := &reader{plan: &Plan{Slices: 1}, seen: map[string]bool{}}
	for i, line := range strings.Split(text, "\n") {
		if at := strings.Index(" "+line, " #"); at >= 0 {
			line = line[:max(0, at-1)]
		}
		if line = strings.TrimRight(line, " \r"); line == "" {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if err := r.line(indent, i+1, strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return r.plan, r.finish()
}

// A reader is the state between two lines.
type reader struct {
	plan     *Plan
	group    []int
	seen     map[string]bool
	programs [][]*bundle
	open     []*node // enclosing loops, outermost first
	steps    int     // unrolled so far
}

// A bundle is lanes that share a text.
type bundle struct {
	first, count int
	channels     []int // of each; nil: all 0
	body         []*node
}

// A node is a step, or a loop over nodes.
type node struct {
	at   int // line
	text string
	loop int // times; 0 for a step
	body []*node
}

// line reads a line.
func (r *reader) line(indent, at int, text string) error {
	words := strings.Fields(text)
	switch {
	case indent == 0 && words[0] == "rank":
		return r.rank(words[1:])
	case indent == 0 && r.programs == nil:
		return r.fact(words[0], words[1:])
	case r.programs == nil:
		return fmt.Errorf("%q stands before the first program", text)
	case words[0] == "lane" || words[0] == "lanes":
		return r.lane(indent, words)
	}
	return r.step(indent, &node{at: at, text: text})
}

// rank begins a program.
func (r *reader) rank(args []string) error {
	if r.programs == nil {
		if err := r.settle(); err != nil {
			return err
		}
	}
	want := strconv.Itoa(len(r.programs))
	if r.group != nil {
		want = "*"
	}
	if len(args) != 1 || args[0] != want || len(r.programs) == r.wanted() {
		return fmt.Errorf("rank %v: rank %s of %d is expected", args, want, r.plan.Problem.Ranks)
	}
	r.programs, r.open = append(r.programs, nil), nil
	return nil
}

// wanted returns the number of programs; with a group it is one.
func (r *reader) wanted() int {
	if r.group != nil {
		return 1
	}
	return r.plan.Problem.Ranks
}

// lane begins a bundle: "lane 2", "lanes 0-3 channel l".
func (r *reader) lane(indent int, words []string) error {
	program := &r.programs[len(r.programs)-1]
	next := 0
	if n := len(*program); n > 0 {
		next = (*program)[n-1].first + (*program)[n-1].count
	}
	if indent != 2 || len(words) != 2 && (len(words) != 4 || words[2] != "channel") {
		return fmt.Errorf("a lane is indented by 2: lane 0, lanes 0-3 channel l")
	}
	from, to, several := strings.Cut(words[1], "-")
	if !several {
		to = from
	}
	first, err := number(from, 0, mostSteps)
	last, err2 := number(to, 0, mostSteps)
	b := &bundle{first: first, count: last - first + 1}
	if err != nil || err2 != nil || first != next || b.count < 1 || several != (words[0] == "lanes") {
		return fmt.Errorf("%s: lane %d is to come", words[1], next)
	}
	if len(words) == 4 {
		for l := first; l <= last; l++ {
			channel, err := evaluate(words[3], map[byte]int{'l': l})
			if err != nil || channel < 0 || channel >= r.channels() {
				return fmt.Errorf("channel %s of %d: %w", words[3], r.channels(), err)
			}
			b.channels = append(b.channels, channel)
		}
	}
	*program, r.open = append(*program, b), nil
	return nil
}

// channels returns the number of channels into which the schedule cuts its buffers.
func (r *reader) channels() int {
	most := 1
	for _, c := range r.plan.Cuts {
		for i := range c {
			if c[i].Axis == "channel" {
				most = max(most, c[i].parts())
			}
		}
	}
	return most
}

// step adds a step or a loop to the enclosing loop.
func (r *reader) step(indent int, n *node) error {
	program := r.programs[len(r.programs)-1]
	if len(program) == 0 {
		return fmt.Errorf("%q stands before the first lane", n.text)
	}
	if depth := (indent - 4) / 2; indent%2 == 1 || indent < 4 || depth > len(r.open) {
		return fmt.Errorf("indented by %d", indent)
	} else {
		r.open = r.open[:depth]
	}
	if times, loop := strings.CutPrefix(n.text, "loop "); loop {
		var err error
		if n.loop, err = number(times, 1, mostParts); err != nil || len(r.open) == mostDeep {
			return fmt.Errorf("a loop of %q in %d others", times, len(r.open))
		}
	}
	body := &program[len(program)-1].body
	if len(r.open) > 0 {
		body = &r.open[len(r.open)-1].body
	}
	*body = append(*body, n)
	if n.loop > 0 {
		r.open = append(r.open, n)
	}
	return nil
}

// finish unrolls the programs of all ranks.
func (r *reader) finish() error {
	if r.programs == nil || len(r.programs) != r.wanted() {
		return fmt.Errorf("%d programs; %d are needed", len(r.programs), r.wanted())
	}
	p := r.plan
	for rank := range p.Problem.Ranks {
		program := r.programs[0]
		if r.group == nil {
			program = r.programs[rank]
		}
		var lanes []Lane
		for _, b := range program {
			for l := range b.count {
				s := scope{plan: p, group: r.group, rank: rank, lane: b.first + l,
					env: map[byte]int{}}
				if b.count > 1 {
					s.env['l'] = s.lane
				}
				lane := Lane{}
				if b.channels != nil {
					lane.Channel = b.channels[l]
				}
				if err := r.unroll(&lane, b.body, &s, 0); err != nil {
					return err
				}
				lanes = append(lanes, lane)
			}
		}
		p.Ranks = append(p.Ranks, lanes)
	}
	return nil
}

// unroll appends the steps of a body, at a depth of loops.
func (r *reader) unroll(lane *Lane, body []*node, s *scope, depth int) error {
	for _, n := range body {
		if n.loop == 0 {
			if r.steps++; r.steps > mostSteps {
				return ErrLarge
			}
			step, err := s.read(n.text)
			if err != nil {
				return fmt.Errorf("line %d: %w", n.at, err)
			}
			lane.Steps = append(lane.Steps, step)
			continue
		}
		if len(n.body) == 0 {
			return fmt.Errorf("line %d: an empty loop", n.at)
		}
		variable := "ijkm"[depth]
		for i := range n.loop {
			s.env[variable] = i
			if err := r.unroll(lane, n.body, s, depth+1); err != nil {
				return err
			}
		}
		delete(s.env, variable)
	}
	return nil
}

// number parses a number within bounds.
func number(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q: a number from %d to %d is expected", text, least, most)
	}
	return n, nil
}

// numbers parses a list of numbers.
func numbers(words []string, least, most int) (list []int, err error) {
	for _, w := range words {
		n, wrong := number(w, least, most)
		if wrong != nil {
			return nil, wrong
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("a number is missing")
	}
	return list, nil
}

// evaluate returns the value of an expression such as 7-i or 2+3j+l. Each variable and the constant
// may occur once.
func evaluate(text string, env map[byte]int) (total int, err error) {
	wrong := fmt.Errorf("%q is no number, as 3, 7-i or 2+3j+l are", text)
	var used []byte
	for rest := text; rest != ""; {
		end := 1 + strings.IndexAny(rest[1:], "+-")
		if end == 0 {
			end = len(rest)
		}
		term := strings.TrimPrefix(rest[:end], "+")
		rest = rest[end:]
		value, variable := 1, byte(0)
		if n := len(term); n > 0 && strings.IndexByte("lijkm", term[n-1]) >= 0 {
			known := false
			variable, term = term[n-1], term[:n-1]
			if value, known = env[variable]; !known {
				return 0, fmt.Errorf("%q: nothing counts %c here", text, variable)
			}
			if term == "" || term == "-" {
				term += "1"
			}
		}
		factor, err := number(term, -mostParts, mostParts)
		if err != nil || slices.Contains(used, variable) {
			return 0, wrong
		}
		used = append(used, variable)
		total += factor * value
	}
	if len(used) == 0 {
		return 0, wrong
	}
	return total, nil
}
