package schedule

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/kernel"
	"collsim/unit"
)

// body reads a line of a program: a lane, a loop, or a step.
func (p *parser) body(indent int, words []string, text string) error {
	if p.roles == nil {
		return fmt.Errorf("a program begins with rank")
	}
	if words[0] == "lane" || words[0] == "lanes" {
		return p.lane(indent, words)
	}
	c := p.roles[len(p.roles)-1]
	if len(c.bundles) == 0 {
		return fmt.Errorf("%q stands before the first lane", words[0])
	}
	for len(p.loops) > 0 && indent <= int(p.loops[len(p.loops)-1].indent) {
		p.loops = p.loops[:len(p.loops)-1]
	}
	if want := 4 + 2*len(p.loops); indent != want {
		return fmt.Errorf("indented by %d; %d is expected here", indent, want)
	}
	n := node{leaf: int32(len(c.leaves))}
	if words[0] == "loop" {
		count, err := numbers[int32](words[1:], 1, maxCount)
		if err != nil || len(count) != 1 {
			return fmt.Errorf("loop takes one number from 1 to %d", maxCount)
		}
		if len(p.loops) == maxLoops {
			return fmt.Errorf("loops nest at most %d deep", maxLoops)
		}
		n = node{leaf: -1, count: count[0]}
	} else {
		r := reader{parser: p, bundle: &c.bundles[len(c.bundles)-1], exprs: []affine{{}}}
		l, err := r.step(tokens(text))
		if err != nil {
			return err
		}
		c.leaves = append(c.leaves, l)
		p.lines[len(p.lines)-1] = append(p.lines[len(p.lines)-1], p.line)
	}
	for _, o := range p.loops {
		c.nodes[o.node].size++
	}
	if n.leaf < 0 {
		p.loops = append(p.loops, open{int32(len(c.nodes)), int32(indent)})
	}
	c.nodes = append(c.nodes, n)
	c.bundles[len(c.bundles)-1].to = int32(len(c.nodes))
	return nil
}

// lane begins a bundle: "lane 0", "lanes 0-3 channel l".
func (p *parser) lane(indent int, words []string) error {
	c := p.roles[len(p.roles)-1]
	p.loops = nil
	u := bundle{first: c.lanes, from: int32(len(c.nodes)), to: int32(len(c.nodes))}
	if indent != 2 || len(words) != 2 && (len(words) != 4 || words[2] != "channel") {
		return fmt.Errorf("a lane is indented by 2 and looks like: lane 0, lanes 0-3 channel l")
	}
	first, last, several := strings.Cut(words[1], "-")
	if !several {
		last = first
	}
	ends, err := numbers[int32]([]string{first, last}, 0, maxLanes)
	if err != nil {
		return err
	}
	u.count = ends[1] - ends[0] + 1
	if ends[0] != c.lanes || u.count < 1 || several != (words[0] == "lanes") {
		return fmt.Errorf("%s %s: lane %d is to come", words[0], words[1], c.lanes)
	}
	if err := p.count(u.count); err != nil {
		return err
	}
	if len(words) == 4 {
		a, err := parseAffine(words[3])
		if err != nil {
			return err
		}
		first, ok := a.from(&u)
		last := int64(first) + int64(u.count-1)*int64(a.strides[0])
		channels := p.s.channels()
		if !ok || min(int64(first), last) < 0 || max(int64(first), last) >= channels {
			return fmt.Errorf("channel %s: there are %d channels", words[3], channels)
		}
		u.channel, u.channelStride = first, a.strides[0]
	}
	c.lanes += u.count
	c.bundles = append(c.bundles, u)
	return nil
}

// channels returns how many channels the cuts have; where none of them has a level of channels,
// lanes may be of any.
func (s *Schedule) channels() (most int64) {
	for _, cut := range s.Cuts {
		if l := cut.level(Channel); l != nil {
			most = max(most, l.parts(0))
		}
	}
	if most == 0 {
		return maxLanes
	}
	return most
}

// tokens splits a step at spaces and before commas, but not inside brackets and parentheses.
func tokens(text string) []string {
	var list []string
	from, depth := 0, 0
	cut := func(to int) {
		if to > from {
			list = append(list, text[from:to])
		}
	}
	call := 0 // parentheses open
	for i, r := range text {
		switch {
		case r == '(':
			call++
		case r == ')':
			call--
		case call > 0:
		case r == '[' || r == '{' || r == '<':
			depth++
		case r == ']' || r == '}' || r == '>':
			depth--
		case depth == 0 && r == ' ':
			cut(i)
			from = i + 1
		case depth == 0 && r == ',':
			cut(i)
			list = append(list, ",")
			from = i + 1
		}
	}
	cut(len(text))
	return list
}

// A reader reads one step. Until the step is complete, its variables hold indices into exprs.
type reader struct {
	*parser
	bundle *bundle
	words  []string
	exprs  []affine
}

// step reads "recvReduceSend from 7, in[7-i] to 1 after 1#i scaled post @1+i".
func (r *reader) step(words []string) (leaf, error) {
	var s Step
	if n := len(words) - 1; n > 0 && strings.HasPrefix(words[n], "@") {
		var err error
		if s.Round, err = r.expr(words[n][1:]); err != nil {
			return leaf{}, err
		}
		words = words[:n]
	}
	name := words[0]
	r.words = words[1:]
	s.Flush = name == "flush"
	if name == "compute" {
		var err error
		if s.Kernel, err = r.kernel(); err != nil {
			return leaf{}, err
		}
	}
	if err := r.parts(&s, name); err != nil {
		return leaf{}, err
	}
	l, err := r.settle(s)
	if err == nil && l.step.Name() != name {
		err = fmt.Errorf("the step is called %s, but it is a %s", name, l.step.Name())
	}
	return l, err
}

