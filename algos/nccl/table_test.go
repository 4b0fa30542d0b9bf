package nccl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// TestPicked: what NCCL chooses of a call is told, with its reason, and is what is built.
func TestPicked(t *testing.T) {
	for _, test := range []struct {
		spec   collective.Spec
		name   string
		params []string
		want   string
	}{
		{allReduce(8, 1024), "nccl:auto", nil,
			"Ring LL, 1 of 24 channels: 15.1 us by NCCL's model, next Tree LL 15.3 us"},
		{allReduce(8, 1<<24), "nccl:auto", nil, "NVLS Simple, 16 of 16 channels: 271.7 us by NCCL's " +
			"model, next Ring Simple 382.2 us"},
		{allReduce(16, 1<<24), "nccl:auto", []string{"per_node", "8"}, "NVLSTree Simple, 16 of 16 " +
			"channels: 339.4 us by NCCL's model, next Ring LL128 503.8 us"},
		{allReduce(8, 1<<24), "nccl:nvls", []string{"nchannels", "4"}, "NVLS Simple, 4 of 4 channels: " +
			"271.7 us by NCCL's model, next Ring Simple 382.2 us"},
		{allReduce(8, 1<<18), "nccl:ring", []string{"protocol", "simple", "nchannels", "2"},
			"Ring Simple, 2 of 2 channels: 61.1 us by NCCL's model; NCCL takes Ring LL, 28.0 us"},
		{allReduce(16, 1<<16), "nccl:auto", []string{"per_node", "8"},
			"Tree LL128, 16 of 16 channels: 52.0 us by NCCL's model, next Ring LL 52.6 us"},
		{allReduce(4, 1<<16), "nccl:auto", []string{"per_node", "1"},
			"Tree LL128, 16 of 16 channels: 52.4 us by NCCL's model, next Ring LL 55.9 us; rings inferred"},
		{allReduce(2, 1<<10), "nccl:ring", []string{"machine", "socket"},
			"Ring LL, 1 of 2 channels: 23.4 us by NCCL's model, next Tree LL 40.5 us"},
		{blocks(collective.AllGather, 4, 1000), "nccl:pat", nil,
			"PAT Simple, 1 of 24 channels; NCCL takes Ring LL, 8.5 us; rings inferred"},
		{blocks(collective.ReduceScatter, 4, 1000), "nccl:pat", []string{"machine", "socket"},
			"PAT Simple, 1 of 2 channels: 45.0 us by NCCL's model; NCCL takes Ring LL, 41.6 us"},
	} {
		a, err := algos.FindIn(nccl.Table(), test.spec.Kind, test.name)
		require.NoError(t, err)
		var o algos.Options
		for i := 0; i < len(test.params); i += 2 {
			o.Params = append(o.Params, algos.Param{Name: test.params[i], Value: test.params[i+1]})
		}
		require.Equal(t, test.want, a.Picked(test.spec, o).String())
		s, err := a.Build(test.spec, o)
		require.NoError(t, err)
		_, violations := proof.Verify(s, proof.Options{})
		require.Empty(t, violations)
		way, _, _ := strings.Cut(test.want, " channels")
		require.Equal(t, test.name+"("+way+" channels)", s.Name)
	}
}

func blocks(k collective.Kind, ranks int, count int64) collective.Spec {
	s := collective.Spec{Kind: k, Type: dtype.Float32, Ranks: ranks, Count: count}
	if k.Reduces() {
		s.Op = collective.Sum
	}
	return s
}

