package perfetto

import (
	"bufio"
	"cmp"
	"io"
	"slices"

	"collsim/formats/internal/wire"
	"collsim/trace"
	"collsim/unit"
)

// Field numbers and values of Perfetto's messages, from protos/perfetto/trace/ of
// https://github.com/google/perfetto: trace_packet.proto, interned_data.proto and
// track_event/*.proto, release 59.
const (
	tracePacket = 1 // Trace

	packetTimestamp  = 8 // TracePacket
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	flagCleared = 1 // TracePacket.SequenceFlags
	flagNeeds   = 2

	internedEventNames = 2 // InternedData
	internedArgNames   = 3
	internedID         = 1 // EventName, DebugAnnotationName
	internedName       = 2

	trackUUID            = 1 // TrackDescriptor
	trackName            = 2
	trackProcess         = 3
	trackThread          = 4
	trackParent          = 5
	trackCounter         = 8
	trackChildOrdering   = 11
	trackRank            = 12 // sibling_order_rank
	trackProcessOrdering = 19
	trackThreadOrdering  = 20

	childExplicit, processExplicit, threadExplicit = 3, 1, 1

	processPID  = 1 // ProcessDescriptor
	processName = 6
	threadPID   = 1 // ThreadDescriptor
	threadTID   = 2
	threadName  = 5

	counterUnitName = 6 // CounterDescriptor
	counterShareKey = 7 // counters with the same key have the same y axis

	eventArgs    = 4 // TrackEvent: debug_annotations
	eventType    = 9
	eventNameID  = 10
	eventTrack   = 11
	eventCounter = 44 // double_counter_value
	eventFlows   = 47

	typeBegin, typeEnd, typeCounter = 1, 2, 4 // TrackEvent.Type

	argNameID = 1 // DebugAnnotation
	argInt    = 4
)

// sequence is the id of the file's only packet sequence.
const sequence = 1

// protoWriter writes packets. Tracks are numbered in the order of their descriptors.
type protoWriter struct {
	*view
	out   *bufio.Writer
	names map[string]uint64 // ids of names of slices
	args  map[string]uint64 // ids of names of arguments

	packet, inner, part, head wire.Message // reused
}

func writeProto(w io.Writer, v *view) error {
	p := &protoWriter{view: v, out: bufio.NewWriterSize(w, 1<<16), names: map[string]uint64{},
		args: map[string]uint64{}}
	p.writeNames()
	p.writeTracks()
	p.writeSlices()
	p.writeCounters()
	return p.out.Flush() // with the first error of any write
}

// end writes the packet in progress.
func (p *protoWriter) end() {
	p.packet = p.packet.Uint(packetSequence, sequence)
	p.head = p.head[:0].Bytes(tracePacket, p.packet)
	p.out.Write(p.head)
	p.packet = p.packet[:0]
}

// writeNames writes the names that slices refer to by id.
func (p *protoWriter) writeNames() {
	p.inner = p.inner[:0]
	add := func(field int, name string) {
		to := p.names
		if field == internedArgNames {
			to = p.args
		}
		if _, ok := to[name]; ok {
			return
		}
		to[name] = uint64(len(p.names) + len(p.args) + 1)
		p.part = p.part[:0].Uint(internedID, to[name]).Text(internedName, name)
		p.inner = p.inner.Bytes(field, p.part)
	}
	for _, a := range appendArgs(nil, trace.Interval{}) { // an interval with all arguments
		add(internedArgNames, a.name)
	}
	if len(p.trace.Brackets) > 0 {
		for _, a := range appendBracketArgs(nil, trace.Bracket{}) {
			add(internedArgNames, a.name)
		}
	}
	for _, i := range p.trace.Intervals {
		add(internedEventNames, i.Name())
	}
	for _, b := range p.trace.Brackets {
		add(internedEventNames, bracketName(b))
		for _, w := range b.Waits {
			add(internedEventNames, p.waitName(b, w))
		}
	}
	p.packet = p.packet[:0].Uint(packetFlags, flagCleared).Bytes(packetInterned, p.inner)
	p.end()
}

// processTrack returns the track of a process. Track 0 is the root; processes follow, then threads,
// then each group of counters with its counters after it.
func (p *protoWriter) processTrack(n int) uint64 { return uint64(1 + n) }
func (p *protoWriter) threadTrack(n int) uint64  { return p.processTrack(len(p.processes) + n) }
func (p *protoWriter) groupTrack(n int) uint64 {
	track := p.threadTrack(len(p.threads))
	for _, g := range p.groups[:n] {
		track += 1 + uint64(len(g.counters))
	}
	return track
}

