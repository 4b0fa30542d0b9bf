package schedule

import (
	"fmt"
	"strings"

	"collsim/unit"
)

// A readPart is a part of a text, its line, and what its schedule demands.
type readPart struct {
	part   Part
	line   int
	load   load
	as     int               // the earlier part with the same schedule, or −1
	memory map[string]string // places of its buffers
	seen   bool              // a word was read: only the first may be the part's name
}

// partWords are the words that may follow a part's name.
var partWords = []string{"ranks", "stream", "after", "as"}

// word reads a word of a part's line, with its value, and returns the remaining words.
func (r *readPart) word(words []string) (rest []string, err error) {
	word, first := words[0], !r.seen
	r.seen = true
	name, value, isPlace := strings.Cut(word, "=")
	switch _, twice := r.memory[name]; {
	case strings.HasPrefix(word, "launch("):
		r.part.Launch, err = parseLaunch(word)
		return words[1:], err
	case isPlace && twice:
		return nil, fmt.Errorf("%s lies in two tensors", name)
	case isPlace:
		r.memory[name] = value
		return words[1:], nil
	}
	var list *[]int
	one := []int{0}
	switch word {
	case "ranks":
		list = &r.part.Ranks
	case "after":
		list = &r.part.After
	case "stream", "as":
		list = &one
	default:
		if first {
			r.part.Name = word
			return words[1:], nil
		}
		return nil, fmt.Errorf("%q: ranks, stream, launch(…), after, as and such as in=x are expected",
			word)
	}
	if len(words) < 2 {
		return nil, fmt.Errorf("%s takes numbers", word)
	}
	if *list, err = commaNumbers(words[1], 1<<20); err != nil || len(*list) > 1 && list == &one {
		return nil, fmt.Errorf("%s %s: numbers such as 0,1,2 are expected, one of stream and as", word,
			words[1])
	}
	if word == "as" {
		r.as = one[0]
	} else if word == "stream" {
		r.part.Stream = int32(one[0])
	}
	return words[2:], nil
}

// part reads a line such as "part rows ranks 0,2 stream 1 launch(sms) in=x out=y", and the indented
// schedule below it. It returns the remaining lines.
func (p *parser) part(text string, lines []string) (rest []string, err error) {
	if err := p.mayHaveParts(); err != nil {
		return nil, err
	}
	r := readPart{line: p.line, as: -1, memory: map[string]string{}}
	for words := spaced(text)[1:]; len(words) > 0; {
		if words, err = r.word(words); err != nil {
			return nil, err
		}
	}
	body, rest := indented(lines)
	if err := p.scheduleOf(&r, body); err != nil {
		return nil, err
	}
	if err := p.memoryOf(&r.part, r.memory); err != nil {
		return nil, err
	}
	p.parts = append(p.parts, r)
	p.line += len(body)
	return rest, nil
}

// spaced splits a text at spaces that are not in parentheses.
func spaced(text string) []string {
	return strings.FieldsFunc(marked(text), func(r rune) bool { return r == '\x00' })
}

// marked replaces each space outside parentheses by a zero byte.
func marked(text string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ' ' && depth == 0:
			return 0
		}
		return r
	}, text)
}

// commaNumbers parses numbers separated by commas.
func commaNumbers(text string, most int32) ([]int, error) {
	list, err := numbers(strings.Split(text, ","), 0, most)
	whole := make([]int, len(list))
	for i, n := range list {
		whole[i] = int(n)
	}
	return whole, err
}

// scheduleOf finds the schedule of a part: below it, or that of an earlier part.
func (p *parser) scheduleOf(r *readPart, body []string) error {
	as := r.as
	if as < 0 {
		return p.ownSchedule(r, body)
	}
	if as >= len(p.parts) || len(body) > 0 {
		return fmt.Errorf("as %d: the number of a part above is expected, counted from 0, and no "+
			"schedule of its own", as)
	}
	like := p.parts[as]
	r.part.Schedule, r.load = like.part.Schedule, like.load
	if p.load = p.load.plus(r.load); p.lanes > maxAllLanes || p.work > maxWork {
		return fmt.Errorf("with this part there are %d lanes, and %s blocks and peers; at most %d and "+
			"%d are read", p.lanes, atLeast(p.work), int64(maxAllLanes), int64(maxWork))
	}
	return nil
}

