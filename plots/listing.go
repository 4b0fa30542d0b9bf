package plots

import (
	"fmt"
	"image/color"

	"collsim/unit"
)

// Listing holds what Timelines draws of one run, as data for a picture that something else draws:
// the same rows, bars, colours and notes.
type Listing struct {
	End      unit.Time
	Rows     []ListedRow
	Paints   []Paint // meanings of the colours, by Bar.Paint
	Path     []ListedSpan
	Messages []ListedMessage // between bars that are listed
	Notes    []string        // on rows and repetitions that are left out
}

// ListedRow is a row of bars. Its labels are as in the picture: the node of a cluster, and the rank
// on its first row, else "".
type ListedRow struct {
	Node, Rank, Lane string
	Bars             []Bar
}

// Bar is a step of a lane, a bracket of a stream, or a time in which a share of something is busy.
type Bar struct {
	Paint int
	Name  string // "recvReduceSend"; of a bracket its operation, and what that does
	// Chunk, Slice, Peer are −1 where there is none.
	Chunk, Slice, Round, Peer int32
	Bytes                     unit.Bytes
	Share                     float64   // of what is busy; 0 elsewhere
	Ready, Start, End         unit.Time // it waited from Ready to Start
}

// Paint is a colour and its meaning.
type Paint struct {
	Letter, Name string
	Fill, Ink    string // "#0072b2": of the bar, and of a label on it
}

// ListedSpan is a part of the critical path on a row.
type ListedSpan struct {
	Row      int
	From, To unit.Time
}

// ListedMessage is a message between two bars, given by row and place in it.
type ListedMessage struct {
	FromRow, FromBar, ToRow, ToBar int
	Sent, Arrived                  unit.Time
}

// List lists at most `most` rows of a run, chosen as by Timelines. It returns an error if the
// timeline is not valid.
func List(of Panel, most int) (*Listing, error) {
	if _, err := checkPanels([]Panel{of}, most); err != nil {
		return nil, err
	}
	panels, ops := rowTraces(shortened([]Panel{of}))
	p := &panels[0]
	shown, note := rows(panels, most, false)
	l := &Listing{End: p.Trace.End, Notes: p.repeats}
	if note != "" {
		l.Notes = append([]string{note}, l.Notes...)
	}
	for k := range kindCount + len(ops) {
		l.Paints = append(l.Paints, paintOf(lookAs(k, ops)))
	}
	l.Paints = append(l.Paints, paintOf(look{name: "busy share", fill: levelGrey(), ink: white()}))
	at := make([]int, len(p.Trace.Tracks)) // by track: its row and 1, 0 if it is not shown
	for n, r := range shown[0] {
		at[r.track] = n + 1
		l.Rows = append(l.Rows, ListedRow{Node: r.node, Rank: r.rank, Lane: r.lane,
			Bars: p.listed(r.track, kindCount+len(ops))})
	}
	for _, m := range p.Trace.Messages {
		if at[m.From] > 0 && at[m.To] > 0 && m.FromStep > 0 && m.ToStep > 0 {
			l.Messages = append(l.Messages, ListedMessage{at[m.From] - 1, int(m.FromStep - 1),
				at[m.To] - 1, int(m.ToStep - 1), m.Sent, m.Arrived})
		}
	}
	drawn := &panel{trace: p.Trace, rows: shown[0], path: p.Path}
	for _, s := range drawn.pathOn() {
		l.Path = append(l.Path, ListedSpan{s.row, s.from, s.to})
	}
	return l, nil
}

// listed lists the bars of a track.
func (p *Panel) listed(track int32, levelPaint int) (list []Bar) {
	for _, i := range p.Trace.On(track) {
		b := Bar{Paint: p.paint(i), Name: i.Name(), Chunk: i.Chunk, Slice: i.Slice, Round: i.Round,
			Peer: i.Peer, Bytes: i.Bytes, Ready: i.Ready, Start: i.Start, End: i.End}
		switch p.content(track) {
		case ofBrackets:
			b.Name = p.does[i.Peer]
			if does := p.does[i.Round]; does != b.Name {
				b.Name += ": " + does
			}
			b.Chunk, b.Slice, b.Round, b.Peer = -1, -1, -1, -1
		case ofLevels:
			b.Paint, b.Name, b.Bytes = levelPaint, "", 0
			b.Share = float64(i.Bytes) / wholeLevel
			b.Chunk, b.Slice, b.Round, b.Peer = -1, -1, -1, -1
		}
		list = append(list, b)
	}
	return list
}

func paintOf(l look) Paint { return Paint{l.letter, l.name, hex(l.fill), hex(l.ink)} }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// CurvePaints returns the colours of looks, in their order.
func CurvePaints() (list []string) {
	for n := range lookCount {
		list = append(list, hex(curveColour(n)))
	}
	return list
}
