package plots

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"collsim/trace"
	"collsim/unit"
)

// content selects what a row shows.
type content uint8

const (
	ofLane     content = iota // the steps of a lane
	ofBrackets                // brackets of a stream or a copy engine, by operation
	ofLevels                  // the share of something that is busy
)

// Rows that are not lanes use the fields of an interval differently. Of a bracket, Chunk selects
// colour and letter, Peer is the index of its operation, and Round that of its activity. Of a
// level, Bytes is a share in millionths.
const wholeLevel = 1_000_000

// barrier is the activity of brackets that only wait.
const barrier = "barrier"

// rowTrace makes the tracks that a timeline shows from those of a trace: streams if there are
// operations, else lanes. Copy engines follow, then the busy shares of SMs and memory. ops collects
// the operations of all timelines.
func (p Panel) rowTrace(ops *activities) Panel {
	t := p.Trace
	if t.Rows == nil {
		return p
	}
	m := rowMaker{Panel: p, ops: ops, lanes: make([]int32, len(t.Tracks)),
		streams: map[rankLane]int32{}}
	row, rank := 0, int32(0)
	for n := 0; n < len(t.Tracks); rank++ {
		lane := int32(0)
		for ; n < len(t.Tracks) && t.Tracks[n].Rank == rank; n++ {
			if k := t.Tracks[n]; p.Ops == nil {
				m.lanes[n] = m.add(k, ofLane, t.On(int32(n)))
				lane = k.Lane + 1
			}
		}
		for ; row < len(t.Rows) && t.Rows[row].Rank == rank; row++ {
			if r := t.Rows[row]; p.Ops != nil || r.Kind == trace.CopyEngine {
				m.add(trace.Track{Rank: rank, Lane: lane, Name: r.Name()}, ofBrackets,
					m.brackets(int32(row), lane))
				lane++
			}
		}
		m.addLevels(rank, lane)
	}
	return m.done()
}

// rankLane is a lane of a rank.
type rankLane struct{ rank, lane int32 }

// rowMaker makes the tracks of a timeline.
type rowMaker struct {
	Panel
	ops     *activities
	tracks  []trace.Track
	kinds   []content
	steps   []trace.Interval
	does    []string
	lanes   []int32            // by track of the trace: its new lane
	streams map[rankLane]int32 // by lane of a bracket: the new lane of its stream; never iterated
	next    int                // index of the next bracket
}

func (m *rowMaker) add(k trace.Track, of content, steps []trace.Interval) int32 {
	at := int32(len(m.tracks))
	m.tracks, m.kinds = append(m.tracks, k), append(m.kinds, of)
	for _, i := range steps {
		i.Track = at
		m.steps = append(m.steps, i)
	}
	return at
}

// brackets returns the brackets of a row as steps of a lane.
func (m *rowMaker) brackets(row, lane int32) (list []trace.Interval) {
	t := m.Trace
	for ; m.next < len(t.Brackets) && t.Brackets[m.next].Row <= row; m.next++ {
		b := t.Brackets[m.next]
		if b.Row < row {
			continue
		}
		op := b.Op
		if op == "" {
			op = b.Name
		}
		look := op
		if m.stems {
			look = stem(op)
		}
		class := int32(-1)
		if turn, is := m.Turns[op]; is {
			class = m.ops.turn(turn)
		}
		if class < 0 {
			class = m.ops.index(look)
		}
		list = appendBracket(list, &b, trace.Interval{Kind: trace.Compute, Chunk: class,
			Peer: index(&m.does, op), Round: index(&m.does, b.Name)})
		if first := t.Tracks[b.Track]; t.Rows[row].Kind == trace.Stream {
			for n := range b.Lanes {
				m.streams[rankLane{first.Rank, first.Lane + n}] = lane
			}
		}
	}
	return list
}

// appendBracket appends the times in which a bracket is at work. Before each is the time that it
// waited for SMs or for a peer. A barrier only waits.
func appendBracket(list []trace.Interval, b *trace.Bracket, i trace.Interval) []trace.Interval {
	ready, start := b.Ready, b.Start
	add := func(end unit.Time) {
		i.Ready, i.Start, i.Done, i.End = ready, start, end, end
		list = append(list, i)
	}
	for _, w := range b.Waits {
		if b.Name == barrier {
			break
		}
		if w.From > start {
			add(w.From)
			ready = w.From
		}
		start = w.To
	}
	add(b.End)
	return list
}

// addLevels adds rows for the busy share of a rank's SMs and memory, where it is known.
func (m *rowMaker) addLevels(rank, lane int32) {
	t := m.Trace
	if int(rank) < len(t.SMs) && m.SMs > 0 {
		var list []trace.Interval
		for n, l := range t.SMs[rank] {
			end := t.End
			if n+1 < len(t.SMs[rank]) {
				end = t.SMs[rank][n+1].At
			}
			list = appendLevel(list, l.At, end, float64(l.Value)/float64(m.SMs))
		}
		if list != nil {
			m.add(trace.Track{Rank: rank, Lane: lane, Name: fmt.Sprintf("SMs of %d", m.SMs)}, ofLevels, list)
			lane++
		}
	}
	if int(rank) < len(t.Memories) && m.HBM > 0 && m.HBM != unit.Unlimited {
		var list []trace.Interval
		for n, s := range t.Memories[rank].Samples {
			if n == 0 {
				continue
			}
			before := t.Memories[rank].Samples[n-1]
			full := float64(s.At-before.At) * float64(m.HBM) / float64(unit.Second)
			list = appendLevel(list, before.At, s.At, float64(s.Value-before.Value)/full)
		}
		if list != nil {
			m.add(trace.Track{Rank: rank, Lane: lane, Name: fmt.Sprintf("HBM of %v", m.HBM)}, ofLevels, list)
		}
	}
}

