// Package perfetto writes a trace for Perfetto (https://ui.perfetto.dev) and for viewers of
// Chrome's trace events. It has a process for each rank, a thread for each of its lanes, and a
// slice for each step. An arrow leads from the step that sends a message to the one that receives
// it. A process "links" has the rate of each counter in GB/s. With a GPU model, a rank also has a
// thread for each stream and copy engine, with a slice for each bracket. Inside it is a slice for
// each time in which the bracket waits for a peer, or for its own rank, while nothing moves.
// Further processes show the rates of the memories, and the number of SMs that have a block.
//
// Write makes a .pftrace file, Perfetto's own protobuf, which keeps ranks and lanes in order.
// WriteJSON makes the older .json. It opens in more viewers, but they choose the order: Perfetto
// orders processes by how busy they are. It is three times as large, and it is limited in length.
// Slices, arrows and counters of both are equal.
//
// These formats count whole nanoseconds, a Trace picoseconds. Both ends of a slice are rounded
// down, so that slices that did not overlap still do not; the exact times are in its arguments. A
// counter shows the bytes between two samples over the picoseconds between them, to six digits.
//
// The package knows the formats and nothing about the origin of the trace.
package perfetto

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"collsim/trace"
	"collsim/unit"
)

// Options add facts that a trace does not have. The zero value is the default.
type Options struct {
	Devices []string // by rank: its device ("node0/gpu3"), a part of its name
}

// MaxJSONSlices is the most slices that WriteJSON writes: viewers fail on larger .json files.
const MaxJSONSlices = 1_000_000

// Write writes a trace in Perfetto's protobuf format (.pftrace): the same trace gives the same
// bytes. It returns an error if the trace is not valid or w fails.
func Write(w io.Writer, t *trace.Trace, o Options) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if err := writeProto(w, newView(t, o)); err != nil {
		return err
	}
	return nil
}

// WriteJSON writes a trace in Chrome's trace event format (.json). It returns an error if the trace
// has more than MaxJSONSlices intervals or is not valid, or if w fails.
func WriteJSON(w io.Writer, t *trace.Trace, o Options) error {
	if n := len(t.Intervals); n > MaxJSONSlices {
		return fmt.Errorf("%d slices: a .json trace holds at most %d; write a .pftrace",
			n, MaxJSONSlices)
	}
	if err := t.Validate(); err != nil {
		return err
	}
	if err := writeJSON(w, newView(t, o)); err != nil {
		return err
	}
	return nil
}

// view arranges a trace as both formats show it.
type view struct {
	trace     *trace.Trace
	processes []process // one for each rank, then those of the groups
	threads   []thread  // one for each track, then one for each row
	groups    []gauges
	arrows    arrows
}

// gauges holds counters of one kind, in a process of their own.
type gauges struct {
	process           int // index
	name, unit, share string
	counters          []counter
}

// counter is a row of values over time.
type counter struct {
	name   string
	levels []level
}

// process is a group of rows. Its pid is invented, as there is no operating system: processes count
// from 1000 (so that rank 3 is usually 1003), and threads continue after them. None is 0, which
// would be the idle process.
type process struct {
	pid  int64
	name string
}

type thread struct {
	process int // index
	tid     int64
	name    string
	order   int // order among all: of a rank, streams and copy engines are above lanes
}

const firstPID = 1000

func newView(t *trace.Trace, o Options) *view {
	t = t.Split()
	v := &view{trace: t, arrows: newArrows(t)}
	for n, track := range t.Tracks {
		if n == 0 || t.Tracks[n-1].Rank != track.Rank {
			name := rankName(track.Rank, o.Devices)
			if track.Alike > 1 {
				name = fmt.Sprintf("%s × %d", name, track.Alike)
			}
			v.addProcess(name)
		}
		name := strings.ToValidUTF8(track.Name, "\uFFFD")
		if name == "" {
			name = fmt.Sprintf("lane %d", track.Lane)
		}
		v.threads = append(v.threads, thread{process: len(v.processes) - 1, name: name})
	}
	for _, r := range t.Rows {
		v.threads = append(v.threads, thread{process: v.processOf(r.Rank), name: r.Name()})
	}
	v.addGroup("links", gauges{name: "speed of links", unit: "GB/s", share: "links",
		counters: speeds(t.Counters)})
	v.addGroup("memories", gauges{name: "speed of memories", unit: "GB/s", share: "memories",
		counters: speeds(t.Memories)})
	v.addGroup("SMs", gauges{name: "SMs with a block", unit: "SMs", share: "SMs",
		counters: busy(t, o)})
	for n := range v.threads {
		v.threads[n].tid = firstPID + int64(len(v.processes)+n)
		v.threads[n].order = n + len(t.Rows)
		if lanes := len(t.Tracks); n >= lanes {
			v.threads[n].order = n - lanes
		}
	}
	return v
}

// processOf returns the process of a rank. REQUIRES: the rank has tracks.
func (v *view) processOf(rank int32) int {
	i, _ := slices.BinarySearchFunc(v.trace.Tracks, rank, func(t trace.Track, rank int32) int {
		return cmp.Compare(t.Rank, rank)
	})
	return v.threads[i].process
}

