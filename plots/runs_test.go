package plots_test

import (
	"collsim/trace"
	"collsim/unit"
)

// The runs that the tests draw. Each is executed by a small executor on an ideal network: a step
// starts when the step before it has ended and its message has arrived, holds its lane for the time
// of its bytes, and its message arrives a latency after its last byte has left.

const (
	bandwidth unit.Rate = 12_500_000_000
	latency             = unit.Microsecond
	none                = -1
)

// step is one step of a lane. from and to are tracks.
type step struct {
	verb     trace.Verb
	from, to int
	chunk    int
	slice    int
	bytes    unit.Bytes
	free     bool // takes no time
}

const (
	recv   = trace.VerbRecv
	reduce = trace.VerbReduce
	keep   = trace.VerbCopy
	send   = trace.VerbSend
)

// execute runs a program per track.
func execute(tracks []trace.Track, programs [][]step) *trace.Trace {
	t := &trace.Trace{Tracks: tracks}
	type wire struct{ from, to int }
	inFlight := map[wire][]unit.Time{} // arrival times, looked up by key only
	next := make([]int, len(programs))
	ready := make([]unit.Time, len(programs))
	for progress := true; progress; {
		progress = false
		for track, program := range programs {
			for next[track] < len(program) {
				s := program[next[track]]
				start := ready[track]
				if s.from != none {
					arrived := inFlight[wire{s.from, track}]
					if len(arrived) == 0 {
						break
					}
					start = max(start, arrived[0])
					inFlight[wire{s.from, track}] = arrived[1:]
				}
				end, peer := start, s.from
				if s.to != none {
					peer = s.to
				}
				if s.to != none || s.verb&(reduce|keep) != 0 && !s.free {
					end += s.bytes.Over(bandwidth)
				}
				i := trace.Interval{
					Track: int32(track), Kind: s.verb.Kind(), Verb: s.verb, Chunk: int32(s.chunk),
					Slice: int32(s.slice), Round: int32(next[track]), Peer: none, Bytes: s.bytes,
					Ready: ready[track], Start: start, Done: start, End: end,
				}
				if peer != none {
					i.Peer = tracks[peer].Rank
				}
				t.Intervals = append(t.Intervals, i)
				if s.to != none {
					arrival := end + latency
					key := wire{track, s.to}
					inFlight[key] = append(inFlight[key], arrival)
					t.Messages = append(t.Messages, trace.Message{From: int32(track),
						To: int32(s.to), Sent: start, Arrived: arrival, Bytes: s.bytes})
					t.End = max(t.End, arrival)
				}
				ready[track] = end
				t.End = max(t.End, end)
				next[track]++
				progress = true
			}
		}
	}
	for track, program := range programs {
		if next[track] < len(program) {
			panic("a program of the test stalls")
		}
	}
	t.Sort()
	return t
}

// ringAllReduce is a ring all-reduce on p ranks, each of whose lanes has a ring over its share of
// the data, in slices.
func ringAllReduce(p, lanes, slices int, size unit.Bytes) *trace.Trace {
	var tracks []trace.Track
	var programs [][]step
	bytes := size / unit.Bytes(p*lanes*slices)
	for r := range p {
		for lane := range lanes {
			var program []step
			add := func(verb trace.Verb, chunk int) {
				chunk = lane*p + ((chunk%p)+p)%p
				for slice := range slices {
					s := step{verb: verb, from: none, to: none, chunk: chunk, slice: slice,
						bytes: bytes, free: verb&send == 0}
					if verb&recv != 0 {
						s.from = (r+p-1)%p*lanes + lane
					}
					if verb&send != 0 {
						s.to = (r+1)%p*lanes + lane
					}
					program = append(program, s)
				}
			}
			add(send, r)
			for i := 1; i < p-1; i++ {
				add(recv|reduce|send, r-i)
			}
			add(recv|reduce|keep|send, r+1)
			for i := range p - 2 {
				add(recv|keep|send, r-i)
			}
			add(recv, r+2)
			tracks = append(tracks, trace.Track{Rank: int32(r), Lane: int32(lane)})
			programs = append(programs, program)
		}
	}
	return execute(tracks, programs)
}

// recursiveDoubling is a recursive-doubling all-reduce on p ranks. The reduction takes as long as
// the message, and the ranks above a power of two are folded: both make others wait.
func recursiveDoubling(p int, size unit.Bytes) *trace.Trace {
	q := 1
	for 2*q <= p {
		q *= 2
	}
	tracks := make([]trace.Track, p)
	programs := make([][]step, p)
	for r := range p {
		tracks[r].Rank = int32(r)
		add := func(verb trace.Verb, peer int) {
			s := step{verb: verb, from: none, to: none, chunk: 0, bytes: size}
			if verb == send {
				s.to = peer
			} else {
				s.from = peer
			}
			programs[r] = append(programs[r], s)
		}
		if r >= q {
			add(send, r-q)
			add(recv, r-q)
			continue
		}
		if r+q < p {
			add(recv|reduce, r+q)
		}
		for d := 1; d < q; d *= 2 {
			add(send, r^d)
			add(recv|reduce, r^d)
		}
		if r+q < p {
			add(send, r+q)
		}
	}
	return execute(tracks, programs)
}

// everyKind is one lane with a step of each kind, and one that does little.
func everyKind() *trace.Trace {
	t := &trace.Trace{
		Tracks: []trace.Track{{Lane: 0, Name: "proxy"}, {Lane: 1, Name: "stream <a>"}},
	}
	at := unit.Time(0)
	for k := trace.Send; k <= trace.Compute; k++ {
		ready := at
		at += 40 * unit.Nanosecond
		t.Intervals = append(t.Intervals, trace.Interval{Kind: k, Chunk: int32(k), Ready: ready,
			Start: at, Done: at, End: at + 100*unit.Nanosecond})
		at += 100 * unit.Nanosecond
	}
	t.Intervals = append(t.Intervals, trace.Interval{Track: 1, Kind: trace.Signal, Chunk: none,
		Start: at / 2, Done: at / 2, End: at / 2})
	t.End = at
	return t
}

// atOnce is a run in which no step takes any time.
func atOnce() *trace.Trace {
	return &trace.Trace{
		Tracks: []trace.Track{{Rank: 0}, {Rank: 1}},
		Intervals: []trace.Interval{
			{Track: 0, Kind: trace.Send, Verb: send}, {Track: 0, Kind: trace.Recv, Verb: recv},
			{Track: 1, Kind: trace.Send, Verb: send}, {Track: 1, Kind: trace.Recv, Verb: recv},
		},
		Messages: []trace.Message{{From: 0, To: 1}, {From: 1, To: 0}},
	}
}
