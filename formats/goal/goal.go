// Package goal reads and writes GOAL, the schedules of LogGOPSim and ATLAHS: for every rank, sends,
// receives and computations, with "requires" and "irequires" as the only order.
//
//	num_ranks 2
//
//	rank 0 {
//	l1: send 4096b to 1 tag 7
//	l2: recv 4096b from 1 tag 7
//	l3: calc 100
//	l3 requires l2
//	}
//
// A statement is a line. Optional fields stand in the order tag, cpu, nic; labels are those of
// their rank and are defined before they are used. The computation's time is in nanoseconds, as
// the parameters of LogGOPSim are. A GOAL file has sizes but no data, so its verdict is causal:
// see package opgraph, which lowers it, and foreign.Options.As.
//
// T. Hoefler, C. Siebert and A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009;
// T. Hoefler, T. Schneider and A. Lumsdaine, "LogGOPSim", HPDC 2010. The grammar is that of
// LogGOPSim's txt2bin, and beyond it only a comment may follow a statement.
package goal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/internal/nearest"
	"collsim/unit"
)

// psPerUnit is the number of picoseconds in a unit of calc.
const psPerUnit = int64(unit.Nanosecond)

// Read reads a GOAL file. Errors are *foreign.Error with the line. It refuses receives from any
// source or with any tag, since the file does not say which send they match.
func Read(in io.Reader, o foreign.Options) (*foreign.File, error) {
	if err := opgraph.Refuse(&o); err != nil {
		return nil, err
	}
	ranks, err := readRanks(in, o.File)
	if err != nil {
		return nil, err
	}
	g := &opgraph.Graph{Format: "goal", Name: "goal", Ranks: ranks, Simulator: "LogGOPSim"}
	g.Where = func(rank, op int) foreign.Place {
		x := &ranks[rank].Ops[op]
		return foreign.Place{Line: int(x.Line), Block: -1, Step: -1, Text: text(x)}
	}
	return g.Lower(&o)
}

// readRanks reads the operations of all ranks.
func readRanks(in io.Reader, file string) ([]opgraph.Rank, error) {
	r := reader{file: file, rank: -1, window: window, piece: piece}
	err := r.read(in)
	return r.ranks, err
}

// text formats an operation as in the file, without its label.
func text(o *opgraph.Op) string {
	switch o.Kind {
	case opgraph.Send:
		return fmt.Sprintf("send %db to %d tag %d", o.Amount, o.Peer, o.Tag)
	case opgraph.Recv:
		return fmt.Sprintf("recv %db from %d tag %d", o.Amount, o.Peer, o.Tag)
	}
	return fmt.Sprintf("calc %d", o.Amount/psPerUnit)
}

// reader parses a file into a graph.
type reader struct {
	file    string
	window  int // bytes that are read at a time, and bytes of a piece
	piece   int
	taken   int       // number of pieces accepted from parallel parsing
	idle    sync.Pool // of readers of pieces, whose memory is used again
	line    int
	comment int     // the line of an open /*, 0 for none
	all     []token // tokens of the line
	tokens  []token // those not consumed yet

	declared int    // number of ranks, 0 before num_ranks
	seen     []bool // by rank: its block has begun; nil in a piece, where that is checked later
	blocks   []block
	ranks    []opgraph.Rank // of the whole file
	rank     int            // of the open block, −1 for none
	opened   int            // its line
	block    opgraph.Rank
	edges    opgraph.Kept // of the blocks
	labels   labels
}

// block holds the operations of a rank.
type block struct {
	rank int
	opgraph.Rank
}

// maxLine is the most bytes of a line.
const maxLine = 1 << 16

func (r *reader) fail(format string, args ...any) error {
	return &foreign.Error{File: r.file, Line: r.line, Text: fmt.Sprintf(format, args...)}
}

// lines parses lines.
func (r *reader) lines(text []byte) error {
	for len(text) > 0 {
		line, rest := text, text[len(text):]
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, rest = text[:i+1], text[i+1:]
		}
		r.line++
		if len(line) > maxLine {
			return r.fail("a line of more than %d bytes; a statement is a line", maxLine)
		}
		if err := r.scan(line); err != nil {
			return err
		}
		if err := r.statements(); err != nil {
			return err
		}
		text = rest
	}
	return nil
}

// complete reports what is missing at the end of the file.
func (r *reader) complete() error {
	switch {
	case r.comment > 0:
		return r.fail("the comment that begins in line %d has no end", r.comment)
	case r.rank >= 0:
		return r.fail("rank %d, which begins in line %d, has no closing brace", r.rank, r.opened)
	case r.declared == 0:
		return r.fail("num_ranks is missing")
	}
	if rank := slices.Index(r.seen, false); rank >= 0 {
		return &foreign.Error{File: r.file, Text: fmt.Sprintf(
			"rank %d has no block; num_ranks %d needs one for each", rank, r.declared)}
	}
	r.ranks = make([]opgraph.Rank, r.declared)
	for _, b := range r.blocks {
		r.ranks[b.rank] = b.Rank
	}
	return nil
}

