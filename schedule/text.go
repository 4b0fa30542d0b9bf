package schedule

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/collective"
)

// The text form: a header of one fact a line, then the programs. With a group there is one, of
// rank *, printed as rank 0 has it; otherwise one a rank. l is the number of a bundle's lane; i, j,
// k and m count the iterations of the loops around a step, outermost first. With a group, ranks and
// blocks are counted modulo their number.
//
//	schedule ring
//	collective all_reduce float32 sum
//	ranks 4
//	count 1024
//	group 4
//	cut in block even 4 by rank
//	cut out block even 4 by rank
//	rank *
//	  lane 0
//	    send in[0] to 1 @0
//	    loop 2
//	      recvReduceSend from 3, in[3-i] to 1 @1+i
//	    …
//
// A program has tensors in place of input and output, and says what it computes, line by line:
//
//	tensor a given bfloat16 64x32 symmetric
//	cut a block even 4
//	tensor gathered defined bfloat16 256x32
//	define gathered = all_gather count=2048 of a
//	define c = (matmul m=256 k=32 n=16 bfloat16*bfloat16->bfloat16) of gathered, b
//
// A composed schedule has parts (composetext.go).

// String returns the schedule's text form, which Parse reads back.
func (s *Schedule) String() string {
	if s.composed() {
		return s.partsText()
	}
	return s.text(s.Name, false)
}

// Form returns the text form without the names of the schedule and of its launches. Schedules of
// equal form do the same. REQUIRES: the schedule has no parts.
func (s *Schedule) Form() string { return s.text("", true) }

// text returns the text form of a schedule without parts, under a name.
func (s *Schedule) text(name string, nameless bool) string {
	var b strings.Builder
	b.WriteString(s.header(name))
	if s.Group != nil {
		b.WriteString("rank *\n")
		writeCode(&b, s, s.role(0), nameless)
		return b.String()
	}
	for rank := range s.Spec.Ranks {
		fmt.Fprintf(&b, "rank %d\n", rank)
		writeCode(&b, s, s.role(int32(rank)), nameless)
	}
	return b.String()
}

// header returns the text form without the programs, under a name.
func (s *Schedule) header(name string) string {
	var b strings.Builder
	spec := &s.Spec
	if name != "" {
		fmt.Fprintf(&b, "schedule %s\n", name)
	} else {
		b.WriteString("schedule\n")
	}
	fmt.Fprintf(&b, "collective %v", spec.Kind)
	if spec.Kind != collective.Barrier {
		fmt.Fprintf(&b, " %v", spec.Type)
	}
	switch {
	case spec.Op == collective.PremulSum:
		fmt.Fprintf(&b, " premulsum(factor=%v)", spec.Factor)
	case spec.Op != 0:
		fmt.Fprintf(&b, " %v", spec.Op)
	}
	if spec.Avg == collective.AvgPost {
		b.WriteString(" post")
	}
	if spec.InPlace {
		b.WriteString(" in place")
	}
	fmt.Fprintf(&b, "\nranks %d\n", spec.Ranks)
	if spec.Kind.Rooted() {
		fmt.Fprintf(&b, "root %d\n", spec.Root)
	}
	if spec.Kind.Splits() && !s.isProgram() {
		for _, row := range spec.Splits {
			fmt.Fprintf(&b, "splits %s\n", words(row))
		}
	} else if !spec.Kind.Splits() {
		fmt.Fprintf(&b, "count %d\n", spec.Count)
	}
	if s.Group != nil {
		fmt.Fprintf(&b, "group %s\n", words(s.Group))
	}
	for _, fact := range []struct {
		name         string
		value, usual int64
	}{{"slots", int64(s.Slots), 0}, {"slices", int64(s.Slices), 1}, {"scratch", s.Memory, 0}} {
		if fact.value != fact.usual {
			fmt.Fprintf(&b, "%s %d\n", fact.name, fact.value)
		}
	}
	if s.Protocol.Shape != NoShape {
		fmt.Fprintf(&b, "protocol %v\n", s.Protocol)
	}
	for buffer, cut := range s.Cuts {
		if len(cut) > 0 && (buffer != int(Scratch) || s.Memory > 0) {
			fmt.Fprintf(&b, "cut %v %s\n", Buffer(buffer), cut)
		}
	}
	s.writeTensors(&b)
	return b.String()
}

