package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/unit"
)

// onGPU is a device of 8 SMs, each of which computes 1 GFLOP/s of float32 by tiles of 10x10, with
// two copy engines; figures replace its own, as "launch 5 us".
func onGPU(t testing.TB, figures ...string) device.Device {
	t.Helper()
	d := device.Ideal()
	for _, f := range append([]string{"sms 8", "blocks_per_sm 4", "vector_float32 8 GFLOP/s",
		"tile 10x10", "copy_engines 2"}, figures...) {
		name, value, _ := strings.Cut(f, " ")
		require.NoError(t, device.Find(name).Set(&d, value))
	}
	return d
}

// program is a schedule of so many ranks from the text of their lanes. Blocks are of 400 float32:
// matrices of 20x20.
func program(t testing.TB, ranks int, lanes string) *schedule.Schedule {
	t.Helper()
	var steps strings.Builder
	for line := range strings.Lines(lanes) {
		line = strings.TrimSpace(line)
		switch word, _, _ := strings.Cut(line, " "); word {
		case "rank":
			steps.WriteString(line + "\n")
		case "lane":
			steps.WriteString("  " + line + "\n")
		default:
			steps.WriteString("    " + line + "\n")
		}
	}
	s, err := schedule.Parse(fmt.Sprintf("schedule test\ncollective all_reduce float32 sum\n"+
		"ranks %d\ncount 4000\ncut in block even 10\ncut out block even 10\n%s", ranks, steps.String()))
	require.NoError(t, err)
	return s
}

const (
	matmul20 = "compute (matmul m=20 k=20 n=20 float32*float32->float32) in[0], in[1] into out[0]"
	cast20   = "compute (cast 20x20 float32->float32) in[0] into out[0]"
	k100     = "compute 100000000ps" // 100 us
)

// lanesOf are lanes of rank 0, each of which does what its text says, a step a line.
func lanesOf(lanes ...string) string {
	text := "rank 0\n"
	for i, lane := range lanes {
		text += fmt.Sprintf("lane %d\n%s\n", i, lane)
	}
	return text
}

