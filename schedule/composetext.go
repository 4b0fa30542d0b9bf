package schedule

import (
	"fmt"
	"strings"
)

// The text of a composed schedule gives the number of ranks and the tensors, then the parts. A
// part's line gives its ranks, its stream, its launch, and the parts that it comes after, counted
// from 0. It also gives the storage of its buffers: a tensor and an offset for all ranks, or one
// for each. The schedule of the part follows. Parts with one schedule refer to the first of them.
//
//	schedule layer
//	ranks 4
//	tensor x given float32 64x32
//	tensor y result float32 128x32
//	part rows ranks 0,2 stream 1 launch(sms) in=x out=y
//	  schedule ring
//	  …
//	part others ranks 1,3 after 0 in=x out=y@0,2048 as 0
//
// Teams have no tensors, and ranks in no team do nothing:
//
//	schedule ring
//	ranks 7
//	part ranks 0,2,4
//	  schedule ring
//	  …
//	part ranks 5,3,1 as 0

// partsText formats a composed schedule.
func (s *Schedule) partsText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nranks %d\n", strings.TrimSpace("schedule "+s.Name), s.Spec.Ranks)
	s.writeTensors(&b)
	printed := map[*Schedule]int{}
	for i, n := 0, len(s.parts)+len(s.teams); i < n; i++ {
		text, of := s.partText(i)
		b.WriteString(text)
		if as, ok := printed[of]; ok {
			fmt.Fprintf(&b, " as %d\n", as)
			continue
		}
		printed[of] = i
		b.WriteByte('\n')
		for line := range strings.Lines(of.String()) {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

// composed reports whether a schedule has parts, on tensors or as teams.
func (s *Schedule) composed() bool { return s.parts != nil || s.teams != nil }

// partText returns a part's line, and its schedule.
func (s *Schedule) partText(i int) (text string, of *Schedule) {
	var p *Part
	everybody := false
	if s.teams != nil {
		p = &s.teams[i]
	} else {
		p, everybody = &s.parts[i].Part, s.parts[i].place == nil
	}
	text = "part"
	if p.Name != "" {
		text += " " + p.Name
	}
	if !everybody {
		text += " ranks " + commas(p.Ranks)
	}
	if p.Stream != 0 {
		text += fmt.Sprintf(" stream %d", p.Stream)
	}
	if p.Launch != nil {
		text += " " + p.Launch.String()
	}
	if len(p.After) > 0 {
		text += " after " + commas(p.After)
	}
	for b := range p.Memory {
		at := p.Memory[b]
		if at.Tensor == 0 {
			continue
		}
		text += " " + p.Schedule.BufferName(Buffer(b)) + "=" + s.BufferName(at.Tensor)
		if len(at.Offsets) > 0 {
			text += "@" + commas(at.Offsets)
		}
	}
	return text, p.Schedule
}

// equalParts compares composed schedules: they are equal if tensors and parts are.
func equalParts(a, b *Schedule) bool {
	n := len(a.parts) + len(a.teams)
	if len(a.parts) != len(b.parts) || len(a.teams) != len(b.teams) ||
		a.header(a.Name) != b.header(b.Name) {
		return false
	}
	for i := range n {
		line, p := a.partText(i)
		if other, q := b.partText(i); line != other || !Equal(p, q) {
			return false
		}
	}
	return true
}

// commas formats numbers, separated by commas.
func commas[T int | int64](numbers []T) string {
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = fmt.Sprint(n)
	}
	return strings.Join(text, ",")
}
