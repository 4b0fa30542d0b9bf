package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/trace"
	"collsim/unit"
)

// written is a schedule of so many ranks from the text of their lanes; who is not named has none.
// Data are blocks of 100 bytes, which take 100 ns at 1 GB/s.
func written(t testing.TB, ranks int, lanes string) *schedule.Schedule {
	t.Helper()
	if !strings.Contains(lanes, "rank *") {
		all := ""
		for rank := range ranks {
			head := fmt.Sprintf("\nrank %d\n", rank)
			_, after, _ := strings.Cut(lanes+"\n", head)
			mine, _, _ := strings.Cut(after, "\nrank ")
			all += head + mine
		}
		lanes = all
	}
	s, err := schedule.Parse(fmt.Sprintf("schedule test\ncollective all_reduce int8 sum\nranks %d\n"+
		"count 10000\ncut in block even 100\ncut out block even 100\n%s", ranks, lanes))
	require.NoError(t, err)
	return s
}

// TestSilentPuts: five silent puts of 200 bytes hold their lane for 200 each, need no slot although
// there is one only, and tell nobody; the signal after them comes 100 after 1000.
func TestSilentPuts(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    loop 5
      put in[0 x2] to 1 at out[0 x2] silent @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0`)
	env := meshOf(t, 2)
	env.Slots = 1
	ends := []float64{1000, 1100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	r, err := Run(s, env, Options{Trace: true})
	require.NoError(t, err)
	require.Equal(t, int64(1), r.Messages, "the signal")
	require.Len(t, r.Trace.Messages, 1)
	require.Equal(t, unit.Bytes(1000), r.BytesSent)
	require.Equal(t, unit.Bytes(1000), r.LinkBytes)
}

// TestSignalDoesNotOvertake: rank 0 puts 1000 bytes silently over a link of 1 GB/s and one of 0.5
// GB/s, then signals.
//
//	fluid   the flow is drained at 2000, and has landed at 2200. The signal sets out at 2000.
//	fifo    the lane is held for 1000/0.5. The second link begins at 100, is free at 2100, as the
//	        signal comes; data and signal are there at 2200
//	stored  the second link begins at 1000 + 100 and is free at 3100, 1000 after the signal came
func TestSignalDoesNotOvertake(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    put in[0 x10] to 1 at out[0 x10] silent @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0`)
	env := wires(t, "gpu0->a 1 GB/s, 100 ns", "a->gpu1 0.5 GB/s, 100 ns", "gpu1->gpu0")
	check(t, s, env, want{
		fluid: []float64{2000, 2200}, fifo: []float64{2000, 2200}, stored: []float64{2000, 3200},
	})
}

// TestSilentPosts: the same on a device that offloads, so that both are handed over at 0. The
// signal stands behind the put: it sets out at 2000, and all is as above. One that is relaxed
// does not:
//
//	fluid     it is there at 0 + 200
//	fifo      the first link is free at 1000, the second at 2100: 2200
//	segments  of 250: the first one leaves link 1 to the signal at 250, and link 2, begun at 100, at
//	          600: 700. The signal that is not relaxed comes behind the last, as before.
func TestSilentPosts(t *testing.T) {
	for _, tt := range []struct {
		relaxed             string
		fluid, fifo, pieces float64
	}{{"", 2200, 2200, 2200}, {" relaxed", 200, 2200, 700}} {
		s := written(t, 2, `
rank 0
  lane 0
    put in[0 x10] to 1 at out[0 x10] silent @0
    signal to 1`+tt.relaxed+` @0
rank 1
  lane 0
    wait from 0 @0`)
		env := wires(t, "gpu0->a 1 GB/s, 100 ns", "a->gpu1 0.5 GB/s, 100 ns", "gpu1->gpu0")
		env.Device.Offload, env.Device.Queue = true, 8
		check(t, s, env, want{fluid: []float64{0, tt.fluid}, fifo: []float64{0, tt.fifo}})
		env.Segment = 250
		check(t, s, env, want{fifo: []float64{0, tt.pieces}})
	}
}

// TestSilentLine: a signal stands behind the silent posts of its lane before it, to whomever they
// go, and not behind those after it. Rank 0 puts 3000 bytes to rank 1 and 1000 to rank 2 (drained
// at 3000 and 1000), signals rank 2 (3000 + 100), puts 5000 to rank 3 (5000) and signals rank 1,
// behind that as well: 5100.
func TestSilentLine(t *testing.T) {
	s := written(t, 4, `
rank 0
  lane 0
    put in[0 x30] to 1 at out[0 x30] silent @0
    put in[0 x10] to 2 at out[0 x10] silent @0
    signal to 2 @0
    put in[0 x50] to 3 at out[0 x50] silent @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0
rank 2
  lane 0
    wait from 0 @0`)
	env := meshOf(t, 4)
	env.Device.Offload, env.Device.Queue = true, 8
	ends := []float64{0, 5100, 3100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})

	// What rank 1 waits for is the latency of the signal, before that the put to rank 3.
	link := func(name string) int32 {
		for i := range env.Graph.Links {
			if env.Graph.Links[i].Name == name {
				return int32(i)
			}
		}
		return -1
	}
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env.Sharing = sharing
		r, err := Run(s, env, Options{Critical: true})
		require.NoError(t, err)
		require.Equal(t, []Piece{
			{What: Transfer, Link: link("gpu0->gpu3"), Step: 3, To: 5000 * ns},
			{What: Latency, Link: link("gpu0->gpu1"), Step: 4, From: 5000 * ns, To: 5100 * ns},
		}, r.Critical)
	}
}

