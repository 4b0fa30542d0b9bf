package page

import (
	"fmt"

	"collsim/plots"
	"collsim/unit"
)

// Timeline is a run, drawn as plots.Timelines draws it, and by script.
type Timeline struct {
	Panel   plots.Panel
	Options plots.Options
	Most    int  // bars that the script has; 0: 20,000
	Picture bool // there is a picture where there is no script
}

// Limits of a timeline.
const (
	mostBars  = 20_000
	mostLines = 256
	// rows and size of the picture that is shown without script
	pictureRows  = 16
	pictureBytes = 150_000
)

// timelineData has the bars of a timeline for the script. All times are in picoseconds.
type timelineData struct {
	End      unit.Time     `json:"end"`
	Rows     []rowData     `json:"rows"`
	Paints   []plots.Paint `json:"paints"`
	Names    []string      `json:"names"` // of bars
	Path     [][3]int64    `json:"path"`  // row, from, to
	Messages *messageData  `json:"messages"`
	Notes    []string      `json:"notes"`
}

// rowData has the bars of a row, a list for each fact, as packed has them.
type rowData struct {
	Node   string `json:"node,omitempty"`
	Rank   string `json:"rank,omitempty"`
	Lane   string `json:"lane,omitempty"`
	Count  int    `json:"count"`
	Gap    any    `json:"gap"`  // from the end of the bar before to the start
	Time   any    `json:"time"` // from the start to the end
	Waited any    `json:"waited"`
	Paint  any    `json:"paint"`
	Name   any    `json:"name"`
	Chunk  any    `json:"chunk"`
	Slice  any    `json:"slice"`
	Round  any    `json:"round"`
	Peer   any    `json:"peer"`
	Bytes  any    `json:"bytes"`
	Share  any    `json:"share"`
	Steps  any    `json:"steps"` // that a bar stands for
}

// messageData has a list for each fact of messages. A sent and an arrived time count from the start
// of the bar that sends and of the one that receives.
type messageData struct {
	FromRow any `json:"fromRow"`
	FromBar any `json:"fromBar"`
	ToRow   any `json:"toRow"`
	ToBar   any `json:"toBar"`
	Sent    any `json:"sent"`
	Arrived any `json:"arrived"`
	Count   int `json:"count"`
}

// picture draws the timeline for readers without script.
func (t *Timeline) picture() ([]byte, error) {
	if !t.Picture {
		return nil, nil
	}
	o := t.Options
	o.Format, o.Rows = plots.SVG, pictureRows
	picture, err := plots.Timelines([]plots.Panel{t.Panel}, o)
	if len(picture) > pictureBytes {
		picture = nil
	}
	return picture, err
}

func (t *Timeline) data() (*timelineData, error) {
	l, err := plots.List(t.Panel, mostLines)
	if err != nil {
		return nil, err
	}
	most := t.Most
	if most == 0 {
		most = mostBars
	}
	d := &timelineData{End: l.End, Paints: l.Paints, Rows: []rowData{}, Names: []string{},
		Path: [][3]int64{}, Notes: append([]string{}, l.Notes...)}
	steps, bars := 0, 0
	for _, r := range l.Rows {
		steps += len(r.Bars)
	}
	names := map[string]int{}
	for _, r := range l.Rows {
		list := single(r.Bars)
		if steps > most+most/4 { // a few more do not slow it down
			list = together(r.Bars, l.End/unit.Time(max(1, most/len(l.Rows))))
		}
		bars += len(list)
		d.Rows = append(d.Rows, rowOf(&r, list, func(name string) int64 {
			at, known := names[name]
			if !known {
				at = len(d.Names)
				names[name] = at
				d.Names = append(d.Names, name)
			}
			return int64(at)
		}))
	}
	for _, p := range l.Path {
		d.Path = append(d.Path, [3]int64{int64(p.Row), int64(p.From), int64(p.To)})
	}
	if bars < steps {
		d.Notes = append(d.Notes, fmt.Sprintf("%d steps are drawn as %d bars: neighbours on a row are "+
			"drawn together, in the colour of most of their time, and messages are left out", steps, bars))
		return d, nil
	}
	d.Messages = messagesOf(l)
	return d, nil
}

// group is a bar that stands for several steps.
type group struct {
	plots.Bar
	steps int
}

func single(bars []plots.Bar) (list []group) {
	for _, b := range bars {
		list = append(list, group{b, 1})
	}
	return list
}

