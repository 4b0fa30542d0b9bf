package plots

import (
	"errors"
	"fmt"
	"slices"

	"collsim/trace"
	"collsim/unit"
)

// Options select how timelines are drawn. The zero value is the default.
type Options struct {
	Title   string  // above the rows; none if empty
	Caption string  // below all: how to get this picture again (scenario, seed, version)
	Format  Format  // of the file
	Figure  Figure  // decides the size; a slide shows as many rows as fit
	WidthMM float64 // if not 0: of the picture in mm, 60 to 1000, instead of the figure's
	Rows    int     // the most lanes to show, of all timelines together, 1 to 512; 0: 64
	Each    bool    // each of more than 32 ranks has rows of its own, as far as there is room
}

// Sizes of a timeline, in points.
const (
	rowPitch   length = 16   // from row to row
	rowsLoose         = 24   // with more rows they are closer, so that 64 fit a sheet of paper
	rowClose   length = 10   // from row to row, then
	rowLeast   length = 9    // on a slide, or of several timelines: 7 pt letters still fit
	rowMost    length = 24   // from row to row, on a slide
	barHeight  length = 10.5 // of a legend's swatch, and of a bar where rows are rowPitch apart
	rankGap    length = 5    // extra space between ranks, where ranks have several lanes
	omitGap    length = 9    // extra space where ranks are left out
	labelAir   length = 8    // right of a row's label
	panelAir   length = 8    // above the heading of the next timeline
	headingAir length = 3    // below the last line of a heading
	// right of the axis's label, since that of the tick at 0 is centred on it
	timeAir   length = 12
	barLeast  length = 0.7 // a narrower bar would not be seen
	tickApart length = 55  // ticks are at least this far apart
)

// Panel is one of several timelines in a picture.
type Panel struct {
	Heading string // above its rows: name and duration of the run; none if empty
	Trace   *trace.Trace

	// Names are those of the ranks' nodes in the network; nil if unknown. The part before a "/" is
	// the node of a cluster, whose ranks are shown together.
	Names []string
	// Path is the critical path, in order of time; nil if unknown.
	Path []Span

	// Ops, unless nil, are the operations of a program in the order of a legend. The timeline then
	// has rows for streams and copy engines of its GPUs, in place of lanes. Each bracket is a bar
	// in the colour of its operation. SMs and HBM are the SMs and the memory bandwidth of a GPU, 0
	// if unknown. With them, a trace of GPUs has further rows for their busy share.
	Ops []string
	SMs int
	HBM unit.Rate

	// Turns, unless nil, are those of the operations of a pipeline. Bars then have a colour of their
	// pass, in a shade of their microbatch.
	Turns map[string]Turn

	activities activities  // the meanings of colours
	contents   []content   // by track; nil: all are lanes
	cuts       []unit.Time // times at which something is left out of the trace
	repeats    []string    // descriptions of the repetitions that are left out
	does       []string    // activities of brackets, by Round, and their operations, by Peer
	stems      bool        // operations whose names differ in numbers alone share a look
}

// Timelines draws runs of the same schedule below each other: a simulated and a measured one, say.
// Each has a row for each lane, a bar for each step, and grey where a lane waited. Messages are
// arrows, if these stay readable, in all runs or in none. Steps that are too narrow to be seen are
// merged, in the colour of most of their time. Rows beyond Options.Rows are left out; the lowest
// ranks and the last finishers stay. A note below the caption reports both.
//
// Of more than 32 ranks, those that do the same at the same times share the rows of the lowest.
// Where there are still too many, it shows those on the critical path, at the busiest links, or
// finishing last. If rows must be left out, each run has equally many, and runs with the same lanes
// show the same ones.
//
// The runs share the time axis, so equal x are equal times after the start. A dashed line through
// all of them marks the end of each. It returns an error if there is no timeline, if one is not
// valid or if an option is out of range.
func Timelines(panels []Panel, o Options) (file []byte, err error) {
	f, err := newFrame(o.Format, o.Figure, o.WidthMM)
	if err != nil {
		return nil, err
	}
	most, err := checkPanels(panels, o.Rows)
	if err != nil {
		return nil, err
	}
	panels, ops := rowTraces(shortened(panels))
	if f.height > 0 {
		most = min(most, max(1, int(f.height/rowLeast)/len(panels)))
	}
	f.ops = ops
	p := newPicture(panels, most, o, f)
	for !p.layOut() && p.mostRows() > 1 {
		p = newPicture(panels, p.mostRows()-1, o, f)
	}
	return p.draw()
}

