package model

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// The rules of docs/time.md, each against its equation, computed by hand: rates are chosen so that
// the divisions have a remainder. 3 GB/s take ⌈n·1000/3⌉ ps for n bytes.

const gb = unit.Rate(1_000_000_000)

// rulesOf are those of an ideal device that is changed.
func rulesOf(change func(d *device.Device)) Rules {
	r := Rules{Env: Env{Device: device.Ideal(), Slots: 8}}
	if change != nil {
		change(&r.Device)
	}
	return r
}

// TestCost: D − S = o + ⌈(sources−1)·n/γ⌉, and ⌈n/copy rate⌉ where a step has no message and no
// peer; each is rounded up on its own, and stretched by the rank's slowdown on its own.
func TestCost(t *testing.T) {
	r := rulesOf(func(d *device.Device) { d.Overhead, d.ReduceRate, d.CopyRate = 50, 3*gb, 7*gb })
	local := schedule.Source{Kind: schedule.Local}
	message, get := schedule.Source{Kind: schedule.Message}, schedule.Source{Kind: schedule.Get}
	peer := []schedule.Dest{{}}
	for _, c := range []struct {
		step schedule.Step
		want unit.Time
	}{
		{schedule.Step{From: []schedule.Source{message}}, 50},                              // o
		{schedule.Step{From: []schedule.Source{message, local}}, 50 + 3334},                // ⌈10⁴/3⌉
		{schedule.Step{From: []schedule.Source{message, local, local}}, 50 + 6667},         // ⌈2·10⁴/3⌉
		{schedule.Step{From: []schedule.Source{local}}, 50 + 1429},                         // ⌈10⁴/7⌉
		{schedule.Step{From: []schedule.Source{local, local}}, 50 + 3334 + 1429},           // both
		{schedule.Step{From: []schedule.Source{local}, Send: peer}, 50},                    // a peer
		{schedule.Step{From: []schedule.Source{local, get}}, 50 + 3334},                    // a get
		{schedule.Step{Send: peer}, 50},                                                    // a signal
		{schedule.Step{}, 50},                                                              // nothing
		{schedule.Step{From: []schedule.Source{local, local, local}}, 50 + 6667 + 1429},    // two sums
		{schedule.Step{From: []schedule.Source{local, local}, Send: peer}, 50 + 3334},      // sent on
		{schedule.Step{Kernel: schedule.Opaque(123)}, 50 + 123},                            // computes
		{schedule.Step{Kernel: schedule.Opaque(123), From: []schedule.Source{local}}, 173}, // that alone
	} {
		require.Equal(t, c.want, r.Cost(0, &c.step, 10), "%+v", c.step)
	}
	r.FreeCompute = true
	require.EqualValues(t, 50, r.Cost(0, &schedule.Step{Kernel: schedule.Opaque(123)}, 10))

	// ⌈50·1.5⌉ + ⌈3334·1.5⌉ + ⌈1429·1.5⌉, of rank 1
	r.Slowdown = []unit.Share{1_000_000, 1_500_000}
	both := &schedule.Step{From: []schedule.Source{local, local}}
	require.EqualValues(t, 75+5001+2144, r.Cost(1, both, 10))
	require.EqualValues(t, 50+3334+1429, r.Cost(0, both, 10))
	r.Device.ReduceRate, r.Device.CopyRate = unit.Unlimited, unit.Unlimited
	require.EqualValues(t, 75, r.Cost(1, both, 10))
	r.Device.Overhead = unit.Forever
	require.Equal(t, unit.Forever, r.Cost(1, both, 10))
}

