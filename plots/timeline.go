package plots

import (
	"fmt"

	"collsim/trace"
	"collsim/unit"
)

// Options are how a timeline is drawn. The zero value is the default.
type Options struct {
	Title   string  // above the rows; none if empty
	Caption string  // below all: what it takes to get this picture again (scenario, seed, version)
	Format  Format  // of the file
	Figure  Figure  // decides the size; a slide shows as many rows as have room
	WidthMM float64 // if not 0: of the picture in mm, 60 to 1000, instead of the figure's
	Rows    int     // the most lanes to show, 1 to 512; 0: 64
}

// Sizes of a timeline, in points.
const (
	margin    length = 8
	rowPitch  length = 16   // from row to row
	rowsLoose        = 24   // with more rows they stand closer, so that 64 fit a sheet of paper
	rowClose  length = 10   // from row to row, then
	rowLeast  length = 9    // from row to row, on a slide: 7 pt letters still fit
	rowMost   length = 24   // from row to row, on a slide
	barHeight length = 10.5 // of a legend's swatch, and of a bar where rows are rowPitch apart
	rankGap   length = 5    // more between ranks, where ranks have several lanes
	omitGap   length = 9    // more where ranks are left out
	labelAir  length = 8    // right of a row's label
	timeAir   length = 12   // right of the axis's label: the one of the tick at 0 is centred on it
	barLeast  length = 0.7  // a narrower bar would not be seen
	tickApart length = 55   // ticks are at least this far apart
)

// Timeline draws a trace as a picture: a row for each lane, a bar for each step, grey where a
// lane waited, an arrow for each message while the arrows stay readable. Steps that are too narrow
// to be seen are drawn together, in the colour of most of their time; more rows than Options.Rows
// are left out (lowest ranks and last finishers stay). A note below the caption tells of either.
// It returns an error if the trace is not valid or an option out of range.
func Timeline(t *trace.Trace, o Options) (file []byte, err error) {
	f, err := newFrame(o.Format, o.Figure, o.WidthMM)
	if err != nil {
		return nil, err
	}
	if o.Rows, err = checkRows(t, o.Rows); err != nil {
		return nil, err
	}
	if f.height > 0 {
		o.Rows = min(o.Rows, max(1, int(f.height/rowLeast)))
	}
	p := newPicture(t, o, f)
	for !p.layOut() && len(p.rows) > 1 {
		o.Rows = len(p.rows) - 1
		p = newPicture(t, o, f)
	}
	return p.draw()
}

// checkRows checks the trace, and the number of rows, whose default it fills in.
func checkRows(t *trace.Trace, most int) (int, error) {
	if most == 0 {
		most = rowsDefault
	}
	if most < 1 || most > 512 {
		return 0, fmt.Errorf("plots: rows = %d: 1 to 512 is expected", most)
	}
	if err := t.Validate(); err != nil {
		return 0, fmt.Errorf("plots: %w", err)
	}
	return most, nil
}

// picture is a timeline with the place of everything in it.
type picture struct {
	frame
	trace    *trace.Trace
	faces    typefaces
	rows     []row
	seen     seen
	axis     axis
	bars     [][]bar  // of each row
	middle   []length // y of each row
	messages []trace.Message
	title    []string
	legend   [][]entry
	notes    []string // caption, and what we left out or drew together

	pitch, bar     length // from row to row; height of a bar
	laneX          length // of the lanes' names
	x0, x1, y0, y1 length // the area of the bars
}

func newPicture(t *trace.Trace, o Options, f frame) *picture {
	p := &picture{frame: f, trace: t, faces: newTypefaces()}
	var note string
	p.rows, note = rows(t, o.Rows)
	p.placeLabels()
	p.axis = newAxis(t.End, max(4, int((p.x1-p.x0)/tickApart)))

	text := p.width - 2*margin
	p.title = p.faces.title.wrap(printable(o.Title), text)
	p.notes = p.faces.small.wrap(printable(o.Caption), text)
	tell := func(note string) {
		p.notes = append(p.notes, p.faces.small.wrap(note, text)...)
	}
	if note != "" {
		tell(note)
	}
	if merged := p.makeBars(); merged > 0 {
		tell(fmt.Sprintf("%d steps that are too narrow to be seen are drawn together", merged))
	}
	if t.End == 0 && len(t.Intervals) > 0 {
		tell("no step takes any time")
	}
	p.messages = p.visibleMessages()
	if n := len(p.messages); !p.readable() {
		p.messages = nil
		tell(fmt.Sprintf("%d messages are not drawn: they would hide the rest", n))
	}
	p.legend = p.wrapLegend(text)
	return p
}

// placeLabels places the rank names, the lane names right of them, and the bars right of both.
func (p *picture) placeLabels() {
	var ranks, lanes length
	for _, r := range p.rows {
		ranks = max(ranks, p.faces.label.Width(r.rank))
		lanes = max(lanes, p.faces.small.Width(printable(r.lane)))
	}
	p.laneX = margin + ranks + labelAir
	p.x0 = p.laneX
	if lanes > 0 {
		p.x0 += lanes + labelAir
	}
	p.x0 = max(p.x0, margin+p.faces.label.Width("time (ms)")+timeAir)
	p.x1 = p.width - margin - 6 // the label of a tick at the very end needs room
}

// layOut stacks title, rows, axis, legend and caption. It says whether they fit: in a picture of
// given height there may not be room for all rows.
func (p *picture) layOut() (fits bool) {
	top := margin + length(len(p.title))*p.faces.title.line() + 3
	below := axisHeight + length(len(p.legend))*legendLine + margin - 3
	if len(p.notes) > 0 {
		below += 3 + length(len(p.notes))*p.faces.small.line()
	}
	given := p.height
	p.pitch = max(rowClose, min(rowPitch, rowsLoose*rowPitch/length(max(1, len(p.rows)))))
	if given > 0 {
		p.pitch = 0
		free := given - top - below - p.placeRows(0)
		p.pitch = min(rowMost, max(rowLeast, free/length(max(1, len(p.rows)))))
	}
	p.bar = p.pitch * barHeight / rowPitch
	p.y0, p.y1 = top, p.placeRows(top)
	p.height = p.y1 + below
	if given > 0 {
		fits = p.height < given+0.01
		p.height = max(p.height, given)
		return fits
	}
	return true
}

// placeRows places the rows from y on, p.pitch apart, and returns where they end.
func (p *picture) placeRows(y length) length {
	p.middle = p.middle[:0]
	several := len(p.rows) > 0 && len(p.rows) > ranksOf(p.rows)
	for n, r := range p.rows {
		switch {
		case r.gap:
			y += omitGap
		case n > 0 && r.rank != "" && several:
			y += rankGap
		}
		p.middle = append(p.middle, y+p.pitch/2)
		y += p.pitch
	}
	if len(p.rows) == 0 {
		y += p.pitch
	}
	return y
}

// ranksOf counts the ranks that rows show.
func ranksOf(rows []row) int {
	n := 0
	for _, r := range rows {
		if r.rank != "" {
			n++
		}
	}
	return n
}

// x is where a time is.
func (p *picture) x(t unit.Time) length {
	if p.trace.End == 0 {
		return p.x0
	}
	share := float64(t) / float64(p.trace.End)
	return p.x0 + length(share*float64(p.x1-p.x0))
}
