package measured

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/internal/prose"
	"collsim/unit"
)

// Note is a remark on rows that are not to be used unseen.
type Note struct {
	File string
	Line int // of the first row concerned
	Text string
}

// String returns "FILE:LINE: TEXT".
func (n Note) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }

// Limits of plausible measurements.
const (
	leastCall = unit.Microsecond // a launch alone takes longer
	mostBusBW = 10_000           // GB/s: several times the memory bandwidth of any GPU
)

// Check returns notes on rows that are of no use or contradict each other. These are sizes that
// appear twice, wrong results, times and bandwidths that no machine has, and bandwidths that do not
// equal size over time.
func Check(rows []Row) []Note {
	var notes []Note
	for _, is := range []struct {
		text string
		of   func(r *Row) bool
	}{
		{"with #wrong above 0: what was timed was no collective", func(r *Row) bool {
			return r.Wrong >= 1
		}},
		{fmt.Sprintf("below %v a call, which no machine has", leastCall), func(r *Row) bool {
			return r.Time < leastCall
		}},
		{fmt.Sprintf("above %d GB/s of busbw, which no machine has", mostBusBW), func(r *Row) bool {
			return r.BusBW > mostBusBW
		}},
		{"whose algbw is not size over time", (*Row).contradicts},
	} {
		var first *Row
		n := 0
		for i := range rows {
			if is.of(&rows[i]) {
				first = cmp.Or(first, &rows[i])
				n++
			}
		}
		if n > 0 {
			notes = append(notes, Note{first.File, first.Line, prose.Plural(n, "row") + " " + is.text})
		}
	}
	return append(notes, twice(rows)...)
}

// contradicts reports whether algbw differs from size over time by more than the printed digits
// allow.
func (r *Row) contradicts() bool {
	if r.AlgBW == 0 || r.Size == 0 {
		return false
	}
	is := float64(r.Size) / float64(r.Time) * 1e3
	return is > 1.02*(r.AlgBW+r.AlgStep) || is < 0.98*(r.AlgBW-r.AlgStep)
}

// twice notes sizes that appear more than once in a table.
func twice(rows []Row) (notes []Note) {
	type measured struct {
		Of
		size      unit.Bytes
		root, run int
		inPlace   bool
	}
	first := map[measured]int{}
	for _, r := range rows {
		m := measured{r.Of, r.Size, r.Root, r.Run, r.InPlace}
		line, known := first[m]
		if !known {
			first[m] = r.Line
			continue
		}
		at := slices.IndexFunc(notes, func(n Note) bool { return n.File == r.File })
		if at < 0 {
			notes = append(notes, Note{r.File, r.Line, fmt.Sprintf("%v stands twice, first on line %d: "+
				"each row counts", r.Size, line)})
		}
	}
	return notes
}
