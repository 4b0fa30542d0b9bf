package cuda

import (
	"collsim/dtype"
	"collsim/schedule"
)

// whole marks the only source of an operand that is the step's only one.
const whole = first | begins | ends

// compute plans the calculation of a step's value and its storage. Operands that a kernel of this
// GPU cannot access are copied to it first, and results from it afterwards. If a destination
// overlaps a source at another offset, the value is computed in scratch memory first.
func (p *execution) compute(l *lane, operands []operand, destinations [][]run, n int64) error {
	w := p.workOf(l, operands)
	// The driver copies between any two GPUs.
	byDriver := w.copies && l.engine == schedule.CopyEngine
	reaches := func(runs []run) bool { return byDriver || p.touches(l, runs) }
	for i := range operands {
		if reaches(operands[i].runs) {
			continue
		}
		room, err := p.scratch(l, n)
		if err != nil {
			return err
		}
		if err := p.transfer(l, operands[i].runs, room); err != nil {
			return err
		}
		operands[i].runs = room
	}
	var near, far [][]run
	for _, d := range destinations {
		if reaches(d) {
			near = append(near, d)
		} else {
			far = append(far, d)
		}
	}
	if len(far) == 0 && !tangled(operands, near) {
		return p.pieces(l, w, operands, near)
	}
	value, err := p.scratch(l, n)
	if err != nil {
		return err
	}
	if err := p.pieces(l, w, operands, [][]run{value}); err != nil {
		return err
	}
	for _, d := range far {
		if err := p.transfer(l, value, d); err != nil {
			return err
		}
	}
	if len(near) == 0 {
		return nil
	}
	return p.pieces(l, work{copies: true}, []operand{{value, whole}}, near)
}

// touches reports whether kernels of a lane can access memory.
func (p *execution) touches(l *lane, runs []run) bool {
	for _, r := range runs {
		if !l.rank.gpu.reaches[r.on.index] {
			return false
		}
	}
	return true
}

// scratch takes n bytes of scratch memory, which the lane keeps until its sub-step ends.
func (p *execution) scratch(l *lane, n int64) ([]run, error) {
	if l.roomed == len(l.rooms) {
		l.rooms = append(l.rooms, run{})
	}
	r := &l.rooms[l.roomed]
	if r.n < n {
		at, err := p.device.allocate(l.rank.gpu, n)
		if err != nil {
			return nil, err
		}
		*r = run{l.rank.gpu, uint64(at), n}
	}
	l.roomed++
	return []run{{r.on, r.at, n}}, nil
}

// transfer plans a copy between GPUs by a copy engine.
func (p *execution) transfer(l *lane, from, to []run) error {
	engine := l.engine
	l.engine = schedule.CopyEngine
	err := p.pieces(l, work{copies: true}, []operand{{from, whole}}, [][]run{to})
	l.engine = engine
	return err
}

// tangled reports whether a destination overlaps a source at another offset: a step would then
// overwrite elements before it reads them.
func tangled(operands []operand, destinations [][]run) bool {
	for _, d := range destinations {
		var to int64
		for _, w := range d {
			for i := range operands {
				var at int64
				for _, r := range operands[i].runs {
					apart := w.at+uint64(w.n) <= r.at || r.at+uint64(r.n) <= w.at
					if !apart && int64(w.at)-to != int64(r.at)-at {
						return true
					}
					at += r.n
				}
			}
			to += w.n
		}
	}
	return false
}

// pieces splits a step into pieces that are contiguous on all sides, and plans each.
func (p *execution) pieces(l *lane, w work, operands []operand, destinations [][]run) error {
	var lists [][]run
	w.flags, w.blocks = nil, l.given
	for _, o := range operands {
		lists = append(lists, append([]run{}, o.runs...))
		w.flags = append(w.flags, o.flags)
	}
	for _, d := range destinations {
		lists = append(lists, append([]run{}, d...))
	}
	for {
		n := int64(-1)
		for i := range lists {
			for len(lists[i]) > 0 && lists[i][0].n == 0 {
				lists[i] = lists[i][1:]
			}
			if len(lists[i]) == 0 {
				return nil
			}
			if r := lists[i][0]; n < 0 || r.n < n {
				n = r.n
			}
		}
		at := make([]run, len(lists))
		for i := range lists {
			r := &lists[i][0]
			at[i] = run{r.on, r.at, n}
			r.at, r.n = r.at+uint64(n), r.n-n
		}
		if err := p.piece(l, w, at[:len(operands)], at[len(operands):]); err != nil {
			return err
		}
	}
}

// A work describes the calculation of a step.
type work struct {
	arithmetic
	kernel kernelName
	copies bool // no calculation, only a copy
	flags  []byte
	blocks int32 // of its launch; 0: any number
}

// workOf returns the calculation of the loaded step.
func (p *execution) workOf(l *lane, operands []operand) (w work) {
	w.copies = len(operands) == 1 && operands[0].flags&scaled == 0 && !p.step.Scale
	if w.copies {
		return w
	}
	spec := l.rank.SpecOf(p.spot(l, l.rank.number), &p.step)
	w.kernel = kernelName{of: spec.Type.Component(), wide: p.wide && widens(spec.Type)}
	w.arithmetic = arithmeticOf(&spec, w.kernel.wide)
	if p.step.Scale {
		w.scales = 1
	}
	return w
}

// piece plans one piece of a step, of as many bytes in each operand as in each destination.
func (p *execution) piece(l *lane, w work, sources, destinations []run) error {
	if w.copies && l.engine == schedule.CopyEngine {
		for _, to := range destinations {
			p.emit(l, op{kind: copies, to: to, from: sources[0]})
		}
		return nil
	}
	from, to := addresses(sources), addresses(destinations)
	if w.copies {
		w.kernel = kernelName{of: widest(from, to, sources[0].n)}
	}
	w.elements = uint64(sources[0].n / int64(w.kernel.of.Width()))
	launch, err := p.device.launch(l.rank.gpu, &w, from, to)
	if err == nil {
		p.emit(l, launch)
	}
	return err
}

// addresses returns the addresses of runs.
func addresses(runs []run) (list []uint64) {
	for _, r := range runs {
		list = append(list, r.at)
	}
	return list
}

// widest returns the widest type whose alignment and size suit all runs.
func widest(sources, destinations []uint64, n int64) dtype.Type {
	all := uint64(n)
	for _, list := range [][]uint64{sources, destinations} {
		for _, at := range list {
			all |= at
		}
	}
	switch {
	case all%8 == 0:
		return dtype.Uint64
	case all%4 == 0:
		return dtype.Uint32
	case all%2 == 0:
		return dtype.Uint16
	}
	return dtype.Uint8
}
