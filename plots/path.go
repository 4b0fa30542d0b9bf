package plots

import (
	"gonum.org/v1/plot/vg"

	"collsim/unit"
)

// Span is a time that a lane of a rank spends on the critical path. That is the chain of events
// that determines the end of the run.
type Span struct {
	Rank, Lane int32
	From, To   unit.Time
}

// stretch is a part of the critical path on one row.
type stretch struct {
	row      int
	from, to unit.Time
	joined   bool // begins where the one before it ends: no part between them is hidden
}

// pathOn maps the critical path to rows: of its ranks, or of the ranks that stand for them.
func (p *panel) pathOn() (list []stretch) {
	type lane struct{ rank, lane int32 }
	rowOf := map[lane]int{}
	for n, r := range p.rows {
		track := p.trace.Tracks[r.track]
		lanes := []int32{track.Lane}
		for _, same := range r.lanes {
			lanes = append(lanes, p.trace.Tracks[same].Lane)
		}
		for _, l := range lanes {
			rowOf[lane{track.Rank, l}] = n
			for _, rank := range r.alike {
				rowOf[lane{rank, l}] = n
			}
		}
	}
	joined := false
	for _, s := range p.path {
		row, shown := rowOf[lane{s.Rank, s.Lane}]
		last := len(list) - 1
		switch {
		case !shown:
			joined = false
		case joined && list[last].row == row:
			list[last].to = s.To
		default:
			list = append(list, stretch{row, s.From, s.To, joined})
			joined = true
		}
	}
	return list
}

// drawPath draws the critical path below the bars on it, and from row to row.
func (p *panel) drawPath(c *canvas) {
	var line vg.Path
	for n, s := range p.stretches {
		y := p.pathY(s.row)
		if s.joined {
			before := p.pathY(p.stretches[n-1].row)
			line.Line(c.at(p.x(s.from), before))
			line.Line(c.at(p.x(s.from), y))
		} else {
			line.Move(c.at(p.x(s.from), y))
		}
		line.Line(c.at(p.x(s.to), y))
	}
	c.dashed(line, pathPen())
}

// pathY returns the y just below a row's bars.
func (p *panel) pathY(row int) length { return p.middle[row] + p.bar/2 + 0.4 }

func pathPen() pen { return pen{width: 1.3, paint: rgb(0xA50026)} }
