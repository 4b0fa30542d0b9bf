package goal

import (
	"bytes"
	"errors"
	"io"

	"collsim/formats/internal/foreign"
	"collsim/internal/parallel"
)

// The blocks of ranks are independent, so several are parsed at once. A file is read by the window,
// which is cut into pieces where a line begins with "rank". Each piece is parsed as if no block or
// comment were open before it. If one was, or if there is any error in the piece, it is parsed
// again in order, and that result counts. So errors are those of a sequential reader.
const (
	window = 16 << 20  // at most: it grows until it has several pieces
	piece  = 128 << 10 // or longer, up to the next rank
	beside = 8         // pieces that a window is to have
)

// border marks where a file may be cut: after its first byte.
var border = []byte("\nrank")

// read reads a file.
func (r *reader) read(in io.Reader) error {
	text, n := make([]byte, r.piece), 0 // the first n bytes are not parsed yet
	for {
		var err error
		for more := 0; n < len(text) && err == nil; n += more {
			more, err = in.Read(text[n:])
		}
		end := n
		switch {
		case err == nil:
			if end = bytes.LastIndex(text, border) + 1; end == 0 {
				end = bytes.LastIndexByte(text, '\n') + 1
			}
			if end == 0 { // the line is too long
				end = n
			}
		case !errors.Is(err, io.EOF): // keeps a partial line for the next window
			end = bytes.LastIndexByte(text[:n], '\n') + 1
		}
		taken := r.taken
		if wrong := r.batch(text[:end]); wrong != nil {
			return wrong
		}
		switch {
		case errors.Is(err, io.EOF):
			return r.complete()
		case err != nil:
			return &foreign.Error{File: r.file, Line: r.line + min(1, n-end), Text: err.Error()}
		}
		rest := text[end:n]
		if len(text) < r.window && r.taken-taken < beside {
			text = make([]byte, min(2*len(text), r.window))
		}
		n = copy(text, rest)
	}
}

// ahead is a piece that was parsed before the state at its beginning is known.
type ahead struct {
	text   []byte
	line   int // number of the line before it
	blocks []block
	sound  bool // it has no error and leaves nothing open
}

// batch parses lines, in pieces.
func (r *reader) batch(text []byte) error {
	for r.declared == 0 && len(text) > 0 { // the number of ranks comes first
		n := r.first(text)
		if err := r.lines(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	var pieces []ahead
	for line := r.line; len(text) > 0; {
		n := r.first(text)
		pieces = append(pieces, ahead{text: text[:n], line: line})
		line += bytes.Count(text[:n], border[:1])
		text = text[n:]
	}
	parallel.Each(len(pieces), func() func(int) {
		return func(i int) {
			one, _ := r.idle.Get().(*reader)
			if one == nil {
				one = &reader{declared: r.declared}
			}
			p := &pieces[i]
			one.line, one.comment, one.rank, one.blocks = p.line, 0, -1, nil
			one.block.Ops, one.block.Edges = one.block.Ops[:0], one.block.Edges[:0]
			err := one.lines(p.text)
			p.blocks, p.sound = one.blocks, err == nil && one.rank < 0 && one.comment == 0
			r.idle.Put(one)
		}
	})
	for i := range pieces {
		p := &pieces[i]
		if r.take(p) {
			continue
		}
		if err := r.lines(p.text); err != nil {
			return err
		}
	}
	return nil
}

// first returns the length of the first piece of a text.
func (r *reader) first(text []byte) int {
	if len(text) > r.piece {
		if i := bytes.Index(text[r.piece:], border); i >= 0 {
			return r.piece + i + 1
		}
	}
	return len(text)
}

// take accepts the result of a piece, if it was valid.
func (r *reader) take(p *ahead) bool {
	if !p.sound || r.rank >= 0 || r.comment > 0 {
		return false
	}
	last := -1
	for _, b := range p.blocks {
		if b.rank <= last || r.seen[b.rank] { // a rank appears twice, or might
			return false
		}
		last = b.rank
	}
	for _, b := range p.blocks {
		r.seen[b.rank] = true
	}
	r.blocks, r.taken = append(r.blocks, p.blocks...), r.taken+1
	r.line = p.line + bytes.Count(p.text, border[:1])
	return true
}
