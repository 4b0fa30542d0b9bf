package run

import (
	"fmt"
	"slices"
	"strings"

	"collsim/algos"
	"collsim/collective"
	"collsim/formats/measured"
	"collsim/hw/calibrate"
	"collsim/scenarios"
	"collsim/unit"
)

// TableOptions say of a published table what it may leave out.
type TableOptions struct {
	Kind  collective.Kind // 0: the table's
	Ranks int             // likewise
	// Algorithm is as in a scenario; "" is the table's if it is one of ours, or the usual one.
	Algorithm string
	// Place is "in" or "out" of place; "" is in place where the table has it: copies that have
	// nothing to do with links count out of place.
	Place string
	// Derived says that somebody has worked the times out from the printed bandwidth: its rounding
	// is then how far they spread.
	Derived bool
}

// TableFit is a published table and the figures with which one of our algorithms takes its times.
type TableFit struct {
	Table     *measured.Table
	Number    int // from 1, of the tables in its file
	Kind      collective.Kind
	Algorithm scenarios.Algorithm
	Ranks     int
	InPlace   bool
	Ranges    *calibrate.Ranges
	Notes     []string // what a reader should know

	series calibrate.Series
}

// TableError reports what a table lacks. Missing names what the caller must give or change:
// "kind", "ranks", "place", "algorithm" or "tables". It is empty where no option helps.
type TableError struct{ Missing, Text string }

// Error returns the text, one line.
func (e *TableError) Error() string { return e.Text }

// usualAlgorithm returns the algorithm that a table of a kind is compared with by default: the
// ring for all_reduce, all_gather and reduce_scatter, pairwise for all_to_all, direct for
// send_recv, binomial trees for broadcast, reduce, gather and scatter. It is empty for other
// kinds.
func usualAlgorithm(k collective.Kind) string {
	switch k {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter:
		return "ring"
	case collective.AllToAll:
		return "pairwise"
	case collective.SendRecv:
		return "direct"
	case collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter:
		return "binomial"
	}
	return ""
}

// FitTable fits latency and bandwidth of a switch's ports to a table, in ranges of the size of
// messages, so that the closed form of an algorithm takes its times. What the table lacks is a
// *TableError.
func FitTable(t *measured.Table, o TableOptions) (*TableFit, error) {
	f := &TableFit{Table: t, Number: 1, Kind: t.Kind, Ranks: t.Ranks}
	if err := f.complete(o); err != nil {
		return nil, err
	}
	found, err := f.choose(o.Algorithm)
	if err != nil {
		return nil, err
	}
	points, err := f.points(o)
	if err != nil {
		return nil, err
	}
	f.series = calibrate.Series{Points: points}
	if err := f.model(found); err != nil {
		return nil, &TableError{"algorithm", reason(err)}
	}
	f.Ranges, err = calibrate.FitRanges([]calibrate.Series{f.series}, calibrate.Options{})
	if err != nil {
		return nil, &TableError{"algorithm", reason(err)}
	}
	f.Notes = append(f.Notes, doubts(f.Ranges)...)
	return f, nil
}

// leastMessage is the least time of a message on any machine: a write and a read of a flag in
// another memory.
const leastMessage = 100 * unit.Nanosecond

// doubts returns the doubts about a fit, with one about a latency that is shorter than any
// machine's.
func doubts(r *calibrate.Ranges) []string {
	notes := r.Doubts()
	for i := range r.Ranges {
		e := &r.Ranges[i].Fit.Estimates[0]
		if e.Value < float64(leastMessage) {
			notes = append(notes, fmt.Sprintf("a latency of %v a message, which no machine has: what small "+
				"calls take is of the host or of a launch", unit.Time(e.Value)))
			break
		}
	}
	return notes
}

// complete settles kind and ranks.
func (f *TableFit) complete(o TableOptions) error {
	if o.Kind != 0 {
		f.Kind = o.Kind
	}
	switch {
	case f.Kind == 0:
		return &TableError{"kind", "the table does not say of which collective it is"}
	case f.Table.Kind != 0 && f.Table.Kind != f.Kind:
		return &TableError{"kind", fmt.Sprintf("the table is of %v, not of %v", f.Table.Kind, f.Kind)}
	}
	like := f.alike()
	said := f.Ranks
	if o.Ranks != 0 {
		f.Ranks = o.Ranks
	}
	switch {
	case f.Ranks == 0 && len(like) == 1:
		return &TableError{"ranks", fmt.Sprintf("the table does not say how many ranks there were; "+
			"busbw is to algbw as with %d", like[0])}
	case f.Ranks == 0:
		return &TableError{"ranks", "the table does not say how many ranks there were"}
	case f.Ranks < 2:
		return &TableError{"ranks", fmt.Sprintf("%d ranks: 2 or more are expected", f.Ranks)}
	case said != 0 && said != f.Ranks:
		f.Notes = append(f.Notes, fmt.Sprintf("the table lists %d ranks, not %d", said, f.Ranks))
	}
	f.noteTable()
	f.Table = f.Table.Whole(f.Ranks)
	if low, high, ok := f.Table.BusFactor(); ok {
		if factor := busFactor(f.Kind, f.Ranks); factor < low || factor > high {
			f.Notes = append(f.Notes, fmt.Sprintf("busbw is not to algbw as with %d ranks", f.Ranks)+
				asWith(like))
		}
	}
	return nil
}

