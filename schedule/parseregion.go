package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// peer reads "3", "3-i/1" (lane 1), "pad 3", "3/1:7" (tag 7). Without a lane it is the lane's own.
func (r *reader) peer(class Class) (p Peer, err error) {
	p.Class = class
	for c, name := range classNames {
		if r.take(name) {
			p.Class = Class(c)
		}
	}
	text, tag, tagged := strings.Cut(r.word(), ":")
	if tagged {
		n, err := numbers[int32]([]string{tag}, 0, maxReach)
		if err != nil {
			return p, fmt.Errorf("tag %w", err)
		}
		p.Tag = n[0]
	}
	rank, lane, given := strings.Cut(text, "/")
	if p.Rank, err = r.expr(rank); err != nil {
		return p, fmt.Errorf("a rank is expected: %w", err)
	}
	if given {
		p.Lane, err = r.expr(lane)
		return p, err
	}
	p.Lane = r.keep(r.bundle.own())
	return p, nil
}

// region reads the format of writer.region.
func (r *reader) region() (Region, error) {
	text := r.word()
	wrong := fmt.Errorf("%q is no region; regions look like in, out[3-i], out[1 x2 +4 x3], "+
		"scratch<i>[2], in{0,2,3}", text)
	end := strings.IndexAny(text, "<[{")
	if end < 0 {
		end = len(text)
	}
	b, ok := r.s.bufferOf(text[:end])
	if !ok {
		return Region{}, wrong
	}
	var err error
	g := Region{Buffer: b, Run: 1, Times: 1}
	text = text[end:]
	if tile, rest, ok := strings.Cut(text, ">"); ok && strings.HasPrefix(tile, "<") {
		if g.Tile, err = r.expr(tile[1:]); err != nil {
			return g, err
		}
		text = rest
	}
	switch {
	case text == "":
		g.Run = r.s.blocks[b]
	case text[0] == '{' && strings.HasSuffix(text, "}"):
		g.Run, g.Times = 0, 0
		g.List, err = numbers[int32](strings.Split(text[1:len(text)-1], ","), 0, r.s.blocks[b]-1)
	case text[0] == '[' && strings.HasSuffix(text, "]"):
		words := strings.Fields(text[1 : len(text)-1])
		if len(words) == 0 {
			return g, wrong
		}
		if g.First, err = r.expr(words[0]); err == nil && !g.repeats(words[1:], r.s.blocks[b]) {
			err = wrong
		}
	default:
		err = wrong
	}
	return g, err
}

// repeats reads " x2 +4 x3", and reports whether it is valid.
func (r *Region) repeats(words []string, blocks int32) bool {
	if len(words) != 0 && len(words) != 1 && len(words) != 3 {
		return false
	}
	for i, into := range []*int32{&r.Run, &r.Period, &r.Times}[:len(words)] {
		text, times := strings.CutPrefix(words[i], "x")
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || times != (i != 1) || n < -int64(blocks) || n > int64(blocks) ||
			i != 1 && n < 1 {
			return false
		}
		*into = int32(n)
	}
	return int64(r.Run)*int64(r.Times) <= int64(blocks)
}

// expr reads an affine number and returns its index in exprs.
func (r *reader) expr(text string) (int32, error) {
	a, err := parseAffine(text)
	return r.keep(a), err
}

// keep appends a number to exprs and returns its index.
func (r *reader) keep(a affine) int32 {
	r.exprs = append(r.exprs, a)
	return int32(len(r.exprs) - 1)
}

// settle replaces the indices in variables by their numbers, and puts their strides into the leaf.
func (r *reader) settle(s Step) (leaf, error) {
	depth := len(r.loops)
	l := leaf{step: s, moves: s.Moves(), strides: make([][]int32, depth+1)}
	var err error
	l.step.variables(func(x *int32, m modulus) {
		a := r.exprs[*x]
		base, ok := a.from(r.bundle)
		if *x = base; !ok {
			err = fmt.Errorf("%v goes too far", a)
		}
		for d, stride := range a.strides {
			if d > depth && stride != 0 || d == 0 && stride != 0 && r.bundle.count == 1 {
				err = fmt.Errorf("%v: there is no such loop or bundle of lanes around the step", a)
			}
			if d <= depth {
				l.strides[d] = append(l.strides[d], stride)
				if reach := int64(stride) * int64(r.times(d)); reach > maxReach || reach < -maxReach {
					err = fmt.Errorf("%v goes too far", a)
				}
			}
		}
	})
	for d := range l.strides {
		l.strides[d] = nonzero(l.strides[d])
	}
	return l, err
}

// times returns how often the d-th loop around the step repeats it; for 0, its bundle.
func (r *reader) times(d int) int32 {
	if d == 0 {
		return r.bundle.count
	}
	c := r.roles[len(r.roles)-1]
	return c.nodes[r.loops[d-1].node].count
}

// from returns the value in the first lane of a bundle, and whether a program can hold it.
func (a affine) from(u *bundle) (int32, bool) {
	base := a.base + int64(a.strides[0])*int64(u.first)
	return int32(base), -maxReach <= base && base <= maxReach
}

// parseAffine parses a number such as "7-i", "2+3j+l", "-2i" or "0".
func parseAffine(text string) (a affine, err error) {
	wrong := fmt.Errorf("%q: a number is expected, as in 3, 7-i or 2+3j", text)
	if text == "" {
		return a, wrong
	}
	for rest := text; rest != ""; {
		end := 1 + strings.IndexAny(rest[1:], "+-")
		if end == 0 {
			end = len(rest)
		}
		term := strings.TrimPrefix(rest[:end], "+")
		rest = rest[end:]
		d, most := -1, int64(maxReach*maxLanes)
		if n := len(term); n > 0 {
			if d = strings.IndexByte(variableNames, term[n-1]); d >= 0 {
				most, term = maxReach, term[:n-1]
				if term == "" || term == "-" {
					term += "1"
				}
			}
		}
		n, err := strconv.ParseInt(term, 10, 64)
		if err != nil || n > most || n < -most || d < 0 && a.base != 0 || d >= 0 && a.strides[d] != 0 {
			return a, wrong
		}
		if d < 0 {
			a.base = n
		} else {
			a.strides[d] = int32(n)
		}
	}
	return a, nil
}