// together joins neighbouring bars until each is as long as least, or nothing is beside it.
func together(bars []plots.Bar, least unit.Time) (list []group) {
	for i := 0; i < len(bars); {
		g := group{bars[i], 1}
		busy := map[int]unit.Time{g.Paint: g.End - g.Start} // by paint; read by its keys alone
		for i++; i < len(bars) && bars[i].End-g.Start <= least; i++ {
			b := bars[i]
			busy[b.Paint] += b.End - b.Start
			if busy[b.Paint] > busy[g.Paint] {
				g.Paint = b.Paint
			}
			g.End, g.steps, g.Bytes = b.End, g.steps+1, g.Bytes+b.Bytes
		}
		if g.steps > 1 {
			g.Name = fmt.Sprintf("%d steps", g.steps)
			g.Chunk, g.Slice, g.Round, g.Peer = -1, -1, -1, -1
		}
		list = append(list, g)
	}
	return list
}

// rowOf makes the lists of a row.
func rowOf(r *plots.ListedRow, bars []group, name func(string) int64) rowData {
	each := func(of func(b *group, before unit.Time) int64) any {
		list := make([]int64, len(bars))
		before := unit.Time(0)
		for i := range bars {
			list[i] = of(&bars[i], before)
			before = bars[i].End
		}
		return packed(list)
	}
	fact := func(of func(b *group) int64) any {
		return each(func(b *group, _ unit.Time) int64 { return of(b) })
	}
	return rowData{Node: r.Node, Rank: r.Rank, Lane: r.Lane, Count: len(bars),
		Gap:    each(func(b *group, before unit.Time) int64 { return int64(b.Start - before) }),
		Time:   fact(func(b *group) int64 { return int64(b.End - b.Start) }),
		Waited: fact(func(b *group) int64 { return int64(b.Start - b.Ready) }),
		Paint:  fact(func(b *group) int64 { return int64(b.Paint) }),
		Name:   fact(func(b *group) int64 { return name(b.Name) }),
		Chunk:  fact(func(b *group) int64 { return int64(b.Chunk) }),
		Slice:  fact(func(b *group) int64 { return int64(b.Slice) }),
		Round:  fact(func(b *group) int64 { return int64(b.Round) }),
		Peer:   fact(func(b *group) int64 { return int64(b.Peer) }),
		Bytes:  fact(func(b *group) int64 { return int64(b.Bytes) }),
		Share:  fact(func(b *group) int64 { return int64(b.Share * 1000) }),
		Steps:  fact(func(b *group) int64 { return int64(b.steps) }),
	}
}

// messagesOf makes the lists of all messages.
func messagesOf(l *plots.Listing) *messageData {
	fact := func(of func(m *plots.ListedMessage) int64) any {
		list := make([]int64, len(l.Messages))
		for i := range l.Messages {
			list[i] = of(&l.Messages[i])
		}
		return packed(list)
	}
	return &messageData{Count: len(l.Messages),
		FromRow: fact(func(m *plots.ListedMessage) int64 { return int64(m.FromRow) }),
		FromBar: fact(func(m *plots.ListedMessage) int64 { return int64(m.FromBar) }),
		ToRow:   fact(func(m *plots.ListedMessage) int64 { return int64(m.ToRow) }),
		ToBar:   fact(func(m *plots.ListedMessage) int64 { return int64(m.ToBar) }),
		Sent: fact(func(m *plots.ListedMessage) int64 {
			return int64(m.Sent - l.Rows[m.FromRow].Bars[m.FromBar].Start)
		}),
		Arrived: fact(func(m *plots.ListedMessage) int64 {
			return int64(m.Arrived - l.Rows[m.ToRow].Bars[m.ToBar].Start)
		}),
	}
}

// letters stand for the values of a list that has few of them. None is escaped in JSON.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// spelled is a list of few values: a letter for each place, and the values of the letters.
type spelled struct {
	Values []int64 `json:"values"`
	Text   string  `json:"text"`
}

// packed returns a list in the shortest form: its value where all are equal, letters where there
// are few values, else itself.
func packed(list []int64) any {
	s := spelled{}
	text := make([]byte, len(list))
	at := map[int64]int{}
	for i, v := range list {
		k, known := at[v]
		if !known {
			k = len(s.Values)
			if k == len(letters) {
				return list
			}
			at[v] = k
			s.Values = append(s.Values, v)
		}
		text[i] = letters[k]
	}
	switch len(s.Values) {
	case 0:
		return 0
	case 1:
		return s.Values[0]
	}
	s.Text = string(text)
	return s
}
