package schedule

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// The variables of a step are its numbers that may change from one iteration of a loop, or one lane
// of a bundle, to the next. Everything else is the step's shape.

// A modulus says what a variable counts modulo: peers modulo the ranks, blocks modulo their number.
type modulus int32

const (
	plain modulus = iota
	byPeer
	byBlock // byBlock + Buffer
)

// variables calls f with every variable of the step, always in the same order.
func (s *Step) variables(f func(x *int32, m modulus)) {
	region := func(r *Region) {
		f(&r.Tile, plain)
		f(&r.First, byBlock+modulus(r.Buffer))
	}
	peer := func(p *Peer) {
		f(&p.Rank, byPeer)
		f(&p.Lane, plain)
	}
	f(&s.Round, plain)
	for i := range s.From {
		peer(&s.From[i].Peer)
		region(&s.From[i].Region)
	}
	for i := range s.To {
		region(&s.To[i])
	}
	for i := range s.Send {
		peer(&s.Send[i].Peer)
		region(&s.Send[i].Region)
	}
	for i := range s.Await {
		f(&s.Await[i].Lane, plain)
		f(&s.Await[i].Value, plain)
	}
}

// shift adds times·stride to the step's variables, in variables' order, and returns their number.
// It is written out since every step that is walked passes here.
func (s *Step) shift(stride []int32, times int32) int {
	k := 1
	s.Round += times * stride[0]
	for i := range s.From {
		f := &s.From[i]
		k = shiftEnd(&f.Peer, &f.Region, stride, k, times)
	}
	for i := range s.To {
		s.To[i].Tile += times * stride[k]
		s.To[i].First += times * stride[k+1]
		k += 2
	}
	for i := range s.Send {
		d := &s.Send[i]
		k = shiftEnd(&d.Peer, &d.Region, stride, k, times)
	}
	for i := range s.Await {
		s.Await[i].Lane += times * stride[k]
		s.Await[i].Value += times * stride[k+1]
		k += 2
	}
	return k
}

// shiftEnd shifts the variables of a peer and a region, and returns the index of the next variable.
func shiftEnd(p *Peer, r *Region, stride []int32, k int, times int32) int {
	p.Rank += times * stride[k]
	p.Lane += times * stride[k+1]
	r.Tile += times * stride[k+2]
	r.First += times * stride[k+3]
	return k + 4
}

// shape returns a hash of the step without its variables.
func (s *Step) shape() uint64 {
	h := uint64(14695981039346656037)
	mix := func(x uint64) { h = (h ^ x) * 1099511628211 }
	flag := func(b bool) {
		if b {
			mix(1)
		} else {
			mix(2)
		}
	}
	region := func(r *Region) {
		mix(uint64(r.Buffer)<<32 | uint64(uint32(r.Run)))
		mix(uint64(uint32(r.Period))<<32 | uint64(uint32(r.Times)))
		mix(uint64(len(r.List)))
		for _, b := range r.List {
			mix(uint64(b))
		}
	}
	ranks := func(team []int32) {
		mix(uint64(len(team)))
		for _, r := range team {
			mix(uint64(r))
		}
	}
	mix(uint64(len(s.From))<<48 | uint64(len(s.To))<<32 | uint64(len(s.Send))<<16 |
		uint64(len(s.Await)))
	if s.Kernel != nil {
		mix(uint64(s.Kernel.Kind)<<56 ^ uint64(s.Kernel.Time) ^ uint64(s.Kernel.N))
	}
	if s.Launch != nil {
		mix(uint64(s.Launch.Engine)<<32 | uint64(s.Launch.Blocks))
	}
	for i := range s.From {
		f := &s.From[i]
		mix(uint64(f.Peer.Tag)<<32 | uint64(f.Kind)<<8 | uint64(f.Peer.Class))
		ranks(f.Team)
		flag(f.Scale)
		region(&f.Region)
	}
	for i := range s.To {
		region(&s.To[i])
	}
	for i := range s.Send {
		d := &s.Send[i]
		mix(uint64(d.Peer.Tag)<<32 | uint64(d.Peer.Class))
		ranks(d.Team)
		flag(d.Silent)
		flag(d.Packet)
		flag(d.Line)
		flag(d.Put)
		flag(d.Relaxed)
		flag(d.Fused)
		region(&d.Region)
	}
	flag(s.Post)
	flag(s.Flush)
	flag(s.Scale)
	flag(s.Ranked)
	return h
}

// clone copies the step and what it points to.
func (s *Step) clone() Step {
	var c Step
	c.assign(s)
	return c
}

