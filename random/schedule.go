package random

import (
	"math/rand/v2"
	"slices"

	"github.com/leanovate/gopter"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// Schedule is a random schedule that shrinks. It prints the schedule's text.
type Schedule struct {
	*schedule.Schedule
	simpler func() []Schedule
}

// Schedules generates schedules of 2 to 5 ranks with 1 to 3 lanes each: sends to one peer or to
// all, puts, gets, signals, copies, flushes, and events between the lanes of a rank. They compute
// nothing in particular and may race, but finish on any network and with any number of slots. A
// failure shrinks to fewer exchanges.
func Schedules() gopter.Gen {
	return generator(func(r *rand.Rand) Schedule { return DrawSchedule(r, false) }, simplerSchedules)
}

// Jumbled generates schedules as Schedules does and swaps some neighbouring steps of lanes, so that
// some schedules deadlock.
func Jumbled() gopter.Gen {
	return generator(func(r *rand.Rand) Schedule { return DrawSchedule(r, true) }, simplerSchedules)
}

// Algorithms generates schedules that compute a collective of these kinds, or of any kind if none
// are given: random algorithms of algos.Table for the output of Specs, in 1 to 3 slices. A failure
// shrinks like a Spec.
func Algorithms(kinds ...collective.Kind) gopter.Gen {
	specs := Specs(kinds...)
	return func(p *gopter.GenParameters) *gopter.GenResult {
		for {
			spec := specs(p).Result.(collective.Spec)
			if s, ok := DrawAlgorithm(source(p), spec); ok {
				return gopter.NewGenResult(s, simplerSchedules)
			}
		}
	}
}

// DrawAlgorithm draws an algorithm of algos.Table for a collective, and the number of slices, and
// builds the schedule. It reports false if the algorithm does not support that collective: some
// need an even number of ranks, or a power of two.
func DrawAlgorithm(r *rand.Rand, spec collective.Spec) (Schedule, bool) {
	list := algos.ForKind(spec.Kind)
	if len(list) == 0 {
		return Schedule{}, false
	}
	return built(list[r.IntN(len(list))], spec, algos.Options{Slices: 1 + r.IntN(3)})
}

// built builds the schedule of an algorithm; false if it does not support the collective.
func built(a algos.Algorithm, spec collective.Spec, o algos.Options) (Schedule, bool) {
	s, err := a.Build(spec, o)
	if err != nil {
		return Schedule{}, false
	}
	return Schedule{s, func() (list []Schedule) {
		if o.Slices > 1 {
			if t, ok := built(a, spec, algos.Options{}); ok {
				list = append(list, t)
			}
		}
		for _, smaller := range simplerSpecs(spec) {
			if t, ok := built(a, smaller, o); ok {
				list = append(list, t)
			}
		}
		return list
	}}, true
}

// chunks is the number of chunks of a buffer that DrawSchedule makes, of 100 bytes each.
const chunks = 100

// exchanges holds the parts of a random schedule: the steps of each rank and lane.
type exchanges struct {
	lanes         [][][]step
	count         int // number of exchanges
	slices, slots int
}

// step is a step of a lane, which belongs to an exchange of the schedule. If post, it posts. If
// posts is above 0, it awaits so many posts of lane other.
type step struct {
	exchange int
	do       func(*schedule.Lane)
	post     bool
	other    int
	posts    int
}

// DrawSchedule draws a schedule as Schedules does or, with jumbled, as Jumbled does.
func DrawSchedule(r *rand.Rand, jumbled bool) Schedule {
	w := writer{rng: r, ranks: 2 + r.IntN(4), perRank: 1 + r.IntN(3)}
	for range w.ranks {
		w.lanes = append(w.lanes, make([][]step, w.perRank))
		w.posts = append(w.posts, make([]int, w.perRank))
	}
	for range 4 + r.IntN(30) {
		w.write()
		w.count++
	}
	for range 2 * w.ranks {
		if lane := w.lanes[r.IntN(w.ranks)][r.IntN(w.perRank)]; jumbled && len(lane) > 1 {
			i := r.IntN(len(lane) - 1)
			lane[i], lane[i+1] = lane[i+1], lane[i]
		}
	}
	w.slices, w.slots = 1+r.IntN(3), r.IntN(4)
	s, err := w.exchanges.build()
	if err != nil {
		panic(err) // a bug of the writer: the builder refused a step
	}
	return s
}

// build makes the schedule.
func (x exchanges) build() (Schedule, error) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Int8,
		Ranks: len(x.lanes), Count: 100 * chunks}
	s, err := schedule.Build(schedule.Plan{Spec: spec, Chunks: chunks, Lanes: len(x.lanes[0]),
		Slices: x.slices, Slots: x.slots, Lane: func(l *schedule.Lane) {
			for _, step := range x.lanes[l.Rank][l.Index] {
				if step.posts > 0 {
					l.After(step.other, step.posts)
				}
				step.do(l)
				if step.post {
					l.Post()
				}
			}
		}})
	return Schedule{s, x.simpler}, err
}