// TestPace: a lane puts n bytes to each of k peers out in ⌈nk/κ⌉, or as fast as the slowest link of
// the route, if that is slower.
func TestPace(t *testing.T) {
	r := rulesOf(func(d *device.Device) { d.LaneRate = 3 * gb })
	require.EqualValues(t, 0, r.Pace(0, 0, 10))
	require.EqualValues(t, 3334, r.Pace(0, 1, 10))      // ⌈10⁴/3⌉
	require.EqualValues(t, 13334, r.Pace(0, 4, 10))     // ⌈4·10⁴/3⌉
	require.EqualValues(t, 13334, r.Lead(0, 4, gb, 10)) // a link of 1 GB/s takes 10⁴
	require.EqualValues(t, 10000, r.Lead(0, 2, gb, 10)) // the lane takes 6667
	require.EqualValues(t, 0, r.Pace(0, 4, 0))
	require.Equal(t, uint64(3*gb)<<20, r.PaceRate(0, 1))
	require.Equal(t, uint64(3*gb)<<20/7, r.PaceRate(0, 7)) // rounded down
	require.Equal(t, NoCap, r.PaceRate(0, 0))
	r.Slowdown = []unit.Share{1_300_000}
	require.EqualValues(t, 4335, r.Pace(0, 1, 10)) // ⌈3334·1.3⌉
	// ⌊3·10⁹·2²⁰·10⁶ / 1.3·10⁶ / 7⌋ = ⌊3145728·10⁹ · 10 / 91⌋
	require.Equal(t, uint64(3145728)*1_000_000_000*10/91, r.PaceRate(0, 7))
	r.Device.LaneRate = unit.Unlimited
	require.Equal(t, NoCap, r.PaceRate(0, 7))
	require.EqualValues(t, 10000, r.Lead(0, 7, gb, 10))
}

// TestBegin: a lane begins when its rank does, and the launch of the call later, if it has steps.
func TestBegin(t *testing.T) {
	r := rulesOf(func(d *device.Device) { d.Launch = 1000 })
	require.Equal(t, Moment{T: 1000}, r.Begin(0, true))
	require.Equal(t, Moment{}, r.Begin(0, false))
	r.Start, r.Slowdown = []unit.Time{0, 70}, []unit.Share{1_000_000, 2_000_000}
	require.Equal(t, Moment{T: 2070}, r.Begin(1, true))
	require.Equal(t, Moment{T: 70}, r.Begin(1, false))
	r.launches = true // brackets are launched one by one
	require.Equal(t, Moment{T: 70}, r.Begin(1, true))
}

// TestSlots: a pad holds one message, what is free any number, and a FIFO what the schedule says,
// or else its part, or else the environment.
func TestSlots(t *testing.T) {
	s, err := schedule.Build(schedule.Plan{Spec: collective.Spec{Kind: collective.AllReduce,
		Op: collective.Sum, Type: dtype.Float32, Ranks: 2, Count: 4}, Chunks: 1,
		Lane: func(l *schedule.Lane) {}})
	require.NoError(t, err)
	env := Env{Device: device.Ideal(), Slots: 5}
	r := NewRules(s, &env)
	require.Equal(t, []int32{5, 1, 0}, []int32{r.Slots(schedule.FIFO), r.Slots(schedule.Pad),
		r.Slots(schedule.Free)})
	require.Equal(t, []int32{5, 3}, []int32{r.SlotsOf(0), r.SlotsOf(3)})
	require.Equal(t, 5, r.DefaultSlots())
	s.Slots = 2
	r = NewRules(s, &env)
	require.EqualValues(t, 2, r.Slots(schedule.FIFO))
	env.Slots, s.Slots = 1<<40, 0
	r = NewRules(s, &env)
	require.EqualValues(t, 1<<31-1, r.Slots(schedule.FIFO))
	require.EqualValues(t, 1<<31-1, r.SlotsOf(1<<40))
	r.Device.SlotLatency = 30
	require.Equal(t, Moment{T: 130}, r.Freed(Moment{T: 100, Wave: 4}))
	require.False(t, r.Launches())
}

// TestMoments: what takes time begins a wave anew, what takes none stays in it; the later of two is
// the one of the later time, and at one time of the later wave.
func TestMoments(t *testing.T) {
	a, b := Moment{T: 7, Wave: 2}, Moment{T: 7, Wave: 3}
	require.Equal(t, a, a.Plus(0))
	require.Equal(t, Moment{T: 8}, a.Plus(1))
	require.Equal(t, unit.Forever, a.Plus(unit.Forever).T)
	require.Equal(t, b, Later(a, b))
	require.Equal(t, b, Later(b, a))
	require.Equal(t, Moment{T: 8}, Later(b, Moment{T: 8}))
	require.Equal(t, Moment{T: 8}, Later(Moment{T: 8}, b))

	require.EqualValues(t, 7, scaled(7, whole))
	require.EqualValues(t, 11, scaled(7, 1_500_000)) // ⌈10.5⌉
	require.EqualValues(t, 14, scaled(7, 2_000_000)) // exactly
	require.EqualValues(t, 4, scaled(7, 500_000))    // ⌈3.5⌉
	require.Equal(t, unit.Forever, scaled(unit.Forever, 2_000_000))
	require.Zero(t, scaled(0, 2_000_000))
	require.EqualValues(t, 6667, times(10, 2, 3*gb))
	require.Zero(t, times(10, 2, unit.Unlimited))
	require.Equal(t, unit.Forever, times(1<<62, 2, 3*gb))
	require.Equal(t, unit.Forever, times(1<<62, 8, 3*gb))
}