// writeTracks describes the tracks. The root states that processes and threads are shown in the
// order of their ranks; a viewer ignores child_ordering on the track of a process. For the same
// reason counters are in a group below their process.
func (p *protoWriter) writeTracks() {
	p.track(wire.Message(nil).Uint(trackUUID, 0).Uint(trackProcessOrdering, processExplicit).
		Uint(trackThreadOrdering, threadExplicit))
	for n, c := range p.processes {
		process := wire.Message(nil).Uint(processPID, uint64(c.pid)).Text(processName, c.name)
		p.track(wire.Message(nil).Uint(trackUUID, p.processTrack(n)).Uint(trackRank, uint64(n)).
			Bytes(trackProcess, process))
	}
	for n, c := range p.threads {
		thread := wire.Message(nil).Uint(threadPID, uint64(p.processes[c.process].pid)).
			Uint(threadTID, uint64(c.tid)).Text(threadName, c.name)
		p.track(wire.Message(nil).Uint(trackUUID, p.threadTrack(n)).
			Uint(trackRank, uint64(c.order)).
			Uint(trackParent, p.processTrack(c.process)).Bytes(trackThread, thread))
	}
	for i, g := range p.groups {
		group := p.groupTrack(i)
		p.track(wire.Message(nil).Uint(trackUUID, group).Text(trackName, g.name).
			Uint(trackParent, p.processTrack(g.process)).Uint(trackChildOrdering, childExplicit))
		for n, c := range g.counters {
			counter := wire.Message(nil).Text(counterUnitName, g.unit).Text(counterShareKey, g.share)
			p.track(wire.Message(nil).Uint(trackUUID, group+1+uint64(n)).Text(trackName, c.name).
				Uint(trackParent, group).Uint(trackRank, uint64(n)).Bytes(trackCounter, counter))
		}
	}
}

func (p *protoWriter) track(descriptor wire.Message) {
	p.packet = p.packet[:0].Bytes(packetDescriptor, descriptor)
	p.end()
}

// edge is the beginning or the end of a slice.
type edge struct {
	at    unit.Time
	slice int32 // an interval or, after all intervals, a bracket
	wait  int32 // number of a wait in the bracket, from 1; 0: the bracket itself
	end   bool
}

// writeSlices writes the slices in the order of time. Edges of the same time stay in the order of
// the tracks.
func (p *protoWriter) writeSlices() {
	var args []arg
	for _, e := range p.edges() {
		var name string
		var track uint64
		if steps := int32(len(p.trace.Intervals)); e.slice < steps {
			i := p.trace.Intervals[e.slice]
			track, name, args = p.threadTrack(int(i.Track)), i.Name(), appendArgs(args[:0], i)
		} else {
			b := p.trace.Brackets[e.slice-steps]
			track = p.threadTrack(len(p.trace.Tracks) + int(b.Row))
			if e.wait == 0 {
				name, args = bracketName(b), appendBracketArgs(args[:0], b)
			} else {
				w := b.Waits[e.wait-1]
				name, args = p.waitName(b, w), appendWaitArgs(args[:0], w)
			}
		}
		if e.end {
			p.event(e.at, typeEnd, track)
		} else {
			p.begin(e, track, name, args)
		}
		p.packet = p.packet.Uint(packetFlags, flagNeeds).Bytes(packetEvent, p.inner)
		p.end()
	}
}

// edges lists the beginnings and ends of slices in the order of time. The waits of a bracket are
// between its own.
func (p *protoWriter) edges() []edge {
	steps := int32(len(p.trace.Intervals))
	edges := make([]edge, 0, 2*(len(p.trace.Intervals)+len(p.trace.Brackets)))
	for n, i := range p.trace.Intervals {
		edges = append(edges, edge{at: i.Start, slice: int32(n)},
			edge{at: i.End, slice: int32(n), end: true})
	}
	for n, b := range p.trace.Brackets {
		whole := edge{at: b.Start, slice: steps + int32(n)}
		edges = append(edges, whole)
		for i, w := range b.Waits {
			part := edge{at: w.From, slice: whole.slice, wait: int32(i + 1)}
			edges = append(edges, part)
			part.at, part.end = w.To, true
			edges = append(edges, part)
		}
		whole.at, whole.end = b.End, true
		edges = append(edges, whole)
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	return edges
}

// begin starts a packet with the beginning of a slice in p.inner.
func (p *protoWriter) begin(e edge, track uint64, name string, args []arg) {
	p.event(e.at, typeBegin, track)
	p.inner = p.inner.Uint(eventNameID, p.names[name])
	for _, a := range args {
		p.part = p.part[:0].Uint(argNameID, p.args[a.name]).Uint(argInt, uint64(a.value))
		p.inner = p.inner.Bytes(eventArgs, p.part)
	}
	if int(e.slice) < len(p.trace.Intervals) {
		p.flows(p.arrows.taken.of(e.slice))
		p.flows(p.arrows.sent.of(e.slice))
	}
}

// event starts a packet with an event in p.inner.
func (p *protoWriter) event(at unit.Time, kind, track uint64) {
	p.packet = p.packet[:0].Uint(packetTimestamp, uint64(nanoseconds(at)))
	p.inner = p.inner[:0].Uint(eventType, kind).Uint(eventTrack, track)
}

// flows adds arrows to the event. An arrow begins at the earlier of its two events.
func (p *protoWriter) flows(messages []int32) {
	for _, m := range messages {
		p.inner = p.inner.Fixed64(eventFlows, uint64(m)+1)
	}
}

func (p *protoWriter) writeCounters() {
	for i, g := range p.groups {
		for n, c := range g.counters {
			for _, l := range c.levels {
				p.event(unit.Time(l.ns)*unit.Nanosecond, typeCounter, p.groupTrack(i)+1+uint64(n))
				p.inner = p.inner.Double(eventCounter, l.value)
				p.packet = p.packet.Bytes(packetEvent, p.inner)
				p.end()
			}
		}
	}
}