// statements parses the statements of a line.
func (r *reader) statements() error {
	for len(r.tokens) > 0 {
		first := r.tokens[0]
		var err error
		switch {
		case first.is("}") && r.rank >= 0:
			r.close()
		case first.is("num_ranks"):
			err = r.numRanks()
		case first.is("rank"):
			err = r.open()
		case first.kind != word:
			err = r.fail("%v: %s", first, r.expected())
		case r.rank < 0:
			err = r.fail("%v stands in no rank: %s", first, r.expected())
		default:
			err = r.statement()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) expected() string {
	switch {
	case r.rank >= 0:
		return "a label, send, recv, calc or } is expected"
	case r.declared == 0:
		return "num_ranks is expected"
	}
	return "rank is expected"
}

func (r *reader) numRanks() error {
	r.tokens = r.tokens[1:]
	n, err := r.number("the number of ranks", 1, opgraph.MaxRanks)
	if err != nil {
		return err
	}
	if r.declared > 0 {
		return r.fail("num_ranks is given twice: %d, and now %d", r.declared, n)
	}
	r.declared, r.seen = int(n), make([]bool, n)
	return nil
}

// open parses the beginning of a rank's block.
func (r *reader) open() error {
	r.tokens = r.tokens[1:]
	switch {
	case r.declared == 0:
		return r.fail("rank before num_ranks")
	case r.rank >= 0:
		return r.fail("rank %d, which begins in line %d, has no closing brace", r.rank, r.opened)
	}
	n, err := r.number("a rank", 0, int64(r.declared)-1)
	if err != nil {
		return err
	}
	if err := r.need("{"); err != nil {
		return err
	}
	if r.seen != nil {
		if r.seen[n] {
			return r.fail("rank %d has two blocks", n)
		}
		r.seen[n] = true
	}
	r.rank, r.opened = int(n), r.line
	r.labels.clear()
	return nil
}

// close stores the block of a rank, in memory of its size.
func (r *reader) close() {
	if r.edges == nil {
		r.edges = opgraph.Kept{}
	}
	r.blocks = append(r.blocks, block{r.rank, opgraph.Rank{Ops: slices.Clone(r.block.Ops),
		Edges: r.edges.Keep(r.block.Edges)}})
	r.block.Ops, r.block.Edges = r.block.Ops[:0], r.block.Edges[:0]
	r.tokens, r.rank = r.tokens[1:], -1
}

// statement parses a statement that ends with its line.
func (r *reader) statement() error {
	var label []byte
	if first := r.tokens[0]; !first.operation() {
		label, r.tokens = first.text, r.tokens[1:]
		switch {
		case len(r.tokens) > 0 && r.tokens[0].is("requires"):
			return r.requires(label, false)
		case len(r.tokens) > 0 && r.tokens[0].is("irequires"):
			return r.requires(label, true)
		case len(r.tokens) == 0 || !r.tokens[0].is(":"):
			return r.unknown(label)
		}
		r.tokens = r.tokens[1:]
	}
	if len(r.tokens) == 0 || !r.tokens[0].operation() {
		return r.fail("%s: send, recv or calc is expected, not %v", label, r.next())
	}
	op, err := r.operation()
	if err != nil {
		return err
	}
	if err := r.end(); err != nil {
		return err
	}
	ops := r.block.Ops
	if len(label) > 0 {
		if first, twice := r.labels.find(label); twice {
			return r.fail("label %s is already that of line %d", label, ops[first].Line)
		}
		r.labels.add(label, int32(len(ops)))
	}
	r.block.Ops = append(ops, op)
	return nil
}

// unknown refuses a word that is neither an operation nor a label followed by its statement.
func (r *reader) unknown(word []byte) error {
	e := &foreign.Error{File: r.file, Line: r.line, Text: fmt.Sprintf(
		"%s: after a label, a colon, requires or irequires is expected, not %v", word, r.next())}
	names := nearest.To(string(word), []string{"send", "recv", "calc", "rank", "num_ranks"}, 1)
	if len(names) > 0 {
		e.Hint = "did you mean " + names[0] + "?"
	}
	return e
}

// requires parses the rest of a dependency.
func (r *reader) requires(label []byte, start bool) error {
	r.tokens = r.tokens[1:]
	if len(r.tokens) == 0 || r.tokens[0].kind != word {
		return r.fail("%s requires: a label is expected, not %v", label, r.next())
	}
	op, err := r.find(label)
	if err != nil {
		return err
	}
	on, err := r.find(r.tokens[0].text)
	if err != nil {
		return err
	}
	r.tokens = r.tokens[1:]
	r.block.Edges = append(r.block.Edges, opgraph.Edge{Op: op, On: on, Start: start})
	return r.end()
}

// find returns the operation of a label.
func (r *reader) find(label []byte) (int32, error) {
	if op, known := r.labels.find(label); known {
		return op, nil
	}
	e := &foreign.Error{File: r.file, Line: r.line, Text: fmt.Sprintf(
		"label %s is not defined above in rank %d", label, r.rank)}
	if names := nearest.To(string(label), r.labels.some(), 3); len(names) > 0 {
		e.Hint = "did you mean " + strings.Join(names, ", ") + "?"
	}
	return 0, e
}