// addGroup adds counters below a process, if there are any.
func (v *view) addGroup(process string, g gauges) {
	if len(g.counters) > 0 {
		g.process = len(v.processes)
		v.addProcess(process)
		v.groups = append(v.groups, g)
	}
}

// speeds converts running totals to counters of rates.
func speeds(list []trace.Counter) (to []counter) {
	for _, c := range list {
		to = append(to, counter{c.Name, levels(c)})
	}
	return to
}

// busy makes the counters of every rank's SMs. Of several samples within a nanosecond the last
// counts.
func busy(t *trace.Trace, o Options) (to []counter) {
	for rank, list := range t.SMs {
		c := counter{name: rankName(int32(rank), o.Devices)}
		for _, l := range list {
			at := level{nanoseconds(l.At), float64(l.Value)}
			if n := len(c.levels) - 1; n >= 0 && c.levels[n].ns == at.ns {
				c.levels[n] = at
			} else {
				c.levels = append(c.levels, at)
			}
		}
		to = append(to, c)
	}
	return to
}

func (v *view) addProcess(name string) {
	v.processes = append(v.processes, process{firstPID + int64(len(v.processes)), name})
}

func rankName(rank int32, devices []string) string {
	name := fmt.Sprintf("rank %d", rank)
	if int(rank) < len(devices) && devices[rank] != "" {
		name += " · " + strings.ToValidUTF8(devices[rank], "\uFFFD")
	}
	return name
}

// arg is a fact about a slice.
type arg struct {
	name  string
	value int64
}

// appendArgs appends the facts about a step.
func appendArgs(to []arg, i trace.Interval) []arg {
	if i.Chunk >= 0 {
		to = append(to, arg{"chunk", int64(i.Chunk)}, arg{"slice", int64(i.Slice)})
	}
	to = append(to, arg{"bytes", int64(i.Bytes)})
	if i.Peer >= 0 {
		to = append(to, arg{"peer", int64(i.Peer)})
	}
	return append(to, arg{"round", int64(i.Round)}, arg{"waited_ps", int64(i.Start - i.Ready)},
		arg{"start_ps", int64(i.Start)}, arg{"end_ps", int64(i.End)})
}

// nanoseconds converts a time to the unit of the formats, rounded down.
func nanoseconds(t unit.Time) int64 { return int64(t / unit.Nanosecond) }

// appendBracketArgs appends the facts about a bracket.
func appendBracketArgs(to []arg, b trace.Bracket) []arg {
	return append(to, arg{"blocks", b.Blocks}, arg{"lanes", int64(b.Lanes)},
		arg{"issued_ps", int64(b.Issued)}, arg{"ready_ps", int64(b.Ready)},
		arg{"start_ps", int64(b.Start)}, arg{"end_ps", int64(b.End)})
}

// waitName returns the name of a wait.
func (v *view) waitName(b trace.Bracket, w trace.Wait) string {
	if w.Peer < 0 {
		return fmt.Sprintf("waiting for rank %d itself", v.trace.Tracks[b.Track].Rank)
	}
	return fmt.Sprintf("waiting for rank %d", w.Peer)
}

// appendWaitArgs appends the facts about a wait.
func appendWaitArgs(to []arg, w trace.Wait) []arg {
	if w.Peer >= 0 {
		to = append(to, arg{"peer", int64(w.Peer)})
	}
	return append(to, arg{"start_ps", int64(w.From)}, arg{"end_ps", int64(w.To)})
}

// bracketName returns the name of a bracket: its operation, and its part in that.
func bracketName(b trace.Bracket) string {
	name := b.Name
	switch {
	case name == "" && b.Op == "":
		name = "bracket"
	case name == "":
		name = b.Op
	case b.Op != "" && b.Op != name:
		name = b.Op + ": " + name
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// level is a counter's value from a time on.
type level struct {
	ns    int64
	value float64
}

// levels converts a running total to rates: bytes per nanosecond are GB/s. Several samples within a
// nanosecond count as the last of them. Bytes of the first partial nanosecond count from its end to
// the next sample. Rates are over the picoseconds between samples, so that a link of 12.5 GB/s does
// not show as 12.500012. But they are over at least a nanosecond, since bytes are whole.
func levels(c trace.Counter) []level {
	var at []unit.Time
	var total []unit.Bytes
	for _, s := range c.Samples {
		if n := len(at) - 1; n >= 0 && nanoseconds(at[n]) == nanoseconds(s.At) {
			at[n], total[n] = s.At, s.Value
		} else {
			at, total = append(at, s.At), append(total, s.Value)
		}
	}
	if len(at) == 0 {
		return nil
	}
	if len(at) == 1 && total[0] > 0 {
		at, total = append(at, at[0]+unit.Nanosecond), append(total, total[0])
	}
	total[0] = 0
	var out []level
	for n := range at[1:] {
		held := max(at[n+1]-at[n], unit.Nanosecond)
		speed := float64(total[n+1]-total[n]) * float64(unit.Nanosecond) / float64(held)
		out = append(out, level{nanoseconds(at[n]), sixDigits(speed)})
	}
	return append(out, level{nanoseconds(at[len(at)-1]), 0})
}

// sixDigits rounds to six digits: bytes and picoseconds are whole, so further digits mean nothing.
func sixDigits(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		panic("perfetto: " + err.Error()) // it was formatted above
	}
	return rounded
}
