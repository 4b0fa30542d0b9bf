package measured

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/internal/diag"
	"collsim/unit"
)

// Of holds the facts that all rows of a table share. Those that a file does not state are zero.
type Of struct {
	File                string
	Heading             string // of a table of OSU's, which has its library and its test
	Kind                collective.Kind
	Algorithm, Protocol string // as spelt in the file
	Type, Op            string // as spelt in the file; Op is "" or "none" where nothing is reduced
	Ranks, Nodes        int
	// PerProcess counts the GPUs of a process.
	PerProcess int
	// PerRank says that sizes count the block of a rank, since the file does not state the ranks.
	PerRank   bool
	Simulated bool // by collsim
}

// Row is a measured time of one call, out of place or in place.
type Row struct {
	Of
	Line    int        // from 1; in a JSON document of results the number of the result
	Run     int        // from 1: how often this size was measured by then; 0 where forms have no runs
	Size    unit.Bytes // as in nccl-tests: for all_gather and its like the whole vector
	Count   int64      // elements
	Root    int        // −1 if there is none
	InPlace bool       // false for a table that does not state it
	Time    unit.Time  // above 0
	Spread  unit.Time  // between the quartiles, if the table has them
	// AlgBW and BusBW are as printed, in GB/s of 10⁹; 0 if missing. AlgStep and BusStep are half a
	// unit of their last printed digits.
	AlgBW, BusBW, AlgStep, BusStep float64
	// Wrong is as printed: the number of wrong elements or, in older versions, the largest error.
	// −1 if it was not checked.
	Wrong  float64
	Choice Choice // that the library reported for this size
}

// Choice holds what a library has chosen for a call, as spelt in its log; zero where it is silent.
type Choice struct {
	Algorithm, Protocol string
	Channels            int
}

// Data holds what a file has.
type Data struct {
	Rows  []Row
	Facts Facts
	Notes []Note // on what was left out or understood in one of several ways
}

// Table holds rows that measure the same over sizes, in the order of the file. Several may have the
// same size.
type Table struct {
	Of
	Rows  []Row
	Notes []Note // on the file
}

// Tables groups rows by the facts that they share, in their order.
func Tables(rows []Row) []Table {
	var all []Table
	place := map[Of]int{}
	for _, r := range rows {
		at, known := place[r.Of]
		if !known {
			at = len(all)
			place[r.Of] = at
			all = append(all, Table{Of: r.Of})
		}
		all[at].Rows = append(all[at].Rows, r)
	}
	return all
}

// ReadTables returns the rows of a file as tables.
func ReadTables(file string, text []byte) ([]Table, error) {
	d, err := Read(file, text)
	if err != nil {
		return nil, err
	}
	all := Tables(d.Rows)
	for i := range all {
		all[i].Notes = d.Notes
	}
	return all, nil
}

// Whole returns the table with sizes of the whole vector, as nccl-tests counts them, without those
// above 1024 TiB.
func (t *Table) Whole(ranks int) *Table {
	if !t.PerRank {
		return t
	}
	whole := *t
	whole.PerRank, whole.Rows = false, nil
	for _, r := range t.Rows {
		if int64(r.Size) <= mostWhole/int64(ranks) {
			r.PerRank, r.Size = false, r.Size*unit.Bytes(ranks)
			whole.Rows = append(whole.Rows, r)
		}
	}
	return &whole
}

// At returns the rows in place, or out of place.
func (t *Table) At(inPlace bool) []Row {
	var rows []Row
	for _, r := range t.Rows {
		if r.InPlace == inPlace {
			rows = append(rows, r)
		}
	}
	return rows
}

// BusFactor returns the range in which the ratio of busbw to algbw is, within the printed digits,
// for all rows. The ratio depends on the collective and the number of ranks alone. ok is false
// where the table has no such columns, or contradicts itself.
func (t *Table) BusFactor() (low, high float64, ok bool) {
	low, high = 0, math.Inf(1)
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.AlgBW <= r.AlgStep || r.BusBW <= 0 {
			continue
		}
		low = max(low, (r.BusBW-r.BusStep)/(r.AlgBW+r.AlgStep))
		high = min(high, (r.BusBW+r.BusStep)/(r.AlgBW-r.AlgStep))
		ok = true
	}
	return low, high, ok && low <= high
}

// perRank reports whether libraries count the size of a collective by the block of a rank, where
// nccl-tests counts the whole vector. NCCL does so for reduce_scatter as well, OSU does not.
func perRank(k collective.Kind) bool {
	switch k {
	case collective.AllGather, collective.AllGatherV, collective.Gather, collective.Scatter,
		collective.AllToAll, collective.AllToAllV:
		return true
	}
	return false
}

// ParseError describes an error in a table, its line, and the column where it is known.
type ParseError = diag.Problem

// columnName names a column, from 1, for an error; in CSV a field is a column.
func columnName(n int) string { return fmt.Sprintf("column %d", n) }

// quoted shortens and quotes what an error repeats of a table; nothing stays nothing.
func quoted(value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf("%.60q", value)
}