// checkPanels checks the traces and the number of rows, which it replaces by its default if 0. It
// returns the number of rows for each.
func checkPanels(panels []Panel, rows int) (each int, err error) {
	if len(panels) == 0 {
		return 0, errors.New("no timelines: at least one is expected")
	}
	if rows == 0 {
		rows = rowsDefault
	}
	if rows < 1 || rows > 512 {
		return 0, fmt.Errorf("rows = %d: 1 to 512 is expected", rows)
	}
	for _, p := range panels {
		err := p.Trace.Validate()
		if err != nil && p.Heading != "" {
			err = fmt.Errorf("%q: %w", p.Heading, err)
		}
		if err != nil {
			return 0, err
		}
	}
	return max(1, rows/len(panels)), nil
}

// shortened returns panels whose traces omit their repetitions.
func shortened(panels []Panel) []Panel {
	panels = slices.Clone(panels)
	for n := range panels {
		p := &panels[n]
		all := p.Trace.Repeats
		p.Trace, p.cuts = p.Trace.Short()
		for k, r := range all {
			p.repeats = append(p.repeats, fmt.Sprintf("at %v what the %v before did is left out %d times: "+
				"what follows comes %v later", p.cuts[k], r.Period, r.Times, r.Takes()))
		}
	}
	return panels
}

// latest returns the end of the last run, which is the end of the axis.
func latest(panels []Panel) (end unit.Time) {
	for _, p := range panels {
		end = max(end, p.Trace.End)
	}
	return end
}

// picture is a picture of timelines and the layout of its parts.
type picture struct {
	frame
	panels []*panel
	end    unit.Time // of the axis
	sliced bool
	faces  typefaces
	seen   seen
	axis   axis
	title  []string
	legend [][]entry
	notes  []string // caption, and notes on rows that are left out or merged

	pitch, bar length // from row to row; height of a bar
	rankX      length // x of the ranks' names, right of those of the nodes
	laneX      length // x of the lanes' names
	x0, x1, y1 length // left and right of the bars; y of the axis
}

// panel is one timeline of a picture.
type panel struct {
	*picture
	of       *Panel
	trace    *trace.Trace
	heading  []string
	rows     []row
	bars     [][]bar   // of each row
	levels   [][]level // of each row that shows any
	middle   []length  // y of each row
	messages []trace.Message

	path      []Span
	stretches []stretch // of the path, on rows

	y0, y1 length // the area of the bars
}

func newPicture(panels []Panel, most int, o Options, f frame) *picture {
	p := &picture{frame: f, faces: newTypefaces(f.format), end: latest(panels),
		sliced: sliced(panels)}
	text := p.width - 2*margin
	shown, note := rows(panels, most, o.Each)
	p.seen.ops = make([]bool, len(f.ops))
	for n, of := range panels {
		p.panels = append(p.panels, &panel{picture: p, of: &of, trace: of.Trace, rows: shown[n],
			path: of.Path, heading: p.faces.heading.wrap(printable(of.Heading), text)})
	}
	p.placeLabels()
	p.axis = newAxis(p.end, max(4, int((p.x1-p.x0)/tickApart)))

	p.title = p.faces.title.wrap(printable(o.Title), text)
	p.notes = p.faces.small.wrap(printable(o.Caption), text)
	tell := func(note string) {
		p.notes = append(p.notes, p.faces.small.wrap(note, text)...)
	}
	if note != "" {
		tell(note)
	}
	for _, panel := range p.panels {
		for _, what := range panel.of.repeats {
			tell(what)
		}
	}
	steps, merged, longest := 0, 0, p.longestLabels()
	for _, panel := range p.panels {
		panel.stretches = panel.pathOn()
		steps += len(panel.trace.Intervals)
		panel.makeLevels()
		merged += panel.makeBars(longest)
	}
	if merged > 0 {
		tell(fmt.Sprintf("%d steps that are too narrow to be seen are drawn together", merged))
	}
	if p.end == 0 && steps > 0 {
		tell("no step takes any time")
	}
	if hidden := p.makeMessages(); hidden > 0 {
		tell(fmt.Sprintf("%d messages are not drawn: they would hide the rest", hidden))
	}
	p.legend = wrapLegend(p.entries(), text, p.entryWidth)
	return p
}

// mostRows returns the largest number of rows of any timeline.
func (p *picture) mostRows() (most int) {
	for _, panel := range p.panels {
		most = max(most, len(panel.rows))
	}
	return most
}