// String formats the levels, outermost first, as in "channel even 2, block even 8 by rank".
func (c Cut) String() string {
	levels := make([]string, len(c))
	for i, l := range c {
		text := axisNames[l.Axis] + " " + splitNames[l.Split]
		switch {
		case l.Split == Table:
			for j, row := range l.Ends {
				if j > 0 {
					text += " /"
				}
				text += " " + words(row)
			}
		case l.Align > 0:
			text += fmt.Sprintf(" %d to %d", l.N, l.Align)
		default:
			text += fmt.Sprintf(" %d", l.N)
		}
		switch {
		case l.Mirrored:
			text += " by mirrored rank"
		case l.ByRank:
			text += " by rank"
		}
		levels[i] = text
	}
	return strings.Join(levels, ", ")
}

// words formats numbers, separated by spaces.
func words[T int | int32 | int64](numbers []T) string {
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = strconv.FormatInt(int64(n), 10)
	}
	return strings.Join(text, " ")
}

// writeCode prints a program.
func writeCode(b *strings.Builder, s *Schedule, c *code, nameless bool) {
	for i := range c.bundles {
		u := &c.bundles[i]
		if u.count == 1 {
			fmt.Fprintf(b, "  lane %d", u.first)
		} else {
			fmt.Fprintf(b, "  lanes %d-%d", u.first, u.first+u.count-1)
		}
		if u.channel != 0 || u.channelStride != 0 {
			fmt.Fprintf(b, " channel %s", affineOf(u, u.channel,
				[maxLoops + 1]int32{u.channelStride}))
		}
		b.WriteByte('\n')
		w := writer{b: b, schedule: s, bundle: u, nameless: nameless}
		w.nodes(c, u.from, u.to, "    ")
	}
}

// A writer prints the steps of a bundle.
type writer struct {
	b        *strings.Builder
	schedule *Schedule
	bundle   *bundle
	leaf     *leaf
	present  *Step // of the leaf
	buffer   Step
	next     int  // index of the variable to print next, in variables' order
	nameless bool // omits the names of launches
}

// nodes prints a range of nodes.
func (w *writer) nodes(c *code, from, to int32, indent string) {
	for pc := from; pc < to; pc++ {
		n := &c.nodes[pc]
		if n.leaf < 0 {
			fmt.Fprintf(w.b, "%sloop %d\n", indent, n.count)
			w.nodes(c, pc+1, pc+1+n.size, indent+"  ")
			pc += n.size
			continue
		}
		w.leaf, w.present, w.next = &c.leaves[n.leaf], c.stepOf(n, &w.buffer), 0
		w.b.WriteString(indent)
		w.step()
		w.b.WriteByte('\n')
	}
}

// variable returns the next variable of the step; base is its value in the first iteration.
func (w *writer) variable(base int32) affine {
	var strides [maxLoops + 1]int32
	for d, s := range w.leaf.strides {
		if s != nil {
			strides[d] = s[w.next]
		}
	}
	w.next++
	return affineOf(w.bundle, base, strides)
}

// step prints a step.
func (w *writer) step() {
	s := w.present
	round := w.variable(s.Round)
	name := s.Name()
	w.b.WriteString(name)
	if t := s.OpaqueTime(); t > 0 && !s.Kernel.HasResult() {
		fmt.Fprintf(w.b, " %dps", t)
	} else if s.Kernel != nil {
		fmt.Fprintf(w.b, " (%v)", *s.Kernel)
	}
	for i := range s.From {
		w.between(i, " ")
		w.source(&s.From[i], name)
	}
	for i := range s.To {
		w.between(i, " into ")
		w.b.WriteString(w.region(&s.To[i]))
	}
	for i := range s.Send {
		w.between(i, " to ")
		w.dest(&s.Send[i], name)
	}
	for i := range s.Await {
		w.between(i, " after ")
		lane := w.variable(s.Await[i].Lane)
		fmt.Fprintf(w.b, "%v#%v", lane, w.variable(s.Await[i].Value))
	}
	if s.Ranked {
		w.b.WriteString(" ranked")
	}
	if s.Scale {
		w.b.WriteString(" scaled")
	}
	if s.Post {
		w.b.WriteString(" post")
	}
	if s.Launch != nil {
		launch := *s.Launch
		if w.nameless {
			launch.Name = ""
		}
		w.b.WriteString(" " + launch.String())
	}
	fmt.Fprintf(w.b, " @%v", round)
}