// noteTable notes what a reader of the table should know.
func (f *TableFit) noteTable() {
	for _, note := range slices.Concat(f.Table.Notes, measured.Check(f.Table.Rows)) {
		f.Notes = append(f.Notes, note.String())
	}
	if f.Table.PerRank {
		f.Notes = append(f.Notes, fmt.Sprintf("sizes are of the block of a rank; those of %d ranks are "+
			"%d times as large", f.Ranks, f.Ranks))
	}
	if f.Table.Simulated {
		f.Notes = append(f.Notes, "the times are simulated, not measured")
	}
}

func asWith(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf(", but as with %d", ranks[0])
	}
	return ""
}

// maxAlike bounds the numbers of ranks that alike tries: beyond it, printed digits do not
// distinguish them.
const maxAlike = 4096

// alike returns the numbers of ranks for which busbw over algbw is as in the table. It is empty
// where that ratio does not depend on them.
func (f *TableFit) alike() (ranks []int) {
	low, high, ok := f.Table.BusFactor()
	if !ok || busFactor(f.Kind, 2) == busFactor(f.Kind, 3) {
		return nil
	}
	for n := 2; n <= maxAlike; n++ {
		if factor := busFactor(f.Kind, n); factor >= low && factor <= high {
			ranks = append(ranks, n)
		}
	}
	return ranks
}

func busFactor(k collective.Kind, ranks int) float64 {
	num, den := collective.Spec{Kind: k, Ranks: ranks}.BusFactor()
	return float64(num) / float64(den)
}

// choose finds the algorithm: that of this name, or the table's, or the usual one.
func (f *TableFit) choose(name string) (found algos.Algorithm, err error) {
	if name == "" {
		name = usualAlgorithm(f.Kind)
		if own, err := scenarios.ParseAlgorithm(f.Table.Algorithm); err == nil {
			if _, err := algos.Find(f.Kind, own.Name); err == nil {
				name = f.Table.Algorithm
			}
		}
	}
	if name == "" {
		return found, &TableError{"algorithm", fmt.Sprintf("there is no closed form for tables of %v",
			f.Kind)}
	}
	a, err := scenarios.ParseAlgorithm(name)
	if err == nil {
		found, err = algos.Find(f.Kind, a.Name)
	}
	if err == nil {
		err = checkParams(f.Kind, a)
	}
	if err != nil {
		return found, &TableError{"algorithm", reason(err)}
	}
	f.Algorithm = a
	f.Algorithm.Name = found.Name
	return found, nil
}

// points returns the table's times in place or out of place, as the options say. By default they
// are in place, if there are any.
func (f *TableFit) points(o TableOptions) ([]calibrate.Point, error) {
	in, out := calibrate.PointsOf(f.Table, true, o.Derived),
		calibrate.PointsOf(f.Table, false, o.Derived)
	f.InPlace = o.Place == "in" || o.Place == "" && len(in) > 0
	points := out
	if f.InPlace {
		points = in
	}
	switch {
	case len(in)+len(out) == 0:
		return nil, &TableError{"", "the table has no time of a size above 0"}
	case len(points) == 0:
		return nil, &TableError{"place", "the table has no times " + o.Place + " of place"}
	}
	return points, nil
}

// place returns "in place" or "out of place".
func (f *TableFit) place() string {
	if f.InPlace {
		return "in place"
	}
	return "out of place"
}

// Title says what was measured: "all_reduce of float on 8 ranks, in place".
func (f *TableFit) Title() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.Table.Type != "" {
		b.WriteString(" of " + f.Table.Type)
	}
	fmt.Fprintf(&b, " on %d ranks, %s", f.Ranks, f.place())
	if f.Table.Heading != "" {
		b.WriteString(", by " + f.Table.Heading)
	}
	if own := f.Table.Algorithm; own != "" && own != f.Algorithm.String() {
		b.WriteString(", there called " + own)
	}
	return b.String()
}

// Preset returns the tables [topology] and [device] of a scenario on which the algorithm takes
// these times, with intervals and residuals in comments.
func (f *TableFit) Preset() string {
	source := f.source()
	for _, note := range f.Notes {
		source += "\nNote: " + note
	}
	return f.Ranges.Preset(calibrate.Head{Title: f.Title(), Source: source}, f.Ranks)
}

// source says where the times are from and what they were held against.
func (f *TableFit) source() string {
	return fmt.Sprintf("%s, table %d, held against %v on a switch", f.Table.File, f.Number,
		f.Algorithm)
}