// TestGPUByHand: when lanes end, in microseconds, on 8 SMs of 1 GFLOP/s each, two copy engines, and
// what else is said. A matmul of 20x20x20 is 4 blocks of 2·10·10·20 FLOP, which take 4 us, and
// moves 3·1600 bytes; a cast is 4 blocks without a FLOP and moves 2·1600; a block of data is 1600
// bytes. Links are of 1 GB/s and 100 ns.
func TestGPUByHand(t *testing.T) {
	tests := []struct {
		name    string
		figures string
		lanes   string
		want    []float64 // under fluid sharing, and fifo unless that is given
		fifo    []float64
	}{
		// One after the other: the second of a lane waits behind the first of the other, which was
		// launched before: ends at 100, 200, 300, 400.
		{name: "four full grids on two streams", lanes: lanesOf(
			k100+" launch(sms) @0\n"+k100+" launch(sms) @1",
			k100+" launch(sms) @0\n"+k100+" launch(sms) @1"), want: []float64{300, 400}},
		// 4 + 4 SMs: both streams run at once, 2 · 100.
		{name: "four half grids on two streams", lanes: lanesOf(
			k100+" launch(sms blocks=4) @0\n"+k100+" launch(sms blocks=4) @1",
			k100+" launch(sms blocks=4) @0\n"+k100+" launch(sms blocks=4) @1"),
			want: []float64{200, 200}},
		// 20 blocks on 8 SMs are ⌈20/8⌉ waves of 100.
		{name: "more blocks than SMs", lanes: lanesOf(k100 + " launch(sms blocks=20)"),
			want: []float64{300}},
		// The first has 8 blocks until 100 and 4 until 200; the second fills the 4 SMs left over then.
		{name: "a tail that the next fills", lanes: lanesOf(k100+" launch(sms blocks=12)",
			k100+" launch(sms blocks=4)"), want: []float64{200, 200}},
		// 1600 bytes at 160 MB/s are 10 us. The first wave ends at 100; the kernel's second is launched
		// before the channel, which comes at 200.
		{name: "a channel waits for a matmul", figures: "copy_rate 160 MB/s", lanes: lanesOf(
			k100+" launch(sms blocks=16) @0", "copy in[0] into out[0] launch(sms) @1"),
			want: []float64{200, 210}},
		// The kernel begins at 1, the channel is there at 2. With a higher priority it comes at 101; the
		// last of the 16 blocks waits until 111.
		{name: "a channel of high priority", figures: "launch 1 us, copy_rate 160 MB/s", lanes: lanesOf(
			k100+" launch(sms blocks=16) @0", "copy in[0] into out[0] launch(sms priority=1) @1"),
			want: []float64{211, 111}},
		// Four blocks stay for 1600 bytes at 1.6 MB/s = 1000 us; 8 blocks on 4 SMs are 2 waves.
		{name: "a kernel with 4 SMs fewer", figures: "copy_rate 1.6 MB/s", lanes: lanesOf(
			"copy in[0] into out[0] launch(sms blocks=4)", k100+" launch(sms blocks=8)"),
			want: []float64{1000, 200}},
		// Launched at 1, 2 and 3. The first has all SMs for a wave of 2 us, from 1 to 3; then the one of
		// priority 1 has them to 103, the first for its other 98, and the second from 201 on.
		{name: "priorities", figures: "launch 1 us", lanes: lanesOf(k100+" launch(sms) @0",
			k100+" launch(sms) @1", k100+" launch(sms priority=1) @2"), want: []float64{201, 301, 103}},
		// Two on an SM: 16 blocks are one wave.
		{name: "two blocks on an SM", lanes: lanesOf(k100 + " launch(sms blocks=16 per_sm=2)"),
			want: []float64{100}},
		// A block with half an SM computes half as fast: 2 · 4 us.
		{name: "half an SM a block", lanes: lanesOf(matmul20 + " launch(sms per_sm=2)"),
			want: []float64{8}},
		// Blocks that stay take a half of each SM: what needs halves runs beside them, what needs whole
		// ones after 1000.
		{name: "halves of SMs", figures: "copy_rate 1.6 MB/s", lanes: lanesOf(
			"copy in[0] into out[0] launch(sms blocks=8 per_sm=2) @0",
			k100+" launch(sms blocks=8 per_sm=2) @1", k100+" launch(sms blocks=1) @2"),
			want: []float64{1000, 100, 1100}},
		// 4 blocks at once, 4000 FLOP at 1 GFLOP/s.
		{name: "a matmul", lanes: lanesOf(matmul20 + " launch(sms)"), want: []float64{4}},
		// max(4 us, 4800 B at 1 GB/s).
		{name: "a matmul bound by memory", figures: "hbm_bandwidth 1 GB/s",
			lanes: lanesOf(matmul20 + " launch(sms)"), want: []float64{4.8}},
		// On two places that stay it has two waves: 2 · 4 us; the first reads 10 rows and all of the
		// other matrix (800 + 1600 + 800 B written), so does the second: 6.4 us.
		{name: "a matmul on two places", figures: "hbm_bandwidth 1 GB/s",
			lanes: lanesOf(matmul20 + " launch(sms blocks=2)"), want: []float64{8}},
		{name: "bound by memory on two places", figures: "hbm_bandwidth 500 MB/s",
			lanes: lanesOf(matmul20 + " launch(sms blocks=2)"), want: []float64{12.8}},
		// The first wave's 3200 B are in the cache when the second comes: it reads 10 rows more, and
		// writes: 3200 + 1600 B.
		{name: "a cache that holds a wave", figures: "hbm_bandwidth 500 MB/s, l2 3200 B",
			lanes: lanesOf(matmul20 + " launch(sms blocks=2)"), want: []float64{9.6}},
		// It holds 2000 B of the wave's second block: 10 rows, 10 columns of 800 B each and 400 B of the
		// result; these columns are not read again: 3200 + 2400 B.
		{name: "a cache that holds a block", figures: "hbm_bandwidth 500 MB/s, l2 3199 B",
			lanes: lanesOf(matmul20 + " launch(sms blocks=2)"), want: []float64{11.2}},
		// Tiles of 10x4 are 2 rows of 5. Blocks by twos down the columns: all rows (1600 B), 4 columns
		// (320 B), and 320 B of the result, 2240 B; then the rows are in the cache: + 4 · 640 B. Along
		// the rows it would be 6400 B.
		{name: "down the columns", figures: "hbm_bandwidth 500 MB/s, tile 10x4, l2 2240 B",
			lanes: lanesOf(matmul20 + " launch(sms blocks=2)"), want: []float64{9.6}},
		// Where nothing is left in it that would be 5 · 2240 B; along the rows four waves read one row
		// of tiles and two columns, 800 + 640 + 320 B, and one two of both, 1600 + 640 + 320 B: 9600 B.
		{name: "along the rows", figures: "hbm_bandwidth 500 MB/s, tile 10x4, l2 1 B",
			lanes: lanesOf(matmul20 + " launch(sms blocks=2)"), want: []float64{19.2}},
		{name: "without a cache", figures: "hbm_bandwidth 500 MB/s, tile 10x4",
			lanes: lanesOf(matmul20 + " launch(sms blocks=2)"), want: []float64{19.2}},
		// One wave reads all once, whatever the cache.
		{name: "a cache for one wave", figures: "hbm_bandwidth 1 GB/s, l2 1 MiB",
			lanes: lanesOf(matmul20 + " launch(sms)"), want: []float64{4.8}},
		// The other has two of 8 SMs until 100: of 10 blocks 6 begin, 3 columns of tiles: 1600 + 3 ·
		// 320 + 6 · 160 B, 3520 B at 1 GB/s; then 4, which find the rows: 2 · 320 + 4 · 160 B, 1280 B,
		// as long as their arithmetic says, 1.6 us.
		{name: "a cache, and less places", figures: "hbm_bandwidth 1 GB/s, tile 10x4, l2 1 MiB",
			lanes: lanesOf(k100+" launch(sms blocks=2)", matmul20+" launch(sms)"),
			want:  []float64{100, 5.12}},
		// 3200 B each over 1 GB/s: 6.4 us both.
		{name: "two kernels on one memory", figures: "hbm_bandwidth 1 GB/s", lanes: lanesOf(
			cast20+" launch(sms)", cast20+" launch(sms)"), want: []float64{6.4, 6.4}},
		// 500 MB/s each: the copy has read and written 2·1600 B at 6.4 us; of the matmul's 4800 B 1600
		// are left, at 1 GB/s.
		{name: "a copy engine beside a matmul bound by memory",
			figures: "hbm_bandwidth 1 GB/s, copy_engine_rate 400 MB/s", lanes: lanesOf(
				matmul20+" launch(sms)", "copy in[0] into out[0] launch(copy)"),
			want: []float64{8, 6.4}},
		// 4800 B in 4 us and 3200 B in 4 us are less than 10 GB/s: neither feels the other.
		{name: "a copy engine beside a matmul bound by arithmetic",
			figures: "hbm_bandwidth 10 GB/s, copy_engine_rate 400 MB/s", lanes: lanesOf(
				matmul20+" launch(sms)", "copy in[0] into out[0] launch(copy)"),
			want: []float64{4, 4}},
		// 1600 B at 400 MB/s are 4 us; the third waits for an engine.
		{name: "three copies on two engines", figures: "copy_engine_rate 400 MB/s", lanes: lanesOf(
			"copy in[0] into out[0] launch(copy)", "copy in[1] into out[1] launch(copy)",
			"copy in[2] into out[2] launch(copy)"), want: []float64{4, 4, 8}},
		// An engine copies while all SMs compute.
		{name: "a copy engine needs no SM", figures: "copy_engine_rate 400 MB/s", lanes: lanesOf(
			k100+" launch(sms)", "copy in[0] into out[0] launch(copy)"), want: []float64{100, 4}},
		// Issued at 5, 10 and 15; there 3 later; the last takes 2: 15 + 3 + 2.
		{name: "bound by launches", figures: "launch 5 us, launch_latency 3 us",
			lanes: lanesOf(strings.Repeat("compute 2000000ps launch(sms)\n", 3)),
			want:  []float64{20}},
		// One launch of 4, there at 7, then 3 · 2 and two gaps of 1: 15.
		{name: "the same as a graph",
			figures: "launch 5 us, launch_latency 3 us, graph_launch 4 us, graph_node 1 us",
			lanes:   lanesOf(strings.Repeat("compute 2000000ps launch(sms graph=1)\n", 3)),
			want:    []float64{15}},
		// The host goes on at once: lane 0 has its second at 10 + 3, though the first ends at 108.
		{name: "the host never waits", figures: "launch 5 us, launch_latency 3 us", lanes: lanesOf(
			k100+" launch(sms blocks=1) @0\n"+k100+" launch(sms blocks=1) @1",
			"compute 1000000ps launch(sms blocks=1) @2"), want: []float64{208, 19}},
		// Its event is seen 1 us after its end: 10 + 1 + 10.
		{name: "an event between streams", figures: "event_latency 1 us", lanes: lanesOf(
			"compute 10000000ps post launch(sms blocks=4)\ncompute 10000000ps launch(sms blocks=4)",
			"compute 10000000ps after 0#1 launch(sms blocks=4)"), want: []float64{20, 21}},
		// 1600 B over a memory that a cast shares until 3.2 us, then 100 ns; the cast has 1600 B left
		// by then. Under fifo the message does not cross memories: 1.6 us.
		{name: "a copy that crosses both memories",
			figures: "hbm_bandwidth 1 GB/s, copy_engine_rate 10 GB/s", lanes: lanesOf(
				"send in[0] to 1 launch(copy)") + "rank 1\nlane 0\nrecv from 0 into out[0] launch(sms)\n" +
				"lane 1\n" + cast20 + " launch(sms)\n",
			want: []float64{3.2, 3.3, 4.8}, fifo: []float64{1.6, 1.7, 3.2}},
		// A message reads one memory and writes another: as slow as the slower of these and its link.
		{name: "a message over slow memories", figures: "hbm_bandwidth 400 MB/s",
			lanes: lanesOf("send in[0] to 1 launch(sms)") +
				"rank 1\nlane 0\nrecv from 0 into out[0] launch(sms)\n",
			want: []float64{4, 4.1}, fifo: []float64{1.6, 1.7}},
		// A get has no lane's pace, but its engine's: there and back 2 · 100 ns, 1600 B at 400 MB/s.
		{name: "a get by a copy engine", figures: "copy_engine_rate 400 MB/s",
			lanes: lanesOf("copy get 1 in[0] into out[0] launch(copy)"), want: []float64{4.2}},
		// Without marks all is launched once, and there 3 later: 8 + 1.6; then 100 ns.
		{name: "no marks", figures: "launch 5 us, launch_latency 3 us",
			lanes: lanesOf("send in[0] to 1") + "rank 1\nlane 0\nrecv from 0 into out[0]\n",
			want:  []float64{9.6, 9.7}},
		// A lane that computes is a stream. Its kernel is 50 waves of 8 blocks of 2 us; of the 400, 5 · 7
		// end in the 10 us in which the channel has an SM: 10 + 2 · ⌈365 / 8⌉.
		{name: "no marks, and kernels", figures: "copy_rate 160 MB/s",
			lanes: lanesOf("copy in[0] into out[0]", k100), want: []float64{10, 102}},
		// An empty step that begins a bracket costs no overhead; the copy does, 1 us.
		{name: "nothing costs nothing", figures: "overhead 1 us, copy_rate 160 MB/s",
			lanes: lanesOf("nop launch(sms)\ncopy in[0] into out[0]"), want: []float64{11}},
		// The host carries out its steps without an SM.
		{name: "the host", lanes: lanesOf(k100+" launch(sms)", "compute 10000000ps launch(host)"),
			want: []float64{100, 10}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ranks := 1 + strings.Count(tt.lanes, "rank 1")
			if strings.Contains(tt.lanes, "get 1") {
				ranks = 2
				tt.lanes += "rank 1\n"
			}
			s := program(t, ranks, tt.lanes)
			env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
			var figures []string
			if tt.figures != "" {
				figures = strings.Split(tt.figures, ", ")
			}
			env.Device = onGPU(t, figures...)
			for _, sharing := range []Sharing{Fluid, FIFO} {
				env.Sharing = sharing
				r, err := Run(s, env, Options{})
				require.NoError(t, err)
				var ends []float64
				for _, end := range r.LaneEnd {
					ends = append(ends, float64(end)/1e6)
				}
				want := tt.want
				if sharing == FIFO && tt.fifo != nil {
					want = tt.fifo
				}
				require.Equal(t, want, ends, sharing)
				traced, err := Run(s, env, Options{Trace: true, Critical: true})
				require.NoError(t, err)
				require.Equal(t, r.Totals, traced.Totals)
				require.NoError(t, traced.Trace.Validate())
				requirePath(t, r.Time, traced.Critical)
			}
		})
	}
}

