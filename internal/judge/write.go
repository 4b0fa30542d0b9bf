package judge

import (
	"fmt"
	"strconv"
	"strings"
)

// verb returns the name that a step must have (docs/schedule.md).
func (s *Step) verb() string {
	switch {
	case s.Flush:
		return "flush"
	case s.Compute != "":
		return "compute"
	case !s.Moves() && len(s.From) == 0 && len(s.To) == 0:
		return "nop"
	case !s.Moves() && len(s.From) == 0:
		return "signal"
	case s.waits():
		return "wait"
	case len(s.To) > 0 && s.To[0].At && len(s.Into) == 0 && len(s.From) == 1 &&
		s.From[0].Kind != Multimem:
		return "put"
	}
	receives, reduces, sends := false, len(s.From) > 1, len(s.To) > 0
	for i := range s.From {
		receives = receives || s.From[i].Kind == Message
		reduces = reduces || s.From[i].Kind == Multimem
	}
	if reduces && !receives && !sends {
		return "reduce"
	}
	copies := len(s.Into) > 0 &&
		(sends || reduces && !s.inOwnPlace() || !receives && !reduces)
	name := ""
	for i, does := range []bool{receives, reduces, copies, sends} {
		if does {
			name += []string{"Recv", "Reduce", "Copy", "Send"}[i]
		}
	}
	if name == "" {
		return "nop"
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// inOwnPlace reports whether the only store is where a local operand is.
func (s *Step) inOwnPlace() bool {
	for i := range s.From {
		g := &s.From[i].Region
		if s.From[i].Kind == Local && len(s.Into) == 1 && g.text() == s.Into[0].text() {
			return true
		}
	}
	return false
}

// String returns the text form, which Read can parse: every step on a line of its own.
func (p *Plan) String() string {
	var b strings.Builder
	p.header(&b)
	for rank, lanes := range p.Ranks {
		fmt.Fprintf(&b, "rank %d\n", rank)
		for i, l := range lanes {
			fmt.Fprintf(&b, "  lane %d", i)
			if l.Channel != 0 {
				fmt.Fprintf(&b, " channel %d", l.Channel)
			}
			b.WriteByte('\n')
			for j := range l.Steps {
				b.WriteString("    " + l.Steps[j].text() + "\n")
			}
		}
	}
	return b.String()
}

func (p *Plan) header(b *strings.Builder) {
	q := &p.Problem
	words := []string{"collective", q.Kind, q.Type, q.Op}
	if q.Post {
		words = append(words, "post")
	}
	if q.InPlace {
		words = append(words, "in place")
	}
	fmt.Fprintf(b, "schedule %s\n%s\nranks %d\n", p.Name,
		strings.Join(strings.Fields(strings.Join(words, " ")), " "), q.Ranks)
	if q.Root > 0 {
		fmt.Fprintf(b, "root %d\n", q.Root)
	}
	if q.Splits == nil {
		fmt.Fprintf(b, "count %d\n", q.Count)
	}
	for _, row := range q.Splits {
		fmt.Fprintf(b, "splits %s\n", join(row, " "))
	}
	if p.Slots > 0 {
		fmt.Fprintf(b, "slots %d\n", p.Slots)
	}
	if p.Slices > 1 {
		fmt.Fprintf(b, "slices %d\n", p.Slices)
	}
	if p.Scratch > 0 {
		fmt.Fprintf(b, "scratch %d\n", p.Scratch)
	}
	for i, c := range p.Cuts {
		if len(c) == 0 {
			continue
		}
		levels := make([]string, len(c))
		for j := range c {
			levels[j] = c[j].text()
		}
		fmt.Fprintf(b, "cut %s %s\n", bufferNames[i], strings.Join(levels, ", "))
	}
}

func (l *Level) text() string {
	text := fmt.Sprintf("%s %s %d", l.Axis, l.Split, l.N)
	switch {
	case l.Align > 0:
		text += fmt.Sprintf(" to %d", l.Align)
	case l.Split == "table":
		rows := make([]string, len(l.Ends))
		for i, row := range l.Ends {
			rows[i] = join(row, " ")
		}
		text = l.Axis + " table " + strings.Join(rows, " / ")
	}
	switch {
	case l.Mirrored:
		text += " by mirrored rank"
	case l.ByRank:
		text += " by rank"
	}
	return text
}

func join(list []int, between string) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, between)
}

func (s *Step) text() string {
	verb := s.verb()
	text := verb
	if s.Compute != "" {
		text += " " + s.Compute
	}
	item := func(i int, first, what string) {
		if i > 0 {
			first = ", "
		}
		text += first + what
	}
	for i := range s.From {
		item(i, " ", s.From[i].text(verb))
	}
	for i := range s.Into {
		item(i, " into ", s.Into[i].text())
	}
	for i := range s.To {
		item(i, " to ", s.To[i].text(verb))
	}
	for i, e := range s.After {
		item(i, " after ", fmt.Sprintf("%d#%d", e.Lane, e.Posts))
	}
	for i, on := range []bool{s.Scaled, s.Post} {
		if on {
			text += []string{" scaled", " post"}[i]
		}
	}
	return text + fmt.Sprintf(" @%d", s.Round)
}

func (f *Source) text(verb string) string {
	text := ""
	if f.Scaled {
		text = "scaled "
	}
	switch f.Kind {
	case Message:
		return text + "from " + f.Peer.text(usual(verb))
	case Get:
		text += "get " + f.Peer.text(FIFO) + " "
	case Multimem:
		text += "multimem{" + join(f.Team, ",") + "} "
	}
	return text + f.Region.text()
}

func (t *Target) text(verb string) string {
	text := "multimem{" + join(t.Team, ",") + "}"
	if t.Team == nil {
		class := usual(verb)
		if t.At {
			class = Puts
		}
		text = t.Peer.text(class)
	}
	if t.At {
		text += " at " + t.Region.text()
	}
	for i, on := range []bool{t.Relaxed, t.Silent, t.Packet, t.Line, t.Fused} {
		if on {
			text += []string{" relaxed", " silent", " packet", " line", " fused"}[i]
		}
	}
	return text
}

func (p *Peer) text(usual Class) string {
	text := fmt.Sprintf("%d/%d", p.Rank, p.Lane)
	if p.Class != usual {
		text = classNames[p.Class] + " " + text
	}
	if p.Tag > 0 {
		text += fmt.Sprintf(":%d", p.Tag)
	}
	return text
}

func (g *Region) text() string {
	text := bufferNames[g.Buffer]
	if g.Tile != 0 {
		text += fmt.Sprintf("<%d>", g.Tile)
	}
	if len(g.Blocks) == 1 {
		return fmt.Sprintf("%s[%d]", text, g.Blocks[0])
	}
	return text + "{" + join(g.Blocks, ",") + "}"
}
