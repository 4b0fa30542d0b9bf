package perfetto_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/formats/perfetto"
	"collsim/internal/tier"
	"collsim/trace"
	"collsim/unit"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// pair is a send of 8.4 ns, whose receiver waits, and then acknowledges; its link was idle between.
func pair() *trace.Trace {
	const send, recv = trace.VerbSend, trace.VerbRecv
	return &trace.Trace{
		Tracks: []trace.Track{{Rank: 0}, {Rank: 1}, {Rank: 1, Lane: 1, Name: `stream "a"`}},
		Intervals: []trace.Interval{
			{Track: 0, Kind: trace.Send, Verb: send, Peer: 1, Bytes: 8, Done: 400, End: 8400},
			{Track: 1, Kind: trace.Reduce, Verb: recv | trace.VerbReduce, Chunk: 2, Slice: 1,
				Bytes: 8, Start: 9400, Done: 9400, End: 9900, Round: 1},
			{Track: 2, Kind: trace.Compute, Chunk: -1, Peer: -1, Ready: 100, Start: 1500,
				Done: 1500, End: 11_000},
		},
		Messages: []trace.Message{{From: 0, To: 1, Sent: 400, Arrived: 9400, Bytes: 8}},
		Counters: []trace.Counter{{Name: "gpu0->gpu1", Samples: []trace.Sample{
			{At: 400, Value: 0}, {At: 4400, Value: 5}, {At: 6400, Value: 5}, {At: 8400, Value: 8}}}},
		End: 11_000,
	}
}

func write(t testing.TB, run *trace.Trace, o perfetto.Options) (proto, json []byte) {
	t.Helper()
	var p, j bytes.Buffer
	require.NoError(t, perfetto.Write(&p, run, o))
	require.NoError(t, perfetto.WriteJSON(&j, run, o))
	return p.Bytes(), j.Bytes()
}