// TestPackets: 1000 bytes as packets are 2000 on the wire: drained at 2000, there at 2100; at a
// pace of 0.5 GB/s at 4000. What is sent is 1000 bytes, what the link carries 2000.
func TestPackets(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    put in[0 x10] to 1 at out[0 x10] packet @0
rank 1
  lane 0
    wait from put 0 @0`)
	env := meshOf(t, 2)
	for _, pace := range []struct {
		rate unit.Rate
		ends []float64
	}{{unit.Unlimited, []float64{2000, 2100}}, {gbs / 2, []float64{4000, 4100}}} {
		env.Device.LaneRate = pace.rate
		check(t, s, env, want{fluid: pace.ends, fifo: pace.ends, stored: pace.ends})
		r, err := Run(s, env, Options{Trace: true})
		require.NoError(t, err)
		require.Equal(t, unit.Bytes(1000), r.BytesSent)
		require.Equal(t, unit.Bytes(2000), r.LinkBytes)
		require.Equal(t, unit.Bytes(1000), r.Trace.Messages[0].Bytes)
		counter := r.Trace.Counters[0].Samples
		require.Equal(t, unit.Bytes(2000), counter[len(counter)-1].Value)
	}
}

// TestCompute: on a rank 1.5 times as slow, an overhead of 10 takes 15 and a kernel of 30 takes 45;
// then 1000 bytes are sent, after 15 more: 75 … 1075. Without the kernel's time all is 45 earlier.
func TestCompute(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    compute 30000ps @0
    send in[0 x10] to 1 @1
rank 1
  lane 0
    recv from 0 into out[0 x10] @1`)
	env := meshOf(t, 2)
	env.Device.Overhead = 10 * ns
	env.Slowdown = []unit.Share{1_500_000, 1_000_000}
	ends := []float64{1075, 1185}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	r, err := Run(s, env, Options{Trace: true, Critical: true})
	require.NoError(t, err)
	require.Equal(t, trace.Compute, r.Trace.Intervals[0].Kind)
	require.Equal(t, 60*ns, r.Trace.Intervals[0].End)
	require.Equal(t, []Piece{
		{What: Overhead, Link: -1, To: 15 * ns},
		{What: Compute, Link: -1, From: 15 * ns, To: 60 * ns},
		{What: Overhead, Link: -1, Step: 1, From: 60 * ns, To: 75 * ns},
		{What: Transfer, Step: 1, From: 75 * ns, To: 1075 * ns},
		{What: Latency, Step: 1, From: 1075 * ns, To: 1175 * ns},
		{What: Overhead, Link: -1, Rank: 1, From: 1175 * ns, To: 1185 * ns},
	}, r.Critical)
	require.Equal(t, "compute", Compute.String())
	env.FreeCompute = true
	free := []float64{1030, 1140}
	check(t, s, env, want{fluid: free, fifo: free, stored: free})
}

// TestTags: connections that differ by a tag are different ones. Rank 0 sends 100 bytes with tag 7
// and 200 with tag 3, there at 200 and 400; rank 1 receives the second first, with one slot each.
func TestTags(t *testing.T) {
	text := `
rank 0
  lane 0
    send in[0] to 1/0:7 @0
    send in[0 x2] to 1/0:3 @0
    send in[0] to 1 @0
rank 1
  lane 0
    recv from 0/0:3 into out[0 x2] @0
    recv from 0/0:7 into out[0] @0
    recv from 0%s into out[0] @0`
	env := meshOf(t, 2)
	env.Slots = 1
	ends := []float64{400, 500}
	check(t, written(t, 2, fmt.Sprintf(text, "")), env, want{fluid: ends, fifo: ends, stored: ends})
	_, err := Run(written(t, 2, fmt.Sprintf(text, "/0:1")), env, Options{})
	require.EqualError(t, err, "1 lane waits for what never comes\n"+
		"  rank 1 lane 0 step 2  recv chunk 0  waits for a message from rank 0 lane 0, "+
		"which has come to its end")
}

// TestNothingOvertakes: in random runs of devices that offload, no message of a lane sets out
// before the silent ones that the lane has posted before have left.
func TestNothingOvertakes(t *testing.T) {
	held := 0
	law(t, 400, "messages follow silent puts", func(t testing.TB, rng *rand.Rand) bool {
		s := randomSchedule(t, rng, false)
		env := randomEnv(t, rng, s.Spec.Ranks)
		env.Device.Offload, env.Device.Queue = true, 8
		s = dressed(t, rng, s, env.Graph)
		e := newEngine(s, &env, Options{Critical: true})
		loop := e.runFIFO
		if env.Sharing == Fluid {
			loop = e.runFluid
		}
		require.NoError(t, loop())
		for i := range e.quiet {
			require.Negative(t, e.quiet[i].first, "all have left")
		}
		for _, m := range e.why.messages {
			if m.by > behind {
				continue
			}
			held++
			before := &e.why.messages[behind-m.by]
			sender, silent := e.why.steps[m.step], e.why.steps[before.step]
			require.Equal(t, sender.lane, silent.lane)
			require.LessOrEqual(t, silent.step, sender.step)
			alone := before.bytes.Over(e.routes[before.route].slowest)
			require.GreaterOrEqual(t, m.since, before.since+alone, "no sooner than it can have left")
		}
		return true
	})
	require.Greater(t, held, 100)
}
