package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A scope is the context of a step: a lane of a rank, in an iteration of each enclosing loop.
type scope struct {
	plan       *Plan
	group      []int
	rank, lane int
	env        map[byte]int
	words      []string // not parsed yet
	verb       string
	err        error // first error
}

// read parses "recvReduceSend from 7, in[7-i] to 1 after 1#i scaled post @1+i".
func (s *scope) read(text string) (step Step, err error) {
	s.words, s.err = split(text), nil
	if last := len(s.words) - 1; last > 0 && s.words[last][0] == '@' {
		if step.Round = s.value(s.words[last][1:]); step.Round < 0 {
			s.fail("round %d", step.Round)
		}
		s.words = s.words[:last]
	}
	if last := len(s.words) - 1; last > 0 && strings.HasPrefix(s.words[last], "launch(") {
		s.words = s.words[:last] // costs do not matter here
	}
	s.verb = s.word()
	step.Flush = s.verb == "flush"
	if s.verb == "compute" {
		step.Compute = s.word()
		if n, err := strconv.Atoi(strings.TrimSuffix(step.Compute, "ps")); err != nil || n < 1 {
			s.fail("compute takes a time, as 5000ps is")
		}
	}
	if !s.at("", "into", "to", "after", "post") && !(s.at("scaled") && len(s.words) == 1) {
		s.list(func() { step.From = append(step.From, s.source()) })
	}
	if s.take("into") {
		s.list(func() { step.Into = append(step.Into, s.region()) })
	}
	if s.take("to") {
		s.list(func() { step.To = append(step.To, s.target()) })
	}
	if s.take("after") {
		s.list(func() {
			lane, posts, _ := strings.Cut(s.word(), "#")
			step.After = append(step.After, Event{s.value(lane), s.value(posts)})
		})
	}
	if s.take("ranked") {
		s.inOrder(step.From)
	}
	step.Scaled, step.Post = s.take("scaled"), s.take("post")
	if len(s.words) > 0 {
		s.fail("%q is not expected here", s.words[0])
	}
	if s.err == nil && step.verb() != s.verb {
		s.fail("the step is called %s, but it is a %s", s.verb, step.verb())
	}
	return step, s.err
}

// inOrder sorts two operands by the ranks that they come from: this one, and the message's sender.
func (s *scope) inOrder(from []Source) {
	if len(from) != 2 || from[0].Kind+from[1].Kind != Local+Message || from[0].Put() || from[1].Put() {
		s.fail("ranked is for a region and a message")
		return
	}
	own := slices.IndexFunc(from, func(f Source) bool { return f.Kind == Local })
	if first := from[1-own].Peer.Rank < s.rank; first == (own == 0) {
		slices.Reverse(from)
	}
}

// split splits a step into words. Brackets and their contents are one word, and so is a comma.
func split(text string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	depth := 0
	for _, c := range text {
		switch {
		case depth == 0 && c == ' ':
			end()
			continue
		case depth == 0 && c == ',':
			end()
			words = append(words, ",")
			continue
		case strings.ContainsRune("[{<(", c):
			depth++
		case strings.ContainsRune("]}>)", c):
			depth--
		}
		word.WriteRune(c)
	}
	end()
	return words
}

