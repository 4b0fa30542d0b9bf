package topology

// open is the formula of a grid without wraparound. Its links come dimension by dimension: first
// those to the next coordinate, then those to the one before, in the order of the ranks that they
// leave.
type open struct {
	ranks int32
	dims  []dimension // block is the first link of each
	like  Link
}

// newOpen returns the grid of dimensions, in the order of their links.
func newOpen(ranks int32, like Link, dims ...dimension) *open {
	o := &open{ranks: ranks, like: like}
	links := int32(0)
	for _, d := range dims {
		d.block = links
		o.dims = append(o.dims, d)
		links += 2 * o.each(&d)
	}
	return o
}

// each returns the number of links in one direction along a dimension.
func (o *open) each(d *dimension) int32 { return o.ranks / d.size * (d.size - 1) }

func (o *open) size() (nodes, links int) {
	for i := range o.dims {
		links += 2 * int(o.each(&o.dims[i]))
	}
	return int(o.ranks), links
}

func (o *open) node(v int32) Node { return Node{Name: rankName(int(v))} }

// ahead returns the link from a rank to the next coordinate, and back the one to the coordinate
// before. In a row of size ranks, stride apart, size − 1 have one.
func (o *open) ahead(d *dimension, v int32) int32 {
	return d.block + v/(d.stride*d.size)*d.stride*(d.size-1) + v%(d.stride*d.size)
}

func (o *open) back(d *dimension, v int32) int32 {
	return o.ahead(d, v-d.stride) + o.each(d)
}

func (o *open) link(i int32) Link {
	at := len(o.dims) - 1
	for o.dims[at].block > i {
		at--
	}
	d, l := &o.dims[at], o.like
	i -= d.block
	isBack := i >= o.each(d)
	if isBack {
		i -= o.each(d)
	}
	row := d.stride * (d.size - 1)
	l.From = i/row*d.stride*d.size + i%row
	l.To = l.From + d.stride
	if isBack {
		l.From, l.To = l.To, l.From
	}
	for j := range o.dims[:at+1] { // from the coordinate before, then from the next
		e := &o.dims[j]
		x := l.To / e.stride % e.size
		if x > 0 && (j < at || isBack) {
			l.Port++
		}
		if x+1 < e.size && j < at {
			l.Port++
		}
	}
	return l
}

// route corrects one dimension after the other.
func (o *open) route(src, dst int32, buf []int32) []int32 {
	for i := range o.dims {
		d := &o.dims[i]
		for to := dst / d.stride % d.size; src/d.stride%d.size < to; src += d.stride {
			buf = append(buf, o.ahead(d, src))
		}
		for to := dst / d.stride % d.size; src/d.stride%d.size > to; src -= d.stride {
			buf = append(buf, o.back(d, src))
		}
	}
	return buf
}

func (o *open) spread(src, dst int32, seed uint64, buf []int32) []int32 {
	for src != dst {
		p := pick{seed: seed, best: -1}
		for i := range o.dims {
			d := &o.dims[i]
			switch from, to := src/d.stride%d.size, dst/d.stride%d.size; {
			case from < to:
				p.try(o.ahead(d, src))
			case from > to:
				p.try(o.back(d, src))
			}
		}
		buf = append(buf, p.best)
		src = o.link(p.best).To
	}
	return buf
}

func (o *open) apart() (from, to int32, ok bool) { return 0, 0, false }

func (o *open) anchor(i int32) Anchor { return Anchor{Kind: i, To: -1} }

func (o *open) series() []series { return one(o) }

func (o *open) isAlike() bool { return false }

func (o *open) moves(Translation) bool { return false }