// sent is what becomes of a message of n bytes that links carry one after the other, each free from
// a time on, by the equations of docs/time.md as they stand there, in plain numbers.
type sent struct{ leaves, arrival unit.Time }

type hop struct {
	rate    unit.Rate
	latency unit.Time
	free    unit.Time
}

// byEquations is x_1 = D; start_i = max(x_i, free_i); tail_0 = start_1 + ⌈nk/κ⌉, or D + ⌈nk/κ⌉ of a
// post; tail_i = max(start_i + ⌈n/b_i⌉, tail_{i−1} + l_{i−1}), l_0 = 0; x_{i+1} = start_i + l_i, or
// tail_i + l_i; arrival = tail_m + l_m; the last byte leaves at start_1 + max(⌈nk/κ⌉, ⌈n/b_i⌉ …).
func byEquations(hops []hop, d unit.Time, n, pace int64, store, post bool) sent {
	over := func(h hop) unit.Time {
		rate := int64(h.rate)
		return unit.Time((n*1_000_000_000_000 + rate - 1) / rate)
	}
	x, lead := d, unit.Time(pace)
	var s sent
	var tail, latency unit.Time
	for i, h := range hops {
		start := max(x, h.free)
		if i == 0 {
			tail, s.leaves = start+unit.Time(pace), start
			if post {
				tail = d + unit.Time(pace)
			}
		}
		tail = max(start+over(h), tail+latency)
		lead, latency = max(lead, over(h)), h.latency
		if x = start + latency; store {
			x = tail + latency
		}
	}
	s.leaves += lead
	s.arrival = tail + latency
	return s
}

// TestFIFO: messages over random links, by the rules and by the equations.
func TestFIFO(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 3000 {
		var hops []hop
		slowest := unit.Unlimited
		for range 1 + rng.IntN(4) {
			h := hop{unit.Rate(1+rng.IntN(7)) * gb, unit.Time(rng.IntN(3) * 700),
				unit.Time(rng.IntN(9000))}
			hops, slowest = append(hops, h), min(slowest, h.rate)
		}
		r := rulesOf(func(d *device.Device) { d.LaneRate = unit.Rate(1+rng.IntN(5)) * gb })
		d, n, peers := unit.Time(rng.IntN(5000)), unit.Bytes(rng.IntN(20)), int32(1+rng.IntN(3))
		store, post := Switching(rng.IntN(2)), rng.IntN(2) == 0

		asks, tail, latency := Moment{T: d}, Moment{}, unit.Time(0)
		var leaves Moment
		for i, h := range hops {
			link := Link{Bandwidth: h.rate}
			start, over := Serve(asks, h.free, link.Over(n))
			if i == 0 {
				tail = PutOut(start, Moment{T: d}, post, 0, r.Pace(0, peers, n))
				leaves = Leaves(start, 0, r.Lead(0, peers, slowest, n))
			} else {
				tail = tail.Plus(latency)
			}
			tail = Later(over, tail)
			latency = h.latency
			asks, _ = store.Forward(start, tail, latency)
		}
		_, came := store.Forward(Moment{}, tail, latency)
		want := byEquations(hops, d, int64(n), int64(r.Pace(0, peers, n)), store == StoreForward, post)
		require.Equal(t, want, sent{leaves.T, came.T}, "%v, %d bytes at %v", hops, n, d)
	}
	// At one time a service is of the wave after what asks for it; a wait ends in wave 0.
	start, over := Serve(Moment{T: 5, Wave: 2}, 5, 0)
	require.Equal(t, []Moment{{5, 3}, {5, 3}}, []Moment{start, over})
	start, over = Serve(Moment{T: 5, Wave: 2}, 6, 4)
	require.Equal(t, []Moment{{6, 0}, {10, 0}}, []Moment{start, over})
}

