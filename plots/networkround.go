package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// placeRound places GPUs on a circle, clockwise from the top, and NICs outside of their GPUs.
func (p *part) placeRound(y length) {
	gpus := p.rows[len(p.rows)-1].sites
	var nics []*site
	if len(p.rows) > 1 {
		nics = p.rows[0].sites
	}
	slots := 0
	for _, s := range gpus {
		if slots++; s.gap {
			slots++
		}
	}
	radius, outer := length(54), length(0)
	if slots > ringSlots {
		radius = 84
	}
	if len(nics) > 0 {
		outer = 30
	}
	across := radius + outer + 14
	x := (p.area.x0 + p.area.x1) / 2
	middle := y + across - 4
	slot := 0
	angle := map[*site]float64{}
	for _, s := range gpus {
		angle[s] = 2*math.Pi*float64(slot)/float64(slots) - math.Pi/2
		s.at(x+radius*length(cosine(angle[s])), middle+radius*length(sine(angle[s])), 27, 13)
		if slot++; s.gap {
			slot++
		}
	}
	p.placeOutside(nics, angle, x, middle, radius+outer)
	y = middle + across + 2
	p.gaps = []gap{{y0: y}}
	for _, c := range rateClasses(p.wires) {
		if c.text() != "" {
			p.gaps[0].labels = append(p.gaps[0].labels, p.label(c))
		}
	}
	p.endLegend()
}

// at centres a site on a point.
func (s *site) at(x, y, wide, high length) {
	s.box = box{x - wide/2, y - high/2, x + wide/2, y + high/2}
}

// placeOutside places each NIC in the direction of the GPUs that it is connected to. NICs of the
// same GPUs are side by side.
func (p *part) placeOutside(nics []*site, angle map[*site]float64, x, y, radius length) {
	list := make([]float64, len(nics))
	for i, nic := range nics {
		var across, down float64
		for _, w := range p.wires {
			for _, pair := range [2][2]*site{{w.a, w.b}, {w.b, w.a}} {
				if a, ok := angle[pair[1]]; ok && pair[0] == nic {
					across, down = across+cosine(a), down+sine(a)
				}
			}
		}
		if list[i] = math.Pi / 2; hypot(across, down) > 0.1 {
			list[i] = settled(math.Atan2(down, across))
		}
	}
	order := make([]int, len(nics))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a], list[b]) })
	least := 0.34 // least angle between two, in radians
	if most := 2 * math.Pi / float64(max(len(nics), 1)); least > most {
		least = most
	}
	for n, i := range order {
		if n > 0 {
			list[i] = max(list[i], list[order[n-1]]+least)
		}
	}
	for i, nic := range nics {
		nic.at(x+radius*length(cosine(list[i])), y+radius*length(sine(list[i])), 24, 11)
	}
}

// endLegend places the texts below the part.
func (p *part) endLegend() {
	y := p.gaps[0].y0
	lines := len(p.gaps[0].labels) + 1
	if len(p.gaps[0].labels) > labelsMost+2 {
		more := len(p.gaps[0].labels) - labelsMost - 1
		p.gaps[0].labels = append(p.gaps[0].labels[:labelsMost+1],
			gapLabel{-1, fmt.Sprintf("and %d more rates", more)})
		lines = labelsMost + 3
	}
	if p.extra != "" {
		lines++
	}
	p.area.y1 = y + length(lines)*p.faces.small.line() + 2
	p.gaps[0].y1 = p.area.y1
}

// placeGrid places sites by their coordinates. The last one runs to the right, the one before it
// down, and one before that into the depth.
func (p *part) placeGrid(y length) {
	dims, wide := len(p.sizes), p.area.x1-p.area.x0
	columns, rows, planes := p.sizes[dims-1], p.sizes[dims-2], 1
	across, up, pitch, size := length(0), length(0), length(64), length(34)
	if dims == 3 {
		planes = p.sizes[0]
		across, up, pitch, size = 22, 15, 92, 18
	}
	behind := length(planes - 1)
	pitch = min(pitch, (wide-behind*across)/length(columns))
	down := behind*up + 29
	left := (p.area.x0+p.area.x1)/2 - (pitch*length(columns)+behind*across)/2
	for i, s := range p.rows[0].sites {
		at := p.at[i]
		z := length(0)
		if dims == 3 {
			z = length(at[0])
		}
		s.at(left+pitch*(length(at[dims-1])+0.5)+z*across,
			y+8+(behind-z)*up+length(at[dims-2])*down, min(size, pitch-4), 11)
	}
	y += 8 + behind*up + length(rows-1)*down + 16
	p.gaps = []gap{{y0: y}}
	for _, c := range rateClasses(p.wires) {
		p.gaps[0].labels = append(p.gaps[0].labels, p.label(c))
	}
	p.endLegend()
}
