// Package perfetto writes a trace for Perfetto (https://ui.perfetto.dev) and for the viewers that
// read Chrome's trace events: a process for each rank, a thread for each of its lanes, a slice for
// each step, an arrow from the step that sends a message to the one that takes it, and a process
// "links" with the speed of each counter in GB/s.
//
// Write makes a .pftrace file, Perfetto's own protobuf, which keeps ranks and lanes in order.
// WriteJSON makes the older .json, which opens in more viewers but sorts as they like (Perfetto
// orders its processes by how busy they are), is three times as large, and is limited in length.
// Both say the same: their slices, arrows and counters are equal.
//
// These formats count whole nanoseconds, a Trace picoseconds. Both ends of a slice are rounded
// down, so that slices that did not overlap still do not; the exact times are in its arguments. A
// counter shows the bytes between two moments over the picoseconds between them, to six digits.
//
// The package knows the formats and nothing about what made the trace.
package perfetto

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"collsim/trace"
	"collsim/unit"
)

// Options are what a trace does not say itself. The zero value is the default.
type Options struct {
	Devices []string // by rank: the device that it runs on ("node0/gpu3"), part of its name
}

// MaxJSONSlices is the most slices that WriteJSON writes: viewers fail on larger .json files.
const MaxJSONSlices = 1_000_000

// Write writes a trace in Perfetto's protobuf format (.pftrace): the same trace gives the same
// bytes. It returns an error if the trace is not valid or w fails.
func Write(w io.Writer, t *trace.Trace, o Options) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("perfetto: %w", err)
	}
	if err := writeProto(w, newView(t, o)); err != nil {
		return fmt.Errorf("perfetto: %w", err)
	}
	return nil
}

// WriteJSON writes a trace in Chrome's trace event format (.json). It returns an error if the trace
// has more than MaxJSONSlices intervals or is not valid, or if w fails.
func WriteJSON(w io.Writer, t *trace.Trace, o Options) error {
	if n := len(t.Intervals); n > MaxJSONSlices {
		return fmt.Errorf("perfetto: %d slices: a .json trace holds at most %d; write a .pftrace",
			n, MaxJSONSlices)
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("perfetto: %w", err)
	}
	if err := writeJSON(w, newView(t, o)); err != nil {
		return fmt.Errorf("perfetto: %w", err)
	}
	return nil
}

// view is a trace as both formats show it.
type view struct {
	trace     *trace.Trace
	processes []process // a rank each, and the links last if there are counters
	threads   []thread  // a track each
	arrows    arrows
}

// process is a group of rows. Numbers are made up, as no operating system has given any: processes
// count from 1000 (so that rank 3 is usually 1003), threads go on behind them, and none is 0, which
// would be the idle process.
type process struct {
	pid  int64
	name string
}

type thread struct {
	process int // index
	tid     int64
	name    string
}

const firstPID = 1000

func newView(t *trace.Trace, o Options) *view {
	v := &view{trace: t, arrows: newArrows(t)}
	for n, track := range t.Tracks {
		if n == 0 || t.Tracks[n-1].Rank != track.Rank {
			v.addProcess(rankName(track.Rank, o.Devices))
		}
		name := strings.ToValidUTF8(track.Name, "\uFFFD")
		if name == "" {
			name = fmt.Sprintf("lane %d", track.Lane)
		}
		v.threads = append(v.threads, thread{process: len(v.processes) - 1, name: name})
	}
	if len(t.Counters) > 0 {
		v.addProcess("links")
	}
	for n := range v.threads {
		v.threads[n].tid = firstPID + int64(len(v.processes)+n)
	}
	return v
}

func (v *view) addProcess(name string) {
	v.processes = append(v.processes, process{firstPID + int64(len(v.processes)), name})
}

// links is the process of the counters.
func (v *view) links() process { return v.processes[len(v.processes)-1] }

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

// appendArgs appends what there is to know about a step.
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

// nanoseconds is a time as the formats have it.
func nanoseconds(t unit.Time) int64 { return int64(t / unit.Nanosecond) }

// level is a counter's value from a time on.
type level struct {
	ns   int64
	GBps float64
}

// levels turns a running total into speeds: bytes per nanosecond are GB/s. Samples within the same
// nanosecond count as the last of them, and what flowed before the first nanosecond had passed
// counts as flowing from then to the next sample. Speeds count the picoseconds between samples, so
// that a link of 12.5 GB/s is not seen at 12.500012, but at least a nanosecond: a byte is whole.
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

// sixDigits rounds to so many: bytes and picoseconds are whole, and further ones say nothing.
func sixDigits(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		panic("perfetto: " + err.Error()) // it has been formatted
	}
	return rounded
}