// assign makes s a copy of t, reusing s's memory.
func (s *Step) assign(t *Step) {
	s.From = append(s.From[:0], t.From...)
	s.To = append(s.To[:0], t.To...)
	s.Send = append(s.Send[:0], t.Send...)
	s.Await = append(s.Await[:0], t.Await...)
	s.Post, s.Flush, s.Scale, s.Round = t.Post, t.Flush, t.Scale, t.Round
	s.Ranked = t.Ranked
	s.Kernel, s.Launch = t.Kernel, t.Launch
}

// equal reports whether two steps are identical.
func (s *Step) equal(t *Step) bool {
	if len(s.From) != len(t.From) || len(s.To) != len(t.To) || len(s.Send) != len(t.Send) ||
		s.Post != t.Post || s.Flush != t.Flush || s.Scale != t.Scale || s.Round != t.Round ||
		s.Ranked != t.Ranked || !slices.Equal(s.Await, t.Await) ||
		!equalKernel(s.Kernel, t.Kernel) || !s.Launch.equal(t.Launch) {
		return false
	}
	for i := range s.From {
		a, b := &s.From[i], &t.From[i]
		if a.Kind != b.Kind || a.Peer != b.Peer || a.Scale != b.Scale ||
			!slices.Equal(a.Team, b.Team) || !a.Region.same(&b.Region) {
			return false
		}
	}
	for i := range s.To {
		if !s.To[i].same(&t.To[i]) {
			return false
		}
	}
	for i := range s.Send {
		a, b := &s.Send[i], &t.Send[i]
		if a.Peer != b.Peer || a.Put != b.Put || a.Relaxed != b.Relaxed ||
			a.Silent != b.Silent || a.Framing() != b.Framing() || a.Fused != b.Fused ||
			!slices.Equal(a.Team, b.Team) || !a.Region.same(&b.Region) {
			return false
		}
	}
	return true
}

// same reports whether two regions are identical.
func (r *Region) same(o *Region) bool {
	return r.Buffer == o.Buffer && r.Tile == o.Tile && r.First == o.First && r.Run == o.Run &&
		r.Period == o.Period && r.Times == o.Times && slices.Equal(r.List, o.List)
}

// append appends a text that identifies the step: texts are equal if and only if steps are (see
// equal), and no text is a prefix of another.
func (s *Step) append(text []byte) []byte {
	text = appendFlags(text, s.Post, s.Flush, s.Scale, s.Ranked, s.Kernel != nil, s.Launch != nil)
	text = appendNumbers(text, s.Round, int32(len(s.From)), int32(len(s.To)), int32(len(s.Send)),
		int32(len(s.Await)))
	for i := range s.From {
		a := &s.From[i]
		text = appendFlags(a.Peer.append(append(text, byte(a.Kind))), a.Scale)
		text = appendList(a.Region.append(text), a.Team)
	}
	for i := range s.To {
		text = s.To[i].append(text)
	}
	for i := range s.Send {
		a := &s.Send[i]
		text = appendFlags(a.Peer.append(text), a.Put, a.Relaxed, a.Silent, a.Packet,
			a.Line, a.Fused)
		text = appendList(a.Region.append(text), a.Team)
	}
	for _, e := range s.Await {
		text = appendNumbers(text, e.Lane, e.Value)
	}
	if s.Kernel != nil {
		text = fmt.Appendf(text, "%#v", *s.Kernel)
	}
	if s.Launch != nil {
		text = fmt.Appendf(text, "%#v", *s.Launch)
	}
	return text
}

// append appends a text that identifies the peer.
func (p *Peer) append(text []byte) []byte {
	return appendNumbers(append(text, byte(p.Class)), p.Rank, p.Lane, p.Tag)
}

// append appends a text that identifies the region.
func (r *Region) append(text []byte) []byte {
	text = binary.AppendUvarint(text, uint64(r.Buffer))
	return appendList(appendNumbers(text, r.Tile, r.First, r.Run, r.Period, r.Times), r.List)
}

// appendList appends the length and the numbers of a list.
func appendList(text []byte, list []int32) []byte {
	return appendNumbers(appendNumbers(text, int32(len(list))), list...)
}

// appendNumbers appends numbers as varints.
func appendNumbers(text []byte, list ...int32) []byte {
	for _, x := range list {
		text = binary.AppendVarint(text, int64(x))
	}
	return text
}

// appendFlags appends a byte for each flag.
func appendFlags(text []byte, flags ...bool) []byte {
	for _, set := range flags {
		if set {
			text = append(text, 1)
		} else {
			text = append(text, 0)
		}
	}
	return text
}