// fail records the first error.
func (s *scope) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// word takes the next word, "" at the end.
func (s *scope) word() string {
	if len(s.words) == 0 {
		return ""
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// at reports whether the next word is one of these.
func (s *scope) at(words ...string) bool {
	next := ""
	if len(s.words) > 0 {
		next = s.words[0]
	}
	return slices.Contains(words, next)
}

// take takes the next word if it is this one.
func (s *scope) take(word string) bool {
	if !s.at(word) {
		return false
	}
	s.word()
	return true
}

// list reads items separated by commas.
func (s *scope) list(item func()) {
	for item(); s.err == nil && s.take(","); {
		item()
	}
}

// value evaluates an expression.
func (s *scope) value(text string) int {
	n, err := evaluate(text, s.env)
	if err != nil {
		s.fail("%w", err)
	}
	return n
}

// number parses a number without variables.
func (s *scope) number(text string, least, most int) int {
	n, err := number(text, least, most)
	if err != nil {
		s.fail("%w", err)
	}
	return n
}

// source parses a source.
func (s *scope) source() Source {
	f := Source{Scaled: s.take("scaled")}
	switch {
	case s.take("from"):
		f.Kind, f.Peer = Message, s.peer(usual(s.verb))
		return f
	case s.take("get"):
		f.Kind, f.Peer = Get, s.peer(FIFO)
	case len(s.words) > 0 && strings.HasPrefix(s.words[0], "multimem{"):
		f.Kind, f.Team = Multimem, s.team()
	}
	f.Region = s.region()
	return f
}

// target parses a target.
func (s *scope) target() (t Target) {
	if len(s.words) > 0 && strings.HasPrefix(s.words[0], "multimem{") {
		t.Team = s.team()
	} else {
		t.Peer = s.peer(usual(s.verb))
	}
	if t.At = s.take("at"); t.At {
		t.Region = s.region()
		if c := t.Peer.Class; c == usual(s.verb) || c == Free {
			t.Peer.Class = Puts
		}
	} else if t.Team != nil {
		s.fail("multimem needs a region, as in at out[0]")
	}
	t.Relaxed, t.Silent, t.Packet = s.take("relaxed"), s.take("silent"), s.take("packet")
	if t.Line = s.take("line"); t.Line && (t.Packet || t.At) {
		s.fail("a packet or a put is no line")
	}
	t.Fused = s.take("fused")
	if t.Silent && !t.At || t.Silent && t.Team != nil {
		s.fail("only a put is silent")
	}
	return t
}

// usual returns the default class of a verb's connections.
func usual(verb string) Class {
	switch verb {
	case "signal", "wait":
		return Pad
	case "put":
		return Puts
	}
	return FIFO
}

var classNames = []string{"fifo", "pad", "free", "put"}

// peer parses "3", "pad 3-i/1:7": a class, a rank, a lane and a tag.
func (s *scope) peer(class Class) Peer {
	p := Peer{Class: class, Lane: s.lane}
	for c, name := range classNames {
		if s.take(name) {
			p.Class = Class(c)
		}
	}
	text, tag, tagged := strings.Cut(s.word(), ":")
	if tagged {
		p.Tag = s.number(tag, 0, mostParts)
	}
	rank, lane, laned := strings.Cut(text, "/")
	p.Rank = s.translate(s.value(rank), s.plan.Problem.Ranks, s.rank, "rank")
	if laned {
		p.Lane = s.value(lane)
	}
	return p
}

// translate converts a number of rank 0's program to this rank. With a group, it is taken modulo n,
// and by is added digit by digit. Without a group it stays, and must be below n.
func (s *scope) translate(x, n, by int, what string) int {
	if s.group == nil {
		if x < 0 || x >= n {
			s.fail("%s %d of %d", what, x, n)
			return 0
		}
		return x
	}
	if x = (x%n + n) % n; by == 0 {
		return x
	}
	total, weight := 0, 1
	for i := len(s.group) - 1; i >= 0; i-- {
		d := s.group[i]
		total += (x%d + by%d) % d * weight
		x, by, weight = x/d, by/d, weight*d
	}
	return total
}

// mirrored returns this rank with its digits in reverse order.
func (s *scope) mirrored() int {
	digits := make([]int, len(s.group))
	for i, rank := len(s.group)-1, s.rank; i >= 0; i-- {
		digits[i], rank = rank%s.group[i], rank/s.group[i]
	}
	number, weight := 0, 1
	for i, digit := range digits {
		number, weight = number+digit*weight, weight*s.group[i]
	}
	return number
}

// stays reports whether a run of blocks is translated as a whole. Its length is the product of the
// last digits, all binary and more than one; it begins where these are 0.
func (s *scope) stays(run []int) bool {
	count := 1
	for i := len(s.group) - 1; i >= 0 && count < len(run) && s.group[i] == 2; i-- {
		count *= 2
	}
	return len(s.group) > 1 && len(run) > 1 && count == len(run) && run[0]%count == 0
}

// team parses "multimem{0,1,2}".
func (s *scope) team() (team []int) {
	list := strings.TrimSuffix(strings.TrimPrefix(s.word(), "multimem{"), "}")
	n := s.plan.Problem.Ranks
	for _, text := range strings.Split(list, ",") {
		team = append(team, s.translate(s.number(text, 0, n-1), n, s.rank, "rank"))
	}
	slices.Sort(team)
	return team
}

// region parses "in", "out[3-i]", "out[1 x2 +4 x3]", "scratch<i>[2]", "in{0,2,3}".
func (s *scope) region() (g Region) {
	text := s.word()
	end := strings.IndexAny(text+"<", "<[{")
	buffer := slices.Index(bufferNames, text[:end])
	if buffer < 0 {
		s.fail("%q is no region", text)
		return g
	}
	g.Buffer = Buffer(buffer)
	rest := text[end:]
	if strings.HasPrefix(rest, "<") {
		tile, after, _ := strings.Cut(rest[1:], ">")
		g.Tile, rest = s.value(tile), after
	}
	n, byRank, mirrored := s.plan.Cuts[buffer].Blocks()
	list, isRun := s.blocks(rest, n)
	by := 0
	switch {
	case byRank && mirrored:
		by = s.mirrored()
	case byRank:
		by = s.rank
	}
	if isRun && s.stays(list) {
		by -= by % len(list)
	}
	for _, b := range list {
		g.Blocks = append(g.Blocks, s.translate(b, n, by, "block"))
	}
	if tiles := s.plan.tiles(g.Buffer); g.Tile < 0 || g.Tile >= tiles {
		s.fail("tile %d of %d", g.Tile, tiles)
	}
	return g
}

// blocks parses the blocks after the buffer and the tile, of a buffer of n blocks. It also returns
// whether they are one run.
func (s *scope) blocks(text string, n int) (list []int, isRun bool) {
	first, run, period, times := 0, 1, 0, 1
	switch {
	case text == "":
		run = n
	case text[0] == '{' && strings.HasSuffix(text, "}"):
		for _, b := range strings.Split(text[1:len(text)-1], ",") {
			list = append(list, s.number(b, 0, n-1))
		}
		return list, false
	case text[0] == '[' && strings.HasSuffix(text, "]"):
		words := strings.Fields(text[1 : len(text)-1])
		if len(words) != 1 && len(words) != 2 && len(words) != 4 {
			s.fail("%q names no blocks", text)
			return nil, false
		}
		first = s.value(words[0])
		if len(words) > 1 {
			run = s.number(strings.TrimPrefix(words[1], "x"), 1, n)
		}
		if len(words) > 2 {
			period = s.number(words[2], -n, n)
			times = s.number(strings.TrimPrefix(words[3], "x"), 1, n)
		}
	default:
		s.fail("%q names no blocks", text)
	}
	if run*times > n {
		s.fail("%q names %d blocks of %d", text, run*times, n)
	}
	for i := 0; i < run*times && s.err == nil; i++ {
		list = append(list, first+i/run*period+i%run)
	}
	return list, times == 1
}
