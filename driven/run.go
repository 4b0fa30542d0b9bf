package driven

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// lane is a lane and the callback that it is at.
type lane struct {
	program    *schedule.Program
	cursor     schedule.Cursor
	rank, lane int
	ran        int         // callbacks
	posts      int32       // events
	wants      *Key        // the message that its callback waits for
	sent, got  map[Key]int // messages so far on each connection, its number left out
}

// message is on its way, or early.
type message[T any] struct {
	key  Key
	data []T
	dest *landing[T]
}

// landing is where a put's bytes go when they arrive. Puts of one lane to one peer land in the
// order in which they were issued; packets, which are stores of its own threads, among themselves.
type landing[T any] struct {
	at     [][]T
	packet bool
}

// run is the state of one collective.
type run[T dtype.Number] struct {
	s        *schedule.Schedule
	o        Options
	lanes    []lane
	first    []int // lane of each rank among all
	left     []int // lanes of each rank that have not ended
	told     []bool
	memory   [][3][]T
	ready    []int // lanes whose callback may run
	flying   []message[T]
	early    map[Key][]T
	waiting  map[Key]int // lane
	awaiting map[int]bool
	step     schedule.Step
}

func newRun[T dtype.Number](s *schedule.Schedule, o Options) *run[T] {
	ranks := s.Spec.Ranks
	r := &run[T]{s: s, o: o, left: make([]int, ranks), told: make([]bool, ranks),
		memory: make([][3][]T, ranks), early: map[Key][]T{}, waiting: map[Key]int{},
		awaiting: map[int]bool{}}
	for rank := range ranks {
		for _, b := range []schedule.Buffer{schedule.Input, schedule.Output, schedule.Scratch} {
			home, base := s.Home(b, rank)
			if n := base + s.Len(b, rank); n > int64(len(r.memory[rank][home])) {
				r.memory[rank][home] = make([]T, n)
			}
		}
		p := s.Program(rank)
		r.first = append(r.first, len(r.lanes))
		r.left[rank] = p.Lanes()
		for i := range p.Lanes() {
			r.lanes = append(r.lanes, lane{program: p, cursor: p.Walk(i), rank: rank, lane: i,
				sent: map[Key]int{}, got: map[Key]int{}})
		}
		if p.Lanes() == 0 {
			r.finish(rank, nil)
		}
	}
	return r
}

// buffer is the memory that a buffer lies in, and where it begins there.
func (r *run[T]) buffer(b schedule.Buffer, rank int) ([]T, int64) {
	home, base := r.s.Home(b, rank)
	return r.memory[rank][home], base
}

// deliver has one message arrive: its callback may run if its lane is there, else it is early.
func (r *run[T]) deliver() {
	i := 0
	if r.o.Next != nil {
		i = r.o.Next(len(r.flying))
	}
	i = r.before(i)
	m := r.flying[i]
	r.flying = append(r.flying[:i], r.flying[i+1:]...)
	if m.dest != nil {
		scatter(m.dest.at, m.data)
		m.data = nil
	}
	r.early[m.key] = m.data
	if lane, there := r.waiting[m.key]; there {
		delete(r.waiting, m.key)
		r.lanes[lane].wants = nil
		r.ready = append(r.ready, lane)
	}
}

// before is the first message on its way that cannot be overtaken by the i-th: itself, or of a put
// the first one of its lane to its peer, in the same way.
func (r *run[T]) before(i int) int {
	m := &r.flying[i]
	for j := range r.flying[:i] {
		o := &r.flying[j]
		if m.dest != nil && o.dest != nil && m.dest.packet == o.dest.packet && m.key.To == o.key.To &&
			m.key.From == o.key.From && m.key.FromLane == o.key.FromLane {
			return j
		}
	}
	return i
}

// advance runs the callbacks of a lane until one is not ready.
func (r *run[T]) advance(at int) error {
	l := &r.lanes[at]
	delete(r.awaiting, at)
	for !l.cursor.Done() {
		l.program.Load(&l.cursor, &r.step)
		if !r.arrived(at, l) || !r.posted(at, l) {
			return nil
		}
		if err := r.callback(l); err != nil {
			return err
		}
		if r.step.Post && l.cursor.Last(int32(r.s.Slices)) {
			l.posts++
			for other := r.first[l.rank]; other < len(r.lanes) && r.lanes[other].rank == l.rank; other++ {
				if r.awaiting[other] {
					delete(r.awaiting, other)
					r.ready = append(r.ready, other)
				}
			}
		}
		l.cursor.Next(int32(r.s.Slices))
	}
	if r.left[l.rank]--; r.left[l.rank] == 0 {
		r.finish(l.rank, nil)
	}
	return nil
}

// arrived reports whether the messages of the step in r.step are there; if not, the callback is
// registered under the key of the first that is not.
func (r *run[T]) arrived(at int, l *lane) bool {
	for i := range r.step.From {
		f := &r.step.From[i]
		if f.Kind != schedule.Message {
			continue
		}
		key := r.incoming(l, &f.Peer)
		if _, there := r.early[key]; !there {
			r.waiting[key], l.wants = at, &key
			return false
		}
	}
	return true
}

// incoming is the key of the next message from a peer.
func (r *run[T]) incoming(l *lane, p *schedule.Peer) Key {
	key := Key{Group: r.o.Group, Instance: r.o.Instance, From: int(p.Rank), FromLane: int(p.Lane),
		To: l.rank, ToLane: l.lane, Class: p.Class, Tag: int(p.Tag)}
	key.Number = l.got[key]
	return key
}