// kernel reads "5000ps", or an operation in parentheses.
func (r *reader) kernel() (*kernel.Op, error) {
	word := r.word()
	if text, ok := strings.CutPrefix(word, "("); ok {
		text, ok = strings.CutSuffix(text, ")")
		if !ok {
			return nil, fmt.Errorf("%q: an operation stands in parentheses", word)
		}
		op, err := kernel.Parse(text)
		return &op, err
	}
	t, err := strconv.ParseInt(strings.TrimSuffix(word, "ps"), 10, 64)
	if err != nil || t < 1 || unit.Time(t) >= unit.Forever {
		return nil, fmt.Errorf("compute takes a time, as in 5000ps, or an operation in parentheses")
	}
	return Opaque(unit.Time(t)), nil
}

// parts reads sources, destinations and marks, in the order in which they are printed.
func (r *reader) parts(s *Step, name string) error {
	if len(r.words) > 0 && !r.at("into") && !r.at("to") && !r.at("after") && !r.at("post") &&
		!(r.at("scaled") && len(r.words) == 1) && !strings.HasPrefix(r.words[0], "launch(") {
		if err := r.list(func() error { return r.source(s, name) }); err != nil {
			return err
		}
	}
	if r.take("into") {
		err := r.list(func() error {
			region, err := r.region()
			s.To = append(s.To, region)
			return err
		})
		if err != nil {
			return err
		}
	}
	if r.take("to") {
		if err := r.list(func() error { return r.dest(s, name) }); err != nil {
			return err
		}
	}
	if r.take("after") {
		if err := r.list(func() error { return r.event(s) }); err != nil {
			return err
		}
	}
	s.Ranked = r.take("ranked")
	s.Scale = r.take("scaled")
	s.Post = r.take("post")
	if len(r.words) > 0 && strings.HasPrefix(r.words[0], "launch(") {
		var err error
		if s.Launch, err = parseLaunch(r.word()); err != nil {
			return err
		}
	}
	if len(r.words) > 0 {
		return fmt.Errorf("%q is not expected here", r.words[0])
	}
	return nil
}

// at reports whether a word is next.
func (r *reader) at(word string) bool { return len(r.words) > 0 && r.words[0] == word }

// take consumes a word if it is next, and reports whether it was.
func (r *reader) take(word string) bool {
	if !r.at(word) {
		return false
	}
	r.words = r.words[1:]
	return true
}

// word consumes and returns the next word; empty at the end.
func (r *reader) word() string {
	if len(r.words) == 0 {
		return ""
	}
	w := r.words[0]
	r.words = r.words[1:]
	return w
}

// list reads items that are separated by commas.
func (r *reader) list(item func() error) error {
	for {
		if err := item(); err != nil || !r.take(",") {
			return err
		}
	}
}

// source reads a source.
func (r *reader) source(s *Step, name string) (err error) {
	f := Source{Scale: r.take("scaled")}
	switch {
	case r.take("from"):
		f.Kind = Message
		f.Peer, err = r.peer(usualClass(name))
	case r.take("get"):
		f.Kind = Get
		if f.Peer, err = r.peer(FIFO); err == nil {
			f.Region, err = r.region()
		}
	case len(r.words) > 0 && strings.HasPrefix(r.words[0], "multimem{"):
		f.Kind = Multimem
		if f.Team, err = r.team(); err == nil {
			f.Region, err = r.region()
		}
	default:
		f.Region, err = r.region()
	}
	s.From = append(s.From, f)
	return err
}

// dest reads a destination with its marks.
func (r *reader) dest(s *Step, name string) (err error) {
	var d Dest
	if len(r.words) > 0 && strings.HasPrefix(r.words[0], "multimem{") {
		d.Team, err = r.team()
	} else {
		d.Peer, err = r.peer(usualClass(name))
	}
	if err != nil {
		return err
	}
	if at := r.take("at"); at {
		d.Put = d.Team == nil
		if d.Put && (d.Peer.Class == usualClass(name) || d.Peer.Class == Free) {
			d.Peer.Class = Puts
		}
		d.Region, err = r.region()
	} else if d.Team != nil {
		return fmt.Errorf("multimem needs a region that it writes: at out[0]")
	}
	for i, mark := range d.marks() {
		*mark = r.take(markNames[i])
	}
	if d.Silent && !d.Put {
		return fmt.Errorf("only a put is silent")
	}
	s.Send = append(s.Send, d)
	return err
}

// team reads "multimem{0,1,2}".
func (r *reader) team() ([]int32, error) {
	list, ok := strings.CutSuffix(strings.TrimPrefix(r.word(), "multimem{"), "}")
	if !ok {
		return nil, fmt.Errorf("multimem names its ranks, as in multimem{0,1,2}")
	}
	return numbers(strings.Split(list, ","), 0, int32(r.s.Spec.Ranks-1))
}

// event reads an event such as "1#3".
func (r *reader) event(s *Step) (err error) {
	lane, value, ok := strings.Cut(r.word(), "#")
	if !ok {
		return fmt.Errorf("an event is LANE#POSTS, as in 1#3")
	}
	var e Event
	if e.Lane, err = r.expr(lane); err == nil {
		e.Value, err = r.expr(value)
	}
	s.Await = append(s.Await, e)
	return err
}