// TestSegments: parts of a message take together what the whole does, at every rate, and the last
// part is what is left.
func TestSegments(t *testing.T) {
	r := rulesOf(nil)
	require.EqualValues(t, 10, r.SegmentEnd(4, 10))
	require.EqualValues(t, 1, r.Segments(10, false))
	r.Segment = 4
	for _, c := range []struct{ from, n, want unit.Bytes }{{0, 10, 4}, {4, 10, 8}, {8, 10, 10},
		{0, 4, 4}, {0, 3, 3}, {0, 0, 0}, {6, 10, 10}} {
		require.Equal(t, c.want, r.SegmentEnd(c.from, c.n), "%+v", c)
	}
	for n, want := range map[unit.Bytes]int64{0: 1, 3: 1, 4: 1, 5: 2, 8: 2, 9: 3} {
		require.Equal(t, want, r.Segments(n, false), n)
		require.EqualValues(t, 1, r.Segments(n, true), n)
	}
	link := Link{Bandwidth: 3 * gb}
	require.EqualValues(t, 3334, link.Over(10))
	require.EqualValues(t, 1334, link.Part(0, 4))
	require.EqualValues(t, 2667-1334, link.Part(4, 8)) // ⌈8000/3⌉ − ⌈4000/3⌉
	require.EqualValues(t, 3334-2667, link.Part(8, 10))
	require.EqualValues(t, 3334, link.Over(10))
}

// TestFluid: n bytes are n·10¹²·2²⁰ units of work, which a rate in units of 2⁻²⁰ B/s takes a time
// for, rounded up; a flow that changes its rate keeps what it has left.
func TestFluid(t *testing.T) {
	require.Equal(t, uint64(3)<<20, FluidRate(3))
	rate := FluidRate(3 * gb)
	require.EqualValues(t, 3334, WorkOf(10).Over(rate))
	require.EqualValues(t, 3000, WorkOf(9).Over(rate))
	require.Equal(t, unit.Forever, WorkOf(1<<59).Over(1))
	n, rest := WorkOf(10).Bytes()
	require.Equal(t, []uint64{10, 0}, []uint64{uint64(n), rest})
	// 10 bytes for 1000 ps at 3 GB/s leave 7, which take 7000 ps at 1 GB/s.
	f := Rest{Work: WorkOf(10), Since: 500}
	require.EqualValues(t, 1500+7000, f.Change(rate, FluidRate(gb), 1500))
	require.Equal(t, Rest{Work: WorkOf(7), Since: 1500}, f)
	require.EqualValues(t, 1500+7000, endOf(&f, FluidRate(gb), Work{}))
	require.EqualValues(t, 1500+5000, endOf(&f, FluidRate(gb), WorkOf(2)))
	require.Equal(t, Work{}, f.left(rate, 1<<40), "no less than nothing")
	require.Equal(t, WorkOf(12), WorkOf(7).plus(WorkOf(5)))
	// Of 3000 ps at a third of the rate, 2000 would not have been needed.
	require.EqualValues(t, 2000, LostTime(3000, rate, FluidRate(gb)))
	require.Zero(t, LostTime(3000, rate, rate))

	r := rulesOf(func(d *device.Device) { d.LaneRate = 3 * gb })
	alone, ok := r.Alone(0, 2, 2*gb, 10)
	require.True(t, ok)
	require.EqualValues(t, 6667, alone) // 3/2 GB/s of the lane, less than the link's 2
	alone, ok = r.Alone(0, 1, 2*gb, 10)
	require.True(t, ok)
	require.EqualValues(t, 5000, alone)
	r.Device.LaneRate = 1
	_, ok = r.Alone(0, 1<<21, 2*gb, 10)
	require.False(t, ok, "2²⁰ units over 2²¹ peers are none")
}