// requirePath holds a critical path to be one: from 0 to the end, without a gap.
func requirePath(t testing.TB, end unit.Time, path []Piece) {
	t.Helper()
	at := unit.Time(0)
	for _, p := range path {
		require.Equal(t, at, p.From, path)
		require.Greater(t, p.To, p.From, path)
		at = p.To
	}
	require.Equal(t, end, at, path)
}

// TestSlowGPU: half as slow again, a rank's launches, kernels and engines take 1.5 times as
// long: 1.5
// of launch and 6 of the matmul, or 3 of two launches and 6 of a copy of 4.
func TestSlowGPU(t *testing.T) {
	s := program(t, 1, lanesOf(matmul20+" launch(sms)", "copy in[0] into out[3] launch(copy) @1"))
	env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
	env.Device = onGPU(t, "launch 1 us", "copy_engine_rate 400 MB/s")
	env.Slowdown = []unit.Share{1_500_000}
	r, err := Run(s, env, Options{})
	require.NoError(t, err)
	require.Equal(t, []unit.Time{7500 * ns, 9000 * ns}, r.LaneEnd)
}

// TestWhatNoDeviceCan: a bracket that could never begin is refused before anything does.
func TestWhatNoDeviceCan(t *testing.T) {
	for mark, want := range map[string]string{
		"copy in[0] into out[0] launch(sms blocks=9)": "rank 0 lane 0: bracket 0 of the lane: 9 " +
			"blocks are to stay at once, and 8 SMs have places for 8",
		matmul20 + " launch(host)": "rank 0 lane 0: bracket 0 of the lane: only SMs compute, not " +
			"an engine host",
		"copy in[0] into out[0] launch(copy)": "rank 0 lane 0: bracket 0 of the lane: " +
			"copy_engines " +
			"= 0: it needs one",
	} {
		env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
		env.Device = onGPU(t, "copy_engines 0")
		_, err := Run(program(t, 1, lanesOf(mark)), env, Options{})
		require.EqualError(t, err, want)
		env.Device.GPU.SMs = 0
		_, err = Run(program(t, 1, lanesOf(mark)), env, Options{})
		require.NoError(t, err, "nobody waits where there is no GPU")
	}
}