// simpler lists schedules with fewer exchanges: without half of them, without one, and in one
// slice.
func (x exchanges) simpler() (list []Schedule) {
	try := func(y exchanges) {
		if s, err := y.build(); err == nil {
			list = append(list, s)
		}
	}
	for n := x.count / 2; n > 0; n /= 2 {
		for from := 0; from < x.count; from += n {
			try(x.without(from, min(from+n, x.count)))
		}
	}
	if x.slices > 1 {
		y := x
		y.slices = 1
		try(y)
	}
	return list
}

// without leaves out the exchanges from … to−1. A step that awaited one of their posts awaits the
// last post before.
func (x exchanges) without(from, to int) exchanges {
	y := x
	y.lanes, y.count = nil, x.count-(to-from)
	for _, lanes := range x.lanes {
		left := make([][]int, len(lanes)) // of the first posts of a lane, so many are left
		var rest [][]step
		for i, lane := range lanes {
			left[i] = []int{0}
			var kept []step
			for _, s := range lane {
				isGone, n := s.exchange >= from && s.exchange < to, left[i][len(left[i])-1]
				if s.post && isGone {
					left[i] = append(left[i], n)
				} else if s.post {
					left[i] = append(left[i], n+1)
				}
				if s.exchange >= to {
					s.exchange -= to - from
				}
				if !isGone {
					kept = append(kept, s)
				}
			}
			rest = append(rest, kept)
		}
		for _, lane := range rest {
			for i := range lane {
				lane[i].posts = left[lane[i].other][lane[i].posts]
			}
		}
		y.lanes = append(y.lanes, rest)
	}
	return y
}

// simplerSchedules shrinks schedules.
func simplerSchedules(v any) gopter.Shrink {
	return each(v.(Schedule).simpler())
}

// writer appends exchanges in an order that can be executed with one slot.
type writer struct {
	exchanges
	rng            *rand.Rand
	ranks, perRank int
	posts          [][]int // so far, by rank and lane
}

// add appends a step to a lane; now and then it posts or awaits.
func (w *writer) add(rank, lane int, do func(*schedule.Lane)) {
	s := step{exchange: w.count, do: do, post: w.rng.IntN(3) == 0, other: w.rng.IntN(w.perRank)}
	if s.other != lane && w.posts[rank][s.other] > 0 && w.rng.IntN(3) == 0 {
		s.posts = 1 + w.rng.IntN(w.posts[rank][s.other])
	}
	if s.post {
		w.posts[rank][lane]++
	}
	w.lanes[rank][lane] = append(w.lanes[rank][lane], s)
}

// write appends one exchange to the lanes that take part.
func (w *writer) write() {
	src, dst := w.rng.IntN(w.ranks), w.rng.IntN(w.ranks-1)
	if dst >= src {
		dst++
	}
	from, to := w.rng.IntN(w.perRank), w.rng.IntN(w.perRank)
	at, n := w.rng.IntN(chunks), 1+w.rng.IntN(20)
	receive := func(rank int) {
		w.add(rank, to, func(l *schedule.Lane) {
			l.Facing(from)
			l.Recv(src, l.Out(at).Blocks(n))
		})
	}
	switch w.rng.IntN(8) {
	case 0:
		w.add(src, from, func(l *schedule.Lane) { l.Facing(to); l.Signal(dst) })
		w.add(dst, to, func(l *schedule.Lane) { l.Facing(from); l.Wait(src) })
	case 1:
		w.add(src, from, func(l *schedule.Lane) {
			l.Facing(to)
			l.Put(dst, l.Out(at).Blocks(n), l.In(at).Blocks(n))
		})
		w.add(dst, to, func(l *schedule.Lane) { l.Facing(from); l.WaitPut(src) })
	case 2:
		w.add(src, from, func(l *schedule.Lane) {
			l.Combine([]schedule.Region{l.Out(at).Blocks(n)}, nil, l.Get(dst, l.In(at).Blocks(n)),
				l.Local(l.In(at).Blocks(n)))
		})
	case 3:
		w.add(src, from, func(l *schedule.Lane) { l.Copy(l.Out(at).Blocks(n), l.In(at).Blocks(n)) })
		w.add(dst, to, func(l *schedule.Lane) { l.Flush() })
	case 4:
		peers := slices.DeleteFunc(ranksOf(w.ranks), func(rank int) bool { return rank == src })
		w.add(src, from, func(l *schedule.Lane) {
			l.Facing(to)
			l.Combine(nil, peers, l.Local(l.In(at).Blocks(n)))
		})
		for _, rank := range peers {
			receive(rank)
		}
	default:
		w.add(src, from, func(l *schedule.Lane) { l.Facing(to); l.Send(dst, l.In(at).Blocks(n)) })
		receive(dst)
	}
}