// between prints what separates item i from the one before; first precedes the first item.
func (w *writer) between(i int, first string) {
	if i > 0 {
		first = ", "
	}
	w.b.WriteString(first)
}

// source prints a source.
func (w *writer) source(f *Source, name string) {
	class := ""
	if f.Peer.Class != usualClass(name) {
		class = classNames[f.Peer.Class] + " "
	}
	peer := w.peer(&f.Peer)
	region := w.region(&f.Region)
	if f.Scale {
		w.b.WriteString("scaled ")
	}
	switch f.Kind {
	case Local:
		w.b.WriteString(region)
	case Message:
		fmt.Fprintf(w.b, "from %s%s", class, peer)
	case Get:
		fmt.Fprintf(w.b, "get %s %s", peer, region)
	case Multimem:
		fmt.Fprintf(w.b, "%s %s", multimem(f.Team), region)
	}
}

// dest prints a destination.
func (w *writer) dest(d *Dest, name string) {
	peer, region := w.peer(&d.Peer), w.region(&d.Region)
	switch {
	case d.Team != nil:
		peer = multimem(d.Team)
	case !d.Put && d.Peer.Class != usualClass(name):
		peer = classNames[d.Peer.Class] + " " + peer
	}
	w.b.WriteString(peer)
	if d.Lands() {
		fmt.Fprintf(w.b, " at %s", region)
	}
	for i, mark := range d.marks() {
		if *mark {
			w.b.WriteString(" " + markNames[i])
		}
	}
}

// markNames are the words that may follow a destination, in the order of marks.
var markNames = [...]string{"relaxed", "silent", "packet", "line", "fused"}

// marks returns the flags that markNames name.
func (d *Dest) marks() [5]*bool {
	return [...]*bool{&d.Relaxed, &d.Silent, &d.Packet, &d.Line, &d.Fused}
}

// multimem formats a team, such as "multimem{0,1,2}".
func multimem(team []int32) string {
	return "multimem{" + strings.ReplaceAll(words(team), " ", ",") + "}"
}

// peer formats a peer: the rank, the lane unless it is the lane's own, and the tag unless it is 0,
// as in "3/1:7".
func (w *writer) peer(p *Peer) string {
	rank := w.variable(p.Rank)
	lane := w.variable(p.Lane)
	text := rank.String()
	if lane != w.bundle.own() {
		text += "/" + lane.String()
	}
	if p.Tag != 0 {
		text += fmt.Sprintf(":%d", p.Tag)
	}
	return text
}

// region formats a region, such as "in", "out[3-i]", "out[1 x2 +4 x3]", "scratch<i>[2]" (tile i),
// "in{0,2,3}".
func (w *writer) region(r *Region) string {
	tile, first := w.variable(r.Tile), w.variable(r.First)
	text := w.schedule.BufferName(r.Buffer)
	if tile != (affine{}) {
		text += "<" + tile.String() + ">"
	}
	if r.List != nil {
		list := strings.ReplaceAll(words(r.List), " ", ",")
		return text + "{" + list + "}"
	}
	n := w.schedule.blocks[r.Buffer]
	whole := first == (affine{}) && r.Run == n && r.Times == 1 &&
		(n == 1 || !w.schedule.byRank[r.Buffer])
	if whole {
		return text
	}
	text += "[" + first.String()
	if r.Run != 1 || r.Times != 1 {
		text += fmt.Sprintf(" x%d", r.Run)
	}
	if r.Times != 1 {
		text += fmt.Sprintf(" %+d x%d", r.Period, r.Times)
	}
	return text + "]"
}
