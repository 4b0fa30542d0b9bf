package trace

import (
	"cmp"
	"fmt"

	"collsim/unit"
)

// Row is a stream of a rank, or one of its copy engines: what executes brackets besides the lanes.
type Row struct {
	Rank   int32
	Kind   RowKind
	Number int32
	Called string // name given by the program, such as "compute"; may be empty
}

// RowKind is the kind of a row.
type RowKind uint8

// The kinds of row, in the order of a rank's rows.
const (
	Stream RowKind = iota
	CopyEngine
	Repetitions // the row that Split makes for Repeats
)

// String returns "stream", "copy engine" or "repetitions".
func (k RowKind) String() string {
	return [...]string{"stream", "copy engine", "repetitions"}[k]
}

// Name returns the row's name or, without one, its kind and number: "stream 1".
func (r Row) Name() string {
	if r.Called != "" {
		return r.Called
	}
	return fmt.Sprintf("%v %d", r.Kind, r.Number)
}

// Bracket is a unit of work that a host has launched at once: a kernel, a channel of a collective,
// copies. It appears on the row of its stream, and again on that of the copy engine that executes
// it. The host launched it at Issued. From Ready on it waited only for SMs, which it had from Start
// to End.
type Bracket struct {
	Row   int32 // index into Trace.Rows
	Track int32 // of its first lane, index into Trace.Tracks
	Lanes int32 // number of its lanes
	Name  string
	Op    string // op of a program that it belongs to; empty for none
	// thread blocks on SMs: those that stay for the whole bracket, or those of its kernels' grids
	Blocks                    int64
	Issued, Ready, Start, End unit.Time
	Waits                     []Wait // between Start and End, in order
}

// Wait is a part of a bracket in which none of its data moves and none of its kernels runs. It ends
// when rank Peer has sent something or has room for more; −1 is the bracket's own rank.
type Wait struct {
	From, To unit.Time
	Peer     int32
}

// Level counts the SMs of a rank that have a block: Value from At on.
type Level struct {
	At    unit.Time
	Value int32
}

// CompareRows orders rows by rank, kind and number.
func CompareRows(a, b Row) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Number, b.Number))
}

func compareBrackets(a, b Bracket) int {
	return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Start, b.Start),
		cmp.Compare(a.End, b.End), cmp.Compare(a.Track, b.Track))
}

// validateGPU checks rows, brackets, levels of SMs and counters of memories.
func (t *Trace) validateGPU() error {
	for n, r := range t.Rows {
		if r.Rank < 0 || r.Number < 0 || r.Kind > Repetitions ||
			n > 0 && CompareRows(t.Rows[n-1], r) >= 0 {
			return fmt.Errorf("row %d: rank %d %s does not follow", n, r.Rank, r.Name())
		}
	}
	for n, b := range t.Brackets {
		switch {
		case b.Row < 0 || int(b.Row) >= len(t.Rows) || !t.has(b.Track):
			return fmt.Errorf("bracket %d: row %d of %d, track %d of %d", n, b.Row, len(t.Rows),
				b.Track, len(t.Tracks))
		case b.Issued < 0 || b.Issued > b.Ready || b.Ready > b.Start || b.Start > b.End || b.End > t.End:
			return fmt.Errorf("bracket %d (%q): 0 <= issued <= ready <= start <= end <= %d ps is "+
				"expected, not %d, %d, %d, %d", n, b.Name, t.End, b.Issued, b.Ready, b.Start, b.End)
		case n > 0 && compareBrackets(t.Brackets[n-1], b) > 0:
			return fmt.Errorf("bracket %d (%q) comes after one of row %d that starts at %d ps", n,
				b.Name, t.Brackets[n-1].Row, t.Brackets[n-1].Start)
		case n > 0 && t.Brackets[n-1].Row == b.Row && t.Brackets[n-1].End > b.Start:
			return fmt.Errorf("bracket %d (%q) starts at %d ps, while its row is busy until %d ps",
				n, b.Name, b.Start, t.Brackets[n-1].End)
		}
	}
	for n, b := range t.Brackets {
		from := b.Start
		for _, w := range b.Waits {
			if w.From < from || w.To <= w.From || w.To > b.End || w.Peer < -1 {
				return fmt.Errorf("bracket %d (%q): it waits from %d to %d ps for rank %d: from %d to "+
					"%d ps at most, for a rank or −1, is expected", n, b.Name, w.From, w.To, w.Peer, from, b.End)
			}
			from = w.To
		}
	}
	for rank, list := range t.SMs {
		for n, l := range list {
			if l.At < 0 || l.At > t.End || l.Value < 0 || n > 0 && list[n-1].At >= l.At {
				return fmt.Errorf("SMs of rank %d: sample %d: %d at %d ps", rank, n, l.Value, l.At)
			}
		}
	}
	for n, c := range t.Memories {
		if err := t.checkCounter(c); err != nil {
			return fmt.Errorf("memory %d (%q): %w", n, c.Name, err)
		}
	}
	return nil
}
