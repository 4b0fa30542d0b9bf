package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
	"collsim/unit"
)

// TestTraceOfGPU: a matmul (4 blocks of 4 us on 3 SMs: 3, then 1) beside a copy by an engine, and a
// channel whose block waits until the matmul's first wave has ended.
func TestTraceOfGPU(t *testing.T) {
	const us = unit.Microsecond
	s := program(t, 1, lanesOf(matmul20+" launch(sms name=mlp)",
		"copy in[0] into out[3] launch(copy)", "copy in[1] into out[4] launch(sms) @1"))
	env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
	env.Device = onGPU(t, "sms 3", "vector_float32 3 GFLOP/s", "hbm_bandwidth 100 GB/s",
		"copy_engine_rate 400 MB/s", "copy_rate 800 MB/s", "launch 1 us")
	r, err := Run(s, env, Options{Trace: true, Critical: true})
	require.NoError(t, err)
	require.NoError(t, r.Trace.Validate())
	require.Equal(t, []trace.Row{{Kind: trace.Stream}, {Kind: trace.Stream, Number: 1},
		{Kind: trace.Stream, Number: 2}, {Kind: trace.CopyEngine}}, r.Trace.Rows)
	// The launches are over at 1, 2 and 3. The last of the matmul's blocks begins at 5, as does the
	// channel, on another SM.
	copied := trace.Bracket{Row: 1, Track: 1, Lanes: 1, Name: "test", Issued: 2 * us, Ready: 2 * us,
		Start: 2 * us, End: 6 * us}
	onEngine := copied
	onEngine.Row = 3
	require.Equal(t, []trace.Bracket{
		{Row: 0, Track: 0, Lanes: 1, Name: "mlp", Blocks: 4, Issued: us, Ready: us, Start: us,
			End: 9 * us},
		copied,
		{Row: 2, Track: 2, Lanes: 1, Name: "test", Blocks: 1, Issued: 3 * us, Ready: 3 * us,
			Start: 5 * us, End: 7 * us},
		onEngine}, r.Trace.Brackets)
	require.Equal(t, [][]trace.Level{{{At: us, Value: 3}, {At: 5 * us, Value: 2},
		{At: 7 * us, Value: 1}, {At: 9 * us, Value: 0}}}, r.Trace.SMs[:1])
	// Three blocks read both matrices, the last 10 rows and 10 columns; copies read and write.
	require.EqualValues(t, 1600+1600+3*400+800+800+400+2*2*1600, r.Trace.Memories[0].Total())
	require.Empty(t, r.Trace.Counters[0].Samples)
	require.Len(t, r.Trace.Counters, 2)
	require.Equal(t, []Piece{
		{What: Launch, Link: -1, Step: -1, To: us},
		{What: Compute, Link: -1, From: us, To: 9 * us},
	}, r.Critical)
}

// TestPathsOnGPU: what the end waited for, of cases whose ends are worked out in TestGPUByHand.
func TestPathsOnGPU(t *testing.T) {
	for _, tt := range []struct {
		figures []string
		lanes   string
		want    []What
	}{
		// The kernel's first wave, then the channel that waited for it.
		{[]string{"copy_rate 160 MB/s"}, lanesOf(k100+" launch(sms blocks=8) @0",
			"copy in[0] into out[0] launch(sms) @1"), []What{Compute, Copy}},
		{[]string{"event_latency 1 us"}, lanesOf("compute 10000000ps post launch(sms blocks=4)",
			"compute 10000000ps after 0#1 launch(sms blocks=4)"),
			[]What{Compute, EventLatency, Compute}},
		{[]string{"launch 5 us", "launch_latency 3 us", "graph_launch 4 us", "graph_node 1 us"},
			lanesOf("compute 2000000ps launch(sms graph=1)\ncompute 2000000ps launch(sms graph=1)"),
			[]What{Launch, Compute, Launch, Compute}},
		// Of its 6.4 us, half is what a kernel alone would not have needed.
		{[]string{"hbm_bandwidth 1 GB/s"}, lanesOf(cast20+" launch(sms)", cast20+" launch(sms)"),
			[]What{Memory, Compute}},
		{[]string{"copy_engine_rate 400 MB/s", "copy_engines 1"}, lanesOf(
			"copy in[0] into out[0] launch(copy)", "copy in[1] into out[1] launch(copy)"),
			[]What{Copy, Copy}},
		{[]string{"hbm_bandwidth 400 MB/s"}, lanesOf("send in[0] to 1 launch(sms)") +
			"rank 1\nlane 0\nrecv from 0 into out[0] launch(sms)\n", []What{Memory, Latency}},
	} {
		env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
		env.Device = onGPU(t, tt.figures...)
		ranks := 1
		if len(tt.lanes) > 0 && tt.want[len(tt.want)-1] == Latency {
			ranks = 2
		}
		r, err := Run(program(t, ranks, tt.lanes), env, Options{Critical: true})
		require.NoError(t, err)
		var have []What
		for _, p := range r.Critical {
			have = append(have, p.What)
		}
		require.Equal(t, tt.want, have, tt.lanes)
	}
}
