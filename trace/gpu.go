package trace

import (
	"cmp"
	"fmt"

	"collsim/unit"
)

// Row is what carries brackets out beside the lanes: a stream of a rank, or one of its copy
// engines.
type Row struct {
	Rank   int32
	Kind   RowKind
	Number int32
	Called string // by who issues to it, as "compute"; may be empty
}

// RowKind is what a row is.
type RowKind uint8

// The kinds of row, in the order in which a rank's stand.
const (
	Stream RowKind = iota
	CopyEngine
	Repetitions // what Split makes of Repeats
)

// String is "stream", "copy engine" or "repetitions".
func (k RowKind) String() string {
	return [...]string{"stream", "copy engine", "repetitions"}[k]
}

// Name is what the row is called, or such as "stream 1".
func (r Row) Name() string {
	if r.Called != "" {
		return r.Called
	}
	return fmt.Sprintf("%v %d", r.Kind, r.Number)
}

// Bracket is what a host has launched at once: a kernel, a channel of a collective, copies. It
// stands on its stream's row, and once more on that of the copy engine that carries it out. It was
// Issued by the host, waited for nothing but places from Ready on, and had them from Start to End.
type Bracket struct {
	Row                       int32 // index into Trace.Rows
	Track                     int32 // of its first lane, index into Trace.Tracks
	Lanes                     int32 // that it is
	Name                      string
	Op                        string // of a program that it is a part of, empty of none
	Blocks                    int64  // on SMs: that stay all the time, or those of its kernels' grids
	Issued, Ready, Start, End unit.Time
	Waits                     []Wait // between Start and End, in order
}

// Wait is a part of a bracket in which nothing of it moves and no kernel of it runs: until the
// Peer, a rank, has sent something or has room for more; −1 is its own rank.
type Wait struct {
	From, To unit.Time
	Peer     int32
}

// Level is how many of a rank's SMs have a block: Value from At on.
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

// validateGPU checks rows, brackets, SMs and memories.
func (t *Trace) validateGPU() error {
	for n, r := range t.Rows {
		if r.Rank < 0 || r.Number < 0 || r.Kind > Repetitions ||
			n > 0 && CompareRows(t.Rows[n-1], r) >= 0 {
			return fmt.Errorf("trace: row %d: rank %d %s does not follow", n, r.Rank, r.Name())
		}
	}
	for n, b := range t.Brackets {
		switch {
		case b.Row < 0 || int(b.Row) >= len(t.Rows) || !t.has(b.Track):
			return fmt.Errorf("trace: bracket %d: row %d of %d, track %d of %d", n, b.Row, len(t.Rows),
				b.Track, len(t.Tracks))
		case b.Issued < 0 || b.Issued > b.Ready || b.Ready > b.Start || b.Start > b.End || b.End > t.End:
			return fmt.Errorf("trace: bracket %d (%q): 0 <= issued <= ready <= start <= end <= %d ps is "+
				"expected, not %d, %d, %d, %d", n, b.Name, t.End, b.Issued, b.Ready, b.Start, b.End)
		case n > 0 && compareBrackets(t.Brackets[n-1], b) > 0:
			return fmt.Errorf("trace: bracket %d (%q) comes after one of row %d that starts at %d ps", n,
				b.Name, t.Brackets[n-1].Row, t.Brackets[n-1].Start)
		case n > 0 && t.Brackets[n-1].Row == b.Row && t.Brackets[n-1].End > b.Start:
			return fmt.Errorf("trace: bracket %d (%q) starts at %d ps, while its row is busy until %d ps",
				n, b.Name, b.Start, t.Brackets[n-1].End)
		}
	}
	for n, b := range t.Brackets {
		from := b.Start
		for _, w := range b.Waits {
			if w.From < from || w.To <= w.From || w.To > b.End || w.Peer < -1 {
				return fmt.Errorf("trace: bracket %d (%q): it waits from %d to %d ps for rank %d: from %d to "+
					"%d ps at most, for a rank or −1, is expected", n, b.Name, w.From, w.To, w.Peer, from, b.End)
			}
			from = w.To
		}
	}
	for rank, list := range t.SMs {
		for n, l := range list {
			if l.At < 0 || l.At > t.End || l.Value < 0 || n > 0 && list[n-1].At >= l.At {
				return fmt.Errorf("trace: SMs of rank %d: sample %d: %d at %d ps", rank, n, l.Value, l.At)
			}
		}
	}
	for n, c := range t.Memories {
		if err := t.checkCounter(c); err != nil {
			return fmt.Errorf("trace: memory %d (%q): %w", n, c.Name, err)
		}
	}
	return nil
}