// posted reports whether the events of the step have been posted.
func (r *run[T]) posted(at int, l *lane) bool {
	if l.cursor.Slice() > 0 {
		return true
	}
	for _, e := range r.step.Await {
		if r.lanes[r.first[l.rank]+int(e.Lane)].posts < e.Value {
			r.awaiting[at] = true
			return false
		}
	}
	return true
}

// callback does what the step in r.step says.
func (r *run[T]) callback(l *lane) error {
	if r.o.Ran != nil {
		r.o.Ran(l.rank, l.lane, l.ran)
	}
	l.ran++
	spec := r.s.SpecOf(l.rank)
	var value []T
	for i := range r.step.From {
		operand, err := r.operand(l, &r.step.From[i])
		if err == nil && i > 0 {
			err = combine(spec.Op, value, operand)
		} else if i == 0 {
			value = operand
		}
		if err != nil {
			return err
		}
	}
	if r.step.Scale {
		scale(spec, value)
	}
	for i := range r.step.Send {
		if err := r.send(l, &r.step.Send[i], value); err != nil {
			return err
		}
	}
	for i := range r.step.To {
		if err := r.store(l, l.rank, &r.step.To[i], value); err != nil {
			return err
		}
	}
	return nil
}

// operand is a source's elements, in memory of their own.
func (r *run[T]) operand(l *lane, f *schedule.Source) ([]T, error) {
	var value []T
	switch f.Kind {
	case schedule.Message:
		key := r.incoming(l, &f.Peer)
		value = r.early[key]
		delete(r.early, key)
		key.Number = 0
		l.got[key]++
	case schedule.Local:
		value = gather(r.views(l, l.rank, &f.Region))
	case schedule.Get:
		value = gather(r.views(l, int(f.Peer.Rank), &f.Region))
	case schedule.Multimem:
		for i, rank := range f.Team {
			part := gather(r.views(l, int(rank), &f.Region))
			if i == 0 {
				value = part
			} else if err := combine(r.s.Spec.Op, value, part); err != nil {
				return nil, err
			}
		}
	}
	if f.Scale {
		scale(r.s.SpecOf(l.rank), value)
	}
	return value, nil
}

// send puts a message on its way, or stores it where others see it at once.
func (r *run[T]) send(l *lane, d *schedule.Dest, value []T) error {
	for _, rank := range d.Team {
		if err := r.store(l, int(rank), &d.Region, value); err != nil {
			return err
		}
	}
	if d.Put && d.Silent {
		if err := r.store(l, int(d.Peer.Rank), &d.Region, value); err != nil {
			return err
		}
	}
	if !d.Message() {
		return nil
	}
	key := Key{Group: r.o.Group, Instance: r.o.Instance, From: l.rank, FromLane: l.lane,
		To: int(d.Peer.Rank), ToLane: int(d.Peer.Lane), Class: d.Peer.Class, Tag: int(d.Peer.Tag)}
	number := l.sent[key]
	l.sent[key]++
	key.Number = number
	if r.o.Fail != nil {
		if err := r.o.Fail(key); err != nil {
			return &Failure{Key: key, Err: err}
		}
	}
	m := message[T]{key: key, data: append([]T{}, value...)}
	if d.Put {
		m.dest = &landing[T]{r.views(l, int(d.Peer.Rank), &d.Region), d.Packet}
		if err := fits(m.dest.at, value); err != nil {
			return err
		}
	}
	r.flying = append(r.flying, m)
	return nil
}

// views are the runs of a rank's memory that a region names.
func (r *run[T]) views(l *lane, rank int, g *schedule.Region) [][]T {
	where := schedule.Spot{Rank: rank, Channel: l.program.Channel(l.lane),
		Slice: int(l.cursor.Slice())}
	memory, base := r.buffer(g.Buffer, rank)
	spans := r.s.Spans(nil, where, g)
	views := make([][]T, len(spans))
	for i, span := range spans {
		views[i] = memory[base+span.Off : base+span.Off+span.Len]
	}
	return views
}

// store puts a value into a region of a rank at once.
func (r *run[T]) store(l *lane, rank int, g *schedule.Region, value []T) error {
	views := r.views(l, rank, g)
	scatter(views, value)
	return fits(views, value)
}

// fits says that a value and a region are of different lengths.
func fits[T any](views [][]T, value []T) error {
	room := 0
	for _, v := range views {
		room += len(v)
	}
	if room != len(value) {
		return fmt.Errorf("driven: %d elements for a region of %d", len(value), room)
	}
	return nil
}

func gather[T any](views [][]T) []T {
	var all []T
	for _, v := range views {
		all = append(all, v...)
	}
	return all
}

func scatter[T any](views [][]T, value []T) {
	for _, v := range views {
		value = value[copy(v, value):]
	}
}

// combine makes dst what dst and src give together, in this order.
func combine[T dtype.Number](op collective.Op, dst, src []T) error {
	if len(dst) != len(src) {
		return fmt.Errorf("driven: operands of %d and %d elements", len(dst), len(src))
	}
	switch op {
	case collective.Prod:
		dtype.Prod(dst, src)
	case collective.Min:
		dtype.Min(dst, src)
	case collective.Max:
		dtype.Max(dst, src)
	default:
		dtype.Sum(dst, src)
	}
	return nil
}

// scale is premulsum's factor, or the mean's 1/n before or division after the sum.
func scale[T dtype.Number](spec *collective.Spec, value []T) {
	switch {
	case spec.Op == collective.PremulSum:
		dtype.Scale(value, dtype.From[T](spec.Factor))
	case spec.ScalesBefore():
		dtype.Scale(value, dtype.Reciprocal[T](spec.Ranks))
	default:
		dtype.Divide(value, spec.Ranks)
	}
}