// TestRefused: what NCCL does not do is said, and why; so is a parameter that is out of range.
func TestRefused(t *testing.T) {
	avg, int16s := blocks(collective.ReduceScatter, 4, 10), allReduce(4, 10)
	avg.Op, int16s.Type = collective.Avg, dtype.Int16
	bools, complexes, bits := allReduce(4, 10), allReduce(4, 10), allReduce(4, 10)
	bools.Type, bools.Op, complexes.Type = dtype.Bool, collective.Or, dtype.Complex64
	bits.Type, bits.Op = dtype.Int32, collective.Xor
	for _, test := range []struct {
		spec   collective.Spec
		name   string
		params []string
		want   string
	}{
		{avg, "nccl:pat", nil, "nccl:pat: NCCL does no reduce_scatter avg by PAT Simple"},
		{int16s, "nccl:ring", nil, "nccl:ring: NCCL has no int16 to reduce"},
		{bools, "nccl:ring", nil, "nccl:ring: NCCL has no bool to reduce"},
		{complexes, "nccl:auto", nil, "nccl:auto: NCCL has no complex64 to reduce"},
		{bits, "nccl:tree", nil, "nccl:tree: NCCL has no operator xor"},
		{allReduce(4, 10), "nccl:ring", []string{"protocol", "fast"},
			"nccl:ring: protocol=fast: one of ll, ll128, simple, auto is expected"},
		{allReduce(4, 10), "nccl:auto", []string{"machine", "dgx-2"}, "nccl:auto: " +
			"machine=dgx-2: one of dgx-h100, dgx-b200, dgx-a100, dgx-v100, socket is expected"},
		{allReduce(4, 10), "nccl:auto", []string{"nchannels", "65"},
			"nccl:auto: nchannels=65: 1 to 64 is expected"},
		{allReduce(4, 10), "nccl:auto", []string{"nchannels", "few"},
			"nccl:auto: nchannels=few: 1 to 64, or auto, is expected"},
		{allReduce(4, 10), "nccl:tree", []string{"per_node", "3"},
			"nccl:tree: per_node=3: a divisor of the 4 ranks is expected"},
		{allReduce(4, 10), "nccl:tree", []string{"per_node", "0"},
			"nccl:tree: per_node=0: a divisor of the 4 ranks, or node, is expected"},
		{allReduce(4, 10), "nccl:tree", []string{"per_node", "2", "machine", "socket"},
			"nccl:tree: per_node=2: of machine=socket it is 1"},
	} {
		_, err := try(t, test.spec, test.name, test.params...)
		require.EqualError(t, err, test.want)
		var unfit *algos.Unfit
		require.ErrorAs(t, err, &unfit)
	}
}

// TestAlone: parameters that suit other numbers of ranks are no matter where there is one rank, as
// they are judged before the ranks are known.
func TestAlone(t *testing.T) {
	_, err := try(t, allReduce(1, 10), "nccl:tree", "per_node", "8")
	require.NoError(t, err)
	_, err = try(t, allReduce(1, 10), "nccl:tree", "machine", "dgx-2")
	require.ErrorContains(t, err, "machine=dgx-2: one of")
}

// TestChunks: a ring that sends by Simple has two slices in a chunk, which a connection holds four
// of; of a short chunk the first slice has all.
func TestChunks(t *testing.T) {
	ends := func(s *schedule.Schedule) []int64 { return s.Cuts[schedule.Output][0].Ends[0] }
	s := build(t, allReduce(2, 1<<20+100), "nccl:ring", "protocol", "simple", "nchannels", "1")
	require.Equal(t, 4, s.Slots)
	const k = 1 << 18 // 1 MiB
	require.Equal(t, []int64{k, 2 * k, 3 * k, 4 * k, 4*k + 52, 4*k + 52, 4*k + 100, 4*k + 100},
		ends(s))
	s = build(t, allReduce(2, 1<<20+100), "nccl:tree", "protocol", "simple", "nchannels", "1")
	require.Equal(t, 8, s.Slots)
	require.Len(t, ends(s), 9)
	require.Equal(t, int64(1<<17), ends(s)[0])
	s = build(t, allReduce(2, 30000), "nccl:ring", "protocol", "simple", "nchannels", "1")
	require.Equal(t, []int64{8192, 15000, 15000 + 8192, 30000}, ends(s))
}

// TestFramings: messages are framed as their protocol does it: of point to point, only those inside
// of a node go by LL.
func TestFramings(t *testing.T) {
	met := func(s *schedule.Schedule) (all map[schedule.Framing]bool) {
		all = map[schedule.Framing]bool{}
		s.AnyStep(func(step *schedule.Step) bool {
			for i := range step.Send {
				all[step.Send[i].Framing()] = true
			}
			return false
		})
		return all
	}
	only := func(f schedule.Framing) map[schedule.Framing]bool {
		return map[schedule.Framing]bool{f: true}
	}
	for protocol, want := range map[string]schedule.Framing{"ll": schedule.Packets,
		"ll128": schedule.Lines, "simple": schedule.Bare} {
		for _, spec := range []collective.Spec{allReduce(4, 1<<20),
			blocks(collective.AllGather, 16, 1000), blocks(collective.Reduce, 4, 1000)} {
			require.Equal(t, only(want), met(build(t, spec, "nccl:ring", "protocol", protocol)))
		}
		require.Equal(t, only(want), met(build(t, allReduce(4, 1000), "nccl:tree", "protocol", protocol)))
	}
	toAll := blocks(collective.AllToAll, 4, 1000)
	require.Equal(t, only(schedule.Packets), met(build(t, toAll, "nccl:p2p")))
	require.Equal(t, only(schedule.Bare), met(build(t, toAll, "nccl:p2p", "per_node", "1")))
	require.Equal(t, map[schedule.Framing]bool{schedule.Bare: true, schedule.Packets: true},
		met(build(t, toAll, "nccl:p2p", "per_node", "2")))
	toAll.Count = 1 << 20
	require.Equal(t, only(schedule.Bare), met(build(t, toAll, "nccl:p2p")))
}