func TestGolden(t *testing.T) {
	o := perfetto.Options{Devices: []string{"node0/gpu0"}}
	proto, json := write(t, pair(), o)
	again, _ := write(t, pair(), o)
	require.Equal(t, proto, again, "the same trace gives the same bytes")
	path := filepath.Join("testdata", "pair.json")
	if *update {
		require.NoError(t, os.WriteFile(path, json, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(json))
}

func TestWhatIsShown(t *testing.T) {
	proto, json := write(t, pair(), perfetto.Options{Devices: []string{"node0/gpu0"}})
	want := shown{
		Slices: []shownSlice{
			{"rank 0 · node0/gpu0", "lane 0", "send", 0, 8, map[string]int64{"chunk": 0, "slice": 0,
				"bytes": 8, "peer": 1, "round": 0, "waited_ps": 0, "start_ps": 0, "end_ps": 8400}},
			{"rank 1", "lane 0", "recvReduce", 9, 9, map[string]int64{"chunk": 2, "slice": 1,
				"bytes": 8, "peer": 0, "round": 1, "waited_ps": 9400, "start_ps": 9400,
				"end_ps": 9900}},
			{"rank 1", `stream "a"`, "compute", 1, 11, map[string]int64{"bytes": 0, "round": 0,
				"waited_ps": 1400, "start_ps": 1500, "end_ps": 11_000}},
		},
		Arrows: []shownArrow{{0, 1}},
		Counters: []shownLevel{
			{"links", "gpu0->gpu1", "GB/s", 0, 1.25}, // 5 B in 4 ns
			{"links", "gpu0->gpu1", "GB/s", 4, 0},
			{"links", "gpu0->gpu1", "GB/s", 6, 1.5}, // 3 B in 2 ns
			{"links", "gpu0->gpu1", "GB/s", 8, 0},
		},
	}
	require.Equal(t, want, readProto(t, proto).shown)
	require.Equal(t, want, readJSON(t, json))
}

// TestOrder checks what Perfetto sorts by: ranks count up over processes, and over threads; the
// root says that they count.
func TestOrder(t *testing.T) {
	run := &trace.Trace{Counters: make([]trace.Counter, 3)}
	for rank := range 12 {
		for lane := range 3 {
			run.Tracks = append(run.Tracks, trace.Track{Rank: int32(rank), Lane: int32(lane)})
		}
	}
	proto, _ := write(t, run, perfetto.Options{})
	tracks := readProto(t, proto).tracks
	require.EqualValues(t, 1, tracks[0].processOrder)
	require.EqualValues(t, 1, tracks[0].laneOrder)
	require.Len(t, tracks, 1+13+36+1+3)
	ids := map[uint64]bool{}
	var process, lane, counter uint64
	for id := uint64(1); id < uint64(len(tracks)); id++ {
		switch k := tracks[id]; {
		case k.tid > 0:
			require.Equal(t, fmt.Sprintf("rank %d", lane/3), tracks[k.parent].name)
			require.Equal(t, fmt.Sprintf("lane %d", lane%3), k.name)
			require.Equal(t, lane, k.rank)
			require.False(t, ids[k.tid], "a thread's number is its own, and no process's")
			ids[k.tid] = true
			lane++
		case k.pid > 0:
			require.Equal(t, process, k.rank)
			require.False(t, ids[k.pid])
			ids[k.pid] = true
			process++
		case k.unit != "":
			require.Equal(t, counter, k.rank)
			counter++
		}
	}
	require.Equal(t, "links", tracks[13].name, "the last process")
	require.EqualValues(t, []uint64{13, 36, 3}, []uint64{process, lane, counter})
}

// samples are times in ps and totals in turn.
func samples(pairs ...int64) (s []trace.Sample) {
	for n := 0; n < len(pairs); n += 2 {
		s = append(s, trace.Sample{At: unit.Time(pairs[n]), Value: unit.Bytes(pairs[n+1])})
	}
	return s
}

func TestLevels(t *testing.T) {
	cases := []struct {
		name    string
		samples []trace.Sample
		want    []float64 // ns, GB/s in turn
	}{
		{"nothing", nil, nil},
		{"nothing flows", samples(1000, 0), []float64{1, 0}},
		{"as told", samples(0, 0, 2000, 10), []float64{0, 5, 2, 0}},
		{"both ends in one nanosecond", samples(1100, 0, 1900, 10),
			[]float64{1, 10, 2, 0}},
		{"the end in the nanosecond of a change", samples(0, 0, 2100, 8, 2900, 10),
			[]float64{0, 3.44828, 2, 0}}, // 10 B in 2.9 ns
		{"a jump", samples(3000, 0, 3000, 7, 5000, 7, 6000, 8),
			[]float64{3, 3.5, 5, 1, 6, 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			run := &trace.Trace{End: 9000, Counters: []trace.Counter{{Name: "x", Samples: c.samples}}}
			_, json := write(t, run, perfetto.Options{})
			var got []float64
			for _, l := range readJSON(t, json).Counters {
				got = append(got, float64(l.At), l.Value)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// random is any valid trace: lanes with steps of no length, of less than a nanosecond and longer,
// messages between any of them, and counters.
func random(rng *rand.Rand) *trace.Trace {
	t := &trace.Trace{}
	for rank := range 1 + rng.Int32N(4) {
		for lane := range rng.Int32N(3) {
			t.Tracks = append(t.Tracks, trace.Track{Rank: rank * 3, Lane: lane})
		}
	}
	short := func() unit.Time { return unit.Time(rng.ExpFloat64() * rng.ExpFloat64() * 900) }
	var steps []trace.Interval
	for track := range t.Tracks {
		at := unit.Time(0)
		for range rng.IntN(12) {
			i := trace.Interval{Track: int32(track), Verb: trace.Verb(rng.IntN(16)), Ready: at,
				Chunk: rng.Int32N(5) - 1, Peer: rng.Int32N(4) - 1, Bytes: unit.Bytes(rng.IntN(99))}
			i.Kind = i.Verb.Kind()
			i.Start = at + short()
			i.Done = i.Start + short()
			i.End = i.Done + short()
			at = i.End
			steps = append(steps, i)
			t.End = max(t.End, at)
		}
	}
	t.Intervals = steps
	for range min(len(steps), 9) {
		a, b := steps[rng.IntN(len(steps))], steps[rng.IntN(len(steps))]
		if a.Done <= b.Start && a.Start < b.Start {
			t.Messages = append(t.Messages, trace.Message{From: a.Track, To: b.Track, Sent: a.Done,
				Arrived: b.Start, FromStep: place(t, a), ToStep: place(t, b)})
		}
	}
	for n := range rng.IntN(3) {
		c := trace.Counter{Name: fmt.Sprintf("link%d", n)}
		for at, v := short(), unit.Bytes(0); at <= t.End; at += short() {
			c.Samples = append(c.Samples, trace.Sample{At: at, Value: v})
			if at += short(); rng.IntN(2) == 0 {
				v += unit.Bytes(rng.Int64N(1 << (rng.IntN(40) + 1)))
			}
		}
		t.Counters = append(t.Counters, c)
		c.Name = fmt.Sprintf("memory%d", n)
		t.Memories = append(t.Memories, c)
	}
	if rng.IntN(2) == 0 {
		randomGPUs(rng, t, short)
	}
	t.Sort()
	return t
}

// randomGPUs adds rows with brackets, and SMs, to the ranks that have tracks.
func randomGPUs(rng *rand.Rand, t *trace.Trace, short func() unit.Time) {
	for n, track := range t.Tracks {
		if n > 0 && t.Tracks[n-1].Rank == track.Rank {
			continue
		}
		for i := range 1 + rng.Int32N(3) {
			row := trace.Row{Rank: track.Rank, Kind: trace.RowKind(i / 2), Number: i % 2}
			for at := short(); at < t.End; at += short() {
				b := trace.Bracket{Row: int32(len(t.Rows)), Track: int32(n), Lanes: 1, Start: at,
					Name: []string{"", "matmul", "bytes"}[rng.IntN(3)], Blocks: rng.Int64N(200)}
				if at += short(); at > t.End {
					break
				}
				b.Issued, b.Ready, b.End = b.Start/3, b.Start/2, at
				for from := b.Start + short()/4; from < b.End && rng.IntN(2) == 0; {
					w := trace.Wait{From: from, To: min(b.End, from+1+short()/4), Peer: rng.Int32N(4) - 1}
					b.Waits, from = append(b.Waits, w), w.To+short()/4
				}
				t.Brackets = append(t.Brackets, b)
			}
			t.Rows = append(t.Rows, row)
		}
		for int(track.Rank) >= len(t.SMs) {
			t.SMs = append(t.SMs, nil)
		}
		for at := short(); at <= t.End; at += 1 + short() {
			t.SMs[track.Rank] = append(t.SMs[track.Rank], trace.Level{At: at, Value: rng.Int32N(132)})
		}
	}
}

// place returns the number of a step on its track, from 1.
func place(t *trace.Trace, step trace.Interval) int32 {
	for n, i := range t.On(step.Track) {
		if i == step {
			return int32(n) + 1
		}
	}
	panic("the step is not there")
}

// TestBothFormatsSayWhatTheTraceSays: every step is a slice at its time, rounded down; every
// message is an arrow; the integral of each counter is its total; and both formats say the same.
func TestBothFormatsSayWhatTheTraceSays(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(11)
	parameters.MinSuccessfulTests = tier.Raced(15, 60, 300)
	properties := gopter.NewProperties(parameters)
	properties.Property("both formats say what the trace says", prop.ForAll(func(seed uint64) bool {
		run := random(rand.New(rand.NewPCG(seed, 1)))
		require.NoError(t, run.Validate())
		proto, json := write(t, run, perfetto.Options{})
		got := readJSON(t, json)
		require.Equal(t, got, readProto(t, proto).shown)

		waits := 0
		for _, b := range run.Brackets {
			waits += len(b.Waits)
		}
		require.Len(t, got.Slices, len(run.Intervals)+len(run.Brackets)+waits)
		whole := map[[2]string]shownSlice{} // of each row, the last that is no wait
		for n, s := range got.Slices {
			row := [2]string{s.Process, s.Thread}
			if strings.HasPrefix(s.Name, "waiting for rank ") {
				waits--
				require.GreaterOrEqual(t, s.Begin, whole[row].Begin, "a wait lies in its bracket")
				require.LessOrEqual(t, s.End, whole[row].End)
			} else {
				require.LessOrEqual(t, whole[row].End, s.Begin, "no slices overlap")
				whole[row] = got.Slices[n]
			}
			require.Equal(t, s.Args["start_ps"]/1000, s.Begin)
			require.Equal(t, s.Args["end_ps"]/1000, s.End)
		}
		require.Zero(t, waits)
		require.Len(t, got.Arrows, len(run.Messages))
		for _, a := range got.Arrows {
			require.LessOrEqual(t, got.Slices[a.From].Args["start_ps"],
				got.Slices[a.To].Args["start_ps"], "arrows point forwards")
		}
		for _, c := range slices.Concat(run.Counters, run.Memories) {
			total := float64(c.Total())
			require.InDelta(t, total, integral(t, c, got.Counters), total*6e-6)
		}
		return true
	}, gen.UInt64()))
	properties.TestingRun(t)
}

// integral adds up what flowed: each value times the picoseconds that it held, from the last sample
// of its nanosecond to that of the next value's, but a nanosecond at least.
func integral(t testing.TB, c trace.Counter, levels []shownLevel) (sum float64) {
	t.Helper()
	value, from := 0.0, unit.Time(0)
	for _, l := range levels {
		if l.Name != c.Name {
			continue
		}
		at := unit.Time(l.At) * unit.Nanosecond
		for _, s := range c.Samples {
			if s.At/unit.Nanosecond == unit.Time(l.At) {
				at = s.At
			}
		}
		sum += value * float64(max(at-from, unit.Nanosecond)) / 1000
		value, from = l.Value, at
	}
	require.Zero(t, value, "the last value is 0: nothing flows on")
	return sum
}

// TestSpeedsOfAWholeLink: a link that is always at work is seen at its bandwidth, though messages
// end between nanoseconds, of 80 ps a byte.
func TestSpeedsOfAWholeLink(t *testing.T) {
	run := pair()
	run.Counters = []trace.Counter{{Name: "gpu0->gpu1"}}
	c := &run.Counters[0]
	for _, bytes := range []unit.Bytes{0, 8388613, 8388620, 8401113, 16777232} {
		at := unit.Time(bytes) * 80 * unit.Picosecond
		c.Samples = append(c.Samples, trace.Sample{At: at, Value: bytes})
		run.End = max(run.End, at)
	}
	proto, json := write(t, run, perfetto.Options{})
	got := readJSON(t, json)
	require.Equal(t, got, readProto(t, proto).shown)
	for _, l := range got.Counters[:len(got.Counters)-1] {
		require.Equal(t, 12.5, l.Value, "from %d ns on", l.At)
	}
}

func TestRefused(t *testing.T) {
	long := &trace.Trace{Intervals: make([]trace.Interval, perfetto.MaxJSONSlices+1)}
	require.EqualError(t, perfetto.WriteJSON(&bytes.Buffer{}, long, perfetto.Options{}),
		"1000001 slices: a .json trace holds at most 1000000; write a .pftrace")

	broken := &trace.Trace{End: -1}
	const want = "end = -1 ps: at least 0 is expected"
	require.EqualError(t, perfetto.WriteJSON(&bytes.Buffer{}, broken, perfetto.Options{}), want)
	require.EqualError(t, perfetto.Write(&bytes.Buffer{}, broken, perfetto.Options{}), want)

	const full = "the disk is full"
	require.EqualError(t, perfetto.Write(fullDisk{}, pair(), perfetto.Options{}), full)
	require.EqualError(t, perfetto.WriteJSON(fullDisk{}, pair(), perfetto.Options{}), full)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestAnyName(t *testing.T) {
	run := pair()
	run.Tracks[0].Name = "a\xff\"\n<b>\u2028"
	run.Counters[0].Name = "x\xffy"
	proto, json := write(t, run, perfetto.Options{Devices: []string{"", "\xfe"}})
	got := readJSON(t, json)
	require.Equal(t, got, readProto(t, proto).shown)
	require.Equal(t, "a\uFFFD\"\n<b>\u2028", got.Slices[0].Thread)
	require.Equal(t, "rank 1 · \uFFFD", got.Slices[1].Process)
	require.Equal(t, "x\uFFFDy", got.Counters[0].Name)
}

func ExampleWriteJSON() {
	run := &trace.Trace{
		Tracks: []trace.Track{{Rank: 0}},
		Intervals: []trace.Interval{{Kind: trace.Send, Verb: trace.VerbSend, Peer: 1,
			Bytes: 64, End: 5 * unit.Nanosecond}},
		End: 5 * unit.Nanosecond,
	}
	var file bytes.Buffer
	if err := perfetto.WriteJSON(&file, run, perfetto.Options{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(bytes.Count(file.Bytes(), []byte(`"ph":"X"`)), "slice")
	// Output: 1 slice
}