// TestOpaqueGrid: an opaque kernel has the blocks of its launch, each of its time; or all SMs in 50
// waves, or fewer, that divide its time, and moves nothing.
func TestOpaqueGrid(t *testing.T) {
	r := rulesOf(func(d *device.Device) { d.GPU.SMs = 10 })
	op := schedule.Opaque(1000)
	g := r.GridOf(0, op, nil)
	require.Equal(t, []int64{500, 20}, []int64{g.Blocks, int64(g.Time)}) // 50 waves of 20 ps
	require.False(t, g.Moves())
	require.Zero(t, g.bytes(0, 5))
	g = r.GridOf(0, op, &schedule.Launch{Blocks: 7})
	require.Equal(t, []int64{7, 1000}, []int64{g.Blocks, int64(g.Time)})
	g = r.GridOf(0, schedule.Opaque(49), nil)
	require.Equal(t, []int64{490, 1}, []int64{g.Blocks, int64(g.Time)}) // 49 waves of 1 ps
	r.FreeCompute = true
	require.Zero(t, r.GridOf(0, op, nil).Blocks)
}

// TestBytesOfExpand: of a new axis of 3, what is read is a third of what is written, rounded up to
// elements.
func TestBytesOfExpand(t *testing.T) {
	op, err := kernel.Parse("expand 5x12 axis=1 times=3 float32->float32")
	require.NoError(t, err)
	r := rulesOf(func(d *device.Device) {
		d.GPU.SMs, d.GPU.Tile = 4, device.Tile{Rows: 1, Columns: 8}
	})
	g := r.GridOf(0, &op, nil)
	require.EqualValues(t, 60*4+180*4, g.bytes(0, g.Blocks))
	first := op.Block(kernel.Tile{Rows: 1, Columns: 8}, 1).Out.At // elements of block 0
	require.EqualValues(t, 8, first)
	require.EqualValues(t, 3*4+8*4, g.bytes(0, 1)) // ⌈8/3⌉ read
	time, n := g.Resident(g.Blocks)
	require.Equal(t, []int64{int64(g.Time), 960}, []int64{int64(time), int64(n)})
	time, _ = g.Resident((g.Blocks + 1) / 2)
	require.Equal(t, 2*g.Time, time)
}

// TestCapOf: at the least rate that is enough, n bytes take no longer than a time; at one less,
// they do.
func TestCapOf(t *testing.T) {
	for _, c := range []struct {
		n unit.Bytes
		t unit.Time
	}{{10, 3333}, {10, 1}, {1, 7}, {1 << 30, 123_456_789}} {
		rate := CapOf(c.n, c.t)
		require.LessOrEqual(t, WorkOf(c.n).Over(rate), c.t)
		require.Greater(t, WorkOf(c.n).Over(rate-1), c.t)
	}
	require.Equal(t, NoCap, CapOf(10, 0))
}

// TestFastest: fluid sharing counts rates up to MaxFluidRate, and what is unlimited; in turn, any.
func TestFastest(t *testing.T) {
	s, err := schedule.Build(schedule.Plan{Spec: collective.Spec{Kind: collective.AllReduce,
		Op: collective.Sum, Type: dtype.Float32, Ranks: 2, Count: 4}, Chunks: 1,
		Lane: func(l *schedule.Lane) {}})
	require.NoError(t, err)
	for _, c := range []struct {
		memory, link unit.Rate
		sharing      Sharing
		wrong        string
	}{
		{MaxFluidRate, MaxFluidRate, Fluid, ""},
		{unit.Unlimited, unit.Unlimited, Fluid, ""},
		{MaxFluidRate + 1, gb, Fluid, "hbm_bandwidth"},
		{MaxFluidRate + 1, gb, FIFO, "hbm_bandwidth"},
		{gb, MaxFluidRate + 1, Fluid, "fluid sharing counts bandwidths up to"},
		{gb, MaxFluidRate + 1, FIFO, ""},
	} {
		graph, err := topology.Switch(2, c.link, 0)
		require.NoError(t, err)
		env := Env{Graph: graph, Device: device.Ideal(), Sharing: c.sharing}
		env.Device.GPU.HBM = c.memory
		if err := env.Validate(s); c.wrong == "" {
			require.NoError(t, err, "%+v", c)
		} else {
			require.ErrorContains(t, err, c.wrong)
		}
	}
}