// ownSchedule reads the schedule of a part, which is indented by 2.
func (p *parser) ownSchedule(r *readPart, body []string) error {
	const margin = 2
	if len(body) == 0 {
		return fmt.Errorf("what the part does stands below it, indented by %d, or it is as a part above",
			margin)
	}
	text := make([]string, len(body))
	for i, raw := range body {
		if raw = uncomment(raw); raw == "" {
			continue
		}
		if indentOf(raw) < margin {
			return &ParseError{p.line + 1 + i, fmt.Sprintf("what a part does is indented by %d", margin)}
		}
		text[i] = raw[margin:]
	}
	before := p.load
	of := parser{member: true, line: p.line, load: before}
	s, err := of.parse(text)
	if err != nil {
		return err
	}
	r.part.Schedule, p.load = s, of.load
	r.load = load{lanes: of.lanes - before.lanes, work: of.work - before.work}
	return nil
}

// indented splits lines before the next one that is not indented; blank lines and comments count as
// indented.
func indented(lines []string) (body, rest []string) {
	n := 0
	for i, raw := range lines {
		raw = uncomment(raw)
		if raw != "" && indentOf(raw) == 0 {
			break
		}
		if raw != "" {
			n = i + 1
		}
	}
	return lines[:n], lines[n:]
}

// plus returns the sum of two loads.
func (l load) plus(other load) load {
	return load{lanes: unit.AddCapped(l.lanes, other.lanes), work: unit.AddCapped(l.work, other.work)}
}

// memoryOf reads the places of the buffers of a part.
func (p *parser) memoryOf(t *Part, memory map[string]string) error {
	t.Memory = make([]Place, t.Schedule.Buffers())
	found := 0
	for b := range t.Memory {
		text, ok := memory[t.Schedule.BufferName(Buffer(b))]
		if !ok {
			continue
		}
		found++
		name, offsets, has := strings.Cut(text, "@")
		tensor, ok := p.s.bufferOf(name)
		if !ok || tensor < FirstTensor {
			return fmt.Errorf("%s=%s: %q is no tensor above", t.Schedule.BufferName(Buffer(b)), text, name)
		}
		t.Memory[b].Tensor = tensor
		if has {
			list, err := numbers[int64](strings.Split(offsets, ","), 0, 1<<58)
			if err != nil {
				return err
			}
			t.Memory[b].Offsets = list
		}
	}
	if found != len(memory) {
		return fmt.Errorf("the part's schedule has no buffer of one of these names: it has in, out, " +
			"scratch and its tensors")
	}
	return nil
}

// mayHaveParts returns an error where no part may stand.
func (p *parser) mayHaveParts() error {
	if p.member {
		return fmt.Errorf("a part has no parts")
	}
	for _, fact := range p.facts {
		switch fact {
		case "schedule", "ranks", "tensor", "cut":
		default:
			return fmt.Errorf("%q stands above the parts; each says so itself", fact)
		}
	}
	if p.roles != nil || p.s.Spec.Ranks < 1 || p.s.Spec.Ranks > maxRanks {
		return fmt.Errorf("above the parts stands how many ranks there are in all, as in ranks 8")
	}
	return nil
}

// compose returns the schedule of all parts.
func (p *parser) compose() (*Schedule, error) {
	s, err := startComposing(p.s.Name, p.s.Spec.Ranks, p.s.Tensors)
	if err != nil {
		return nil, atLine(p.parts[0].line, err)
	}
	parts := make([]Part, len(p.parts))
	for i := range p.parts {
		parts[i] = p.parts[i].part
	}
	s.startTeams(parts)
	for i := range parts {
		if err := s.add(&parts[i]); err != nil {
			return nil, atLine(p.parts[i].line, err)
		}
	}
	return s.s, nil
}