// appendLevel appends the interval from … to with the share of SMs, or of bandwidth, that is busy
// in it. It extends the last interval if the share is the same, and drops a share of 0.
func appendLevel(list []trace.Interval, from, to unit.Time, share float64) []trace.Interval {
	parts := unit.Bytes(math.Round(min(share, 1) * wholeLevel))
	if from >= to || parts == 0 {
		return list
	}
	if n := len(list) - 1; n >= 0 && list[n].End == from && list[n].Bytes == parts {
		list[n].Done, list[n].End = to, to
		return list
	}
	return append(list, trace.Interval{Kind: trace.Compute, Chunk: -1, Peer: -1, Bytes: parts,
		Ready: from, Start: from, Done: to, End: to})
}

// done returns the timeline of the collected tracks.
func (m *rowMaker) done() Panel {
	p := m.Panel
	p.Trace = &trace.Trace{Tracks: m.tracks, Intervals: m.steps, Counters: m.Trace.Counters,
		End: m.Trace.End}
	p.contents, p.does = m.kinds, m.does
	if p.Ops == nil {
		for _, one := range m.Trace.Messages {
			one.From, one.To = m.lanes[one.From], m.lanes[one.To]
			p.Trace.Messages = append(p.Trace.Messages, one)
		}
		return p
	}
	p.Path = nil
	for _, s := range m.Path {
		if lane, there := m.streams[rankLane{s.Rank, s.Lane}]; there {
			p.Path = append(p.Path, Span{s.Rank, lane, s.From, s.To})
		}
	}
	return p
}

// index returns the position of a name in a list; it appends a new name.
func index(list *[]string, name string) int32 {
	for n, other := range *list {
		if other == name {
			return int32(n)
		}
	}
	*list = append(*list, name)
	return int32(len(*list) - 1)
}

// opsApart is the most operations with a colour each. Of more, those with the same stem share one.
const opsApart = 12

// stem replaces the numbers in a name by *: "send a*". Repeated operations differ in these alone.
func stem(name string) string {
	var b strings.Builder
	digits := false
	for _, r := range name {
		if is := r >= '0' && r <= '9'; !is {
			b.WriteRune(r)
			digits = false
		} else if !digits {
			b.WriteByte('*')
			digits = true
		}
	}
	return b.String()
}

// rowTraces makes the tracks that timelines show, and lists the meanings of the colours:
// operations, or stems of several.
func rowTraces(panels []Panel) (shown []Panel, ops activities) {
	var names []string
	for _, p := range panels {
		for _, name := range p.Ops {
			index(&names, name)
		}
	}
	for _, p := range panels {
		ops.addTurns(p.Turns, names)
	}
	stems := len(names) > opsApart
	for _, p := range panels {
		for _, name := range p.Ops {
			if stems {
				name = stem(name)
			}
			if p.Turns == nil {
				ops.index(name)
			}
		}
	}
	for _, p := range panels {
		p.stems = stems
		shown = append(shown, p.rowTrace(&ops))
	}
	for n := range shown {
		shown[n].activities = ops
	}
	return shown, ops
}

// content returns the content of a track.
func (p *Panel) content(track int32) content {
	if p.contents == nil {
		return ofLane
	}
	return p.contents[track]
}

// paint returns the number of a colour: that of the kind of a step or, after all kinds, that of the
// operation of a bracket.
func (p *Panel) paint(i trace.Interval) int {
	if p.content(i.Track) == ofBrackets {
		return kindCount + int(i.Chunk)
	}
	return int(i.Kind)
}

// isLow reports whether a bar is of a bracket that only waits.
func (p *Panel) isLow(i trace.Interval) bool {
	return p.content(i.Track) == ofBrackets && p.does[i.Round] == barrier
}

// labels lists the possible labels of a bar, the longest first.
func (p *Panel) labels(i trace.Interval, sliced bool) []string {
	if p.content(i.Track) != ofBrackets {
		return stepLabels(i, sliced)
	}
	op, does := printable(p.does[i.Peer]), printable(p.does[i.Round])
	letter := opLetter(int(i.Chunk))
	if turn := p.activities[i.Chunk].turn; turn != nil {
		letter = passLetter(turn.Pass)
		return []string{op + ": " + does, op, fmt.Sprintf("%s%d", letter, turn.Batch), letter}
	}
	if op == does {
		return []string{op, letter}
	}
	return []string{op + ": " + does, op, letter}
}

// opLetter returns the letter of an operation, used where there is no room for its name.
func opLetter(op int) string { return string(rune('A' + op%26)) }

// opLook returns the look of an operation: one of six of Okabe and Ito's colours, then a tint of
// these.
func opLook(op int, name string) look {
	const colours = 6
	fill := curveColour(op % colours)
	ink := black()
	if op%(2*colours) >= colours {
		tint := func(c uint8) uint8 { return c + (255-c)/2 }
		fill = color.RGBA{tint(fill.R), tint(fill.G), tint(fill.B), 255}
	} else if c := op % colours; c == 0 || c == 3 {
		ink = white()
	}
	return look{opLetter(op), name, fill, ink}
}

// lookAs returns the look of a paint.
func lookAs(paint int, ops activities) look {
	if n := paint - kindCount; n >= 0 {
		return ops.look(n)
	}
	return lookOf(trace.Kind(paint))
}

func levelGrey() color.RGBA { return rgb(0x7A7A7A) }
func roomGrey() color.RGBA  { return rgb(0xF1F1F1) }
