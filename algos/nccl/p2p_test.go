package nccl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// allToAll is one of messages of so many bytes.
func allToAll(ranks int, bytes int64) collective.Spec {
	return collective.Spec{Kind: collective.AllToAll, Type: dtype.Float32, Ranks: ranks,
		Count: bytes / 4}
}

// TestRounds: groups are met in NCCL's order, every rank once in all, and who sends to a rank is
// whom that hears from in the same round.
func TestRounds(t *testing.T) {
	groups := func(nodes int) (all []int) {
		for _, h := range (&model{ranks: nodes, nodes: nodes, perNode: 1}).rounds() {
			require.Zero(t, h.local)
			all = append(all, h.groups)
		}
		return all
	}
	// NCCL's comment on its sequence has these for 16; (x²+x)/2 modulo 8 is 0 1 3 6 2 7 5 4.
	require.Equal(t, []int{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8}, groups(16))
	require.Equal(t, []int{0, 1, 3, 2, 4}, groups(5))
	for _, c := range []struct{ ranks, perNode, size int }{{8, 8, 8}, {13, 13, 13}, {16, 8, 8},
		{24, 12, 4}, {6, 2, 2}, {7, 1, 1}, {32, 16, 8}} {
		m := &model{ranks: c.ranks, nodes: c.ranks / c.perNode, perNode: c.perNode}
		require.Equal(t, c.size, m.groupSize())
		x := &p2p{model: m, rounds: m.rounds()}
		require.Len(t, x.rounds, c.ranks)
		for rank := range c.ranks {
			met := map[int]bool{}
			for _, h := range x.rounds {
				to := x.peer(rank, h, 1)
				met[to] = true
				require.Equal(t, rank, x.peer(to, h, -1))
			}
			require.Len(t, met, c.ranks)
		}
		require.Equal(t, hops{}, x.rounds[0])
	}
}

// TestParts: how messages are cut, reckoned by hand from NCCL's rules.
func TestParts(t *testing.T) {
	const k, m = 1 << 10, 1 << 20
	for _, c := range []struct {
		ranks, perNode int
		bytes          int64
		want           string
		part, chunk    int64 // the first, in bytes
		lanes          int   // at once in a channel
		used           int   // channels
		second         []int // channels of the second round
	}{
		// One node: 32 channels, of which 8 ranks leave 4 for each. A part has 64 KiB or more, and
		// becomes one of more channels beyond 16 MiB. Round 1 begins at channel 10000 in binary.
		{8, 8, 4 * k, "LL, 1 of 32 channels a message", 4 * k, 4 * k, 2, 8, []int{16}},
		{8, 8, 64 * k, "Simple, 1 of 32 channels a message", 64 * k, 64 * k, 2, 8, []int{16}},
		{8, 8, 65 * k, "Simple, 2 of 32 channels a message", 36 * k, 36 * k, 2, 16, []int{16, 17}},
		{8, 8, m, "Simple, 4 of 32 channels a message", 256 * k, 256 * k, 2, 32,
			[]int{16, 17, 18, 19}},
		{8, 8, 128 * m, "Simple, 8 of 32 channels a message", 16 * m, 512 * k, 4, 32,
			[]int{16, 17, 18, 19, 20, 21, 22, 23}},
		// Two ranks leave 16 channels for each.
		{2, 2, 2 * m, "Simple, 16 of 32 channels a message", 128 * k, 128 * k, 2, 32,
			[]int{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
		// Two nodes: 16 channels, up to 4 for each message, parts of 128 KiB until then. Rounds 0 to 7
		// have the same base.
		{16, 8, 16 * k, "LL, 1 of 16 channels a message, Simple between nodes", 16 * k, 16 * k, 16, 2,
			[]int{0}},
		{16, 8, 128 * k, "Simple, 1 of 16 channels a message", 128 * k, 64 * k, 16, 2, []int{0}},
		{16, 8, 132 * k, "Simple, 2 of 16 channels a message", 68 * k, 64 * k, 16, 4, []int{0, 1}},
		{16, 8, m, "Simple, 4 of 16 channels a message", 256 * k, 128 * k, 16, 8,
			[]int{0, 1, 2, 3}},
	} {
		x, err := p2pOf(allToAll(c.ranks, c.bytes), Setting{PerNode: c.perNode})
		require.NoError(t, err)
		require.Equal(t, c.want, x.String())
		require.Equal(t, c.part, x.same.parts[0])
		require.Equal(t, c.bytes, x.same.parts[len(x.same.parts)-1])
		require.Equal(t, c.chunk/4, x.same.ends[0], c.want)
		var plan schedule.Plan
		x.lay(&plan)
		require.Equal(t, c.lanes, plan.Lanes, c.want)
		require.Equal(t, c.used, plan.Channels)
		for part, channel := range c.second {
			require.Equal(t, channel, x.channelOf(1, part))
		}
	}
}

// TestMessages: calls of many channels and chunks, on one node and on several, are proven, and
// bring every block where it belongs.
func TestMessages(t *testing.T) {
	for _, setting := range []Setting{{}, {PerNode: 2}, {PerNode: 1, Machine: "dgx-a100"},
		{Machine: "socket"}, {Channels: 2}, {Machine: "dgx-v100", PerNode: 3}} {
		for _, kind := range []collective.Kind{collective.AllToAll, collective.Gather,
			collective.Scatter, collective.SendRecv} {
			spec := collective.Spec{Kind: kind, Type: dtype.Int16, Ranks: 6, Count: 150_001}
			if kind.Rooted() {
				spec.Root = 4
			}
			x, err := p2pOf(spec, setting)
			require.NoError(t, err)
			plan := schedule.Plan{Name: "p2p", Spec: spec}
			x.lay(&plan)
			s, err := schedule.Build(plan)
			require.NoError(t, err)
			_, violations := proof.Verify(s, proof.Options{})
			require.Empty(t, violations, "%v %+v", kind, setting)
			require.Greater(t, s.Program(4).Lanes(), 2)
			again, err := schedule.Parse(s.String())
			require.NoError(t, err)
			require.True(t, schedule.Equal(s, again))
			in := make([][]byte, spec.Ranks)
			for rank := range in {
				in[rank] = make([]byte, 2*spec.In(rank))
				for i := range in[rank] {
					in[rank][i] = byte(i*7 + i>>8 + rank*31)
				}
			}
			out, err := reference.RunBytes(s, in, reference.RunOptions{})
			require.NoError(t, err)
			n := 2 * int(spec.Count)
			for rank := range out {
				switch kind {
				case collective.AllToAll:
					for from := range in {
						require.Equal(t, in[from][n*rank:n*(rank+1)], out[rank][n*from:n*(from+1)])
					}
				case collective.SendRecv:
					require.Equal(t, in[(rank+5)%6], out[rank])
				case collective.Scatter:
					require.Equal(t, in[4][n*rank:n*(rank+1)], out[rank])
				default:
					if rank == 4 {
						for from := range in {
							require.Equal(t, in[from], out[rank][n*from:n*(from+1)])
						}
					}
				}
			}
		}
	}
}

// TestInPlaceRefused: NCCL does no all_to_all and no exchange in place.
func TestInPlaceRefused(t *testing.T) {
	spec := allToAll(4, 64)
	spec.InPlace = true
	_, err := p2pOf(spec, Setting{})
	require.EqualError(t, err, "NCCL does no all_to_all in place")
}
