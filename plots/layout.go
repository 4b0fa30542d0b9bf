package plots

import "collsim/unit"

// placeLabels places the rank names, the lane names right of them, and the bars right of both.
func (p *picture) placeLabels() {
	var nodes, ranks, lanes length
	for _, panel := range p.panels {
		for _, r := range panel.rows {
			nodes = max(nodes, p.faces.label.room(r.node))
			ranks = max(ranks, p.faces.label.room(r.rank))
			lanes = max(lanes, p.faces.small.room(printable(r.lane)))
		}
	}
	p.rankX = margin
	if nodes > 0 {
		p.rankX += nodes + labelAir
	}
	p.laneX = p.rankX + ranks + labelAir
	p.x0 = p.laneX
	if lanes > 0 {
		p.x0 += lanes + labelAir
	}
	p.x0 = max(p.x0, margin+p.faces.label.room("time (ms)")+timeAir)
	p.x1 = p.width - margin - 6 // the label of a tick at the very end needs room
}

// layOut stacks title, timelines, axis, legend and caption. It reports whether they fit: a picture
// of given height may lack the room for all rows.
func (p *picture) layOut() (fits bool) {
	top := margin + length(len(p.title))*p.faces.title.line() + 3
	below := axisHeight + length(len(p.legend))*legendLine + margin - 3
	if len(p.notes) > 0 {
		below += 3 + length(len(p.notes))*p.faces.small.line()
	}
	given, count := p.height, 0
	for _, panel := range p.panels {
		count += max(1, len(panel.rows))
	}
	least := rowClose
	if len(p.panels) > 1 { // headings need their room
		least = rowLeast
	}
	p.pitch = max(least, min(rowPitch, rowsLoose*rowPitch/length(count)))
	if given > 0 {
		p.pitch = 0
		free := given - top - below - p.placePanels(0)
		p.pitch = min(rowMost, max(rowLeast, free/length(count)))
	}
	p.bar = p.pitch * barHeight / rowPitch
	p.y1 = p.placePanels(top)
	p.height = p.y1 + below
	if given > 0 {
		fits = p.height < given+0.01
		p.height = max(p.height, given)
		return fits
	}
	return true
}

// placePanels places the timelines below each other from y on, and returns where they end.
func (p *picture) placePanels(y length) length {
	for n, panel := range p.panels {
		if n > 0 {
			y += panelAir
		}
		if lines := len(panel.heading); lines > 0 {
			y += length(lines)*p.faces.heading.line() + headingAir
		}
		panel.y0 = y
		y = panel.placeRows(y)
		panel.y1 = y
	}
	return y
}

// placeRows places the rows from y on, one pitch apart, and returns where they end.
func (p *panel) placeRows(y length) length {
	p.middle = p.middle[:0]
	several := len(p.rows) > 0 && len(p.rows) > ranksOf(p.rows)
	for n, r := range p.rows {
		switch {
		case r.gap:
			y += omitGap
		case n > 0 && (r.node != "" || r.rank != "" && several):
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

// ranksOf counts the ranks in rows.
func ranksOf(rows []row) int {
	n := 0
	for _, r := range rows {
		if r.rank != "" {
			n++
		}
	}
	return n
}

// x returns the position of a time.
func (p *picture) x(t unit.Time) length {
	if p.end == 0 {
		return p.x0
	}
	share := float64(t) / float64(p.end)
	return p.x0 + length(share*float64(p.x1-p.x0))
}
