package nccl

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// allToAllV is one of blocks of so many bytes, a row a sender.
func allToAllV(splits [][]int64) collective.Spec {
	return collective.Spec{Kind: collective.AllToAllV, Type: dtype.Uint8, Ranks: len(splits),
		Splits: splits}
}

// laid is the schedule of a group of sends and receives.
func laid(x *p2p, spec collective.Spec) (*schedule.Schedule, error) {
	plan := schedule.Plan{Name: "p2p", Spec: spec}
	x.lay(&plan)
	return schedule.Build(plan)
}

// steps are those of a rank as they are carried out: lane, elements that are stored and read,
// peers, lanes of these, framings. They are the same however a schedule names its blocks.
func steps(s *schedule.Schedule, rank int) (all []string) {
	var step schedule.Step
	p := s.Program(rank)
	for lane := range p.Lanes() {
		for at := p.Walk(lane); !at.Done(); at.Next(1) {
			p.Load(&at, &step)
			text := fmt.Sprint(lane, " round ", step.Round, ":")
			where := schedule.Spot{Rank: rank, Channel: p.Channel(lane)}
			for _, r := range step.To {
				text += fmt.Sprint(" to ", r.Buffer, s.Spans(nil, where, &r))
			}
			for _, f := range step.From {
				text += fmt.Sprint(" from ", f.Kind, f.Peer, f.Region.Buffer)
				if f.Kind == schedule.Local {
					text += fmt.Sprint(s.Spans(nil, where, &f.Region))
				}
			}
			all = append(all, text+fmt.Sprint(" send ", step.Send))
		}
	}
	return all
}

// TestRaggedIsEven: blocks of one size that are cut one by one are sent as those of an all_to_all.
func TestRaggedIsEven(t *testing.T) {
	for _, setting := range []Setting{{}, {PerNode: 2}, {PerNode: 1},
		{Machine: "dgx-v100", PerNode: 3}} {
		for _, bytes := range []int64{4, 16 << 10, 68 << 10, 300_004, 5 << 20} {
			even := allToAll(6, bytes)
			x, err := p2pOf(even, setting)
			require.NoError(t, err)
			want, err := laid(x, even)
			require.NoError(t, err)
			x.same, x.spec = nil, even
			x.spec.Kind, x.spec.Count = collective.AllToAllV, 0
			for range even.Ranks {
				row := make([]int64, even.Ranks)
				for i := range row {
					row[i] = even.Count
				}
				x.spec.Splits = append(x.spec.Splits, row)
			}
			x.ragged, err = x.raggedOf(false)
			require.NoError(t, err)
			got, err := laid(x, x.spec)
			require.NoError(t, err)
			require.Equal(t, want.Protocol, got.Protocol)
			for rank := range even.Ranks {
				require.Equal(t, steps(want, rank), steps(got, rank), "%+v %d bytes", setting, bytes)
			}

			y, err := p2pOf(x.spec, setting) // by itself, it is the all_to_all
			require.NoError(t, err)
			require.Nil(t, y.ragged)
			got, err = laid(y, x.spec)
			require.NoError(t, err)
			require.Equal(t, want.Cuts, got.Cuts)
			require.Equal(t, want.Group, got.Group)
			for rank := range even.Ranks {
				require.Equal(t, steps(want, rank), steps(got, rank))
			}
		}
	}
}

// TestRaggedIsProven: blocks of any sizes, empty ones and whole empty rows among them, arrive where
// they belong, on one node and on several, and each is cut and framed as an all_to_all of its size.
func TestRaggedIsProven(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(1)
	p.MinSuccessfulTests = tier.Raced(5, 40, 500)
	laws := gopter.NewProperties(p)
	laws.Property("proven and exact", prop.ForAll(
		func(seed uint64, perNode, nodes, channels int, skips bool) string {
			splits := randomSplits(rand.New(rand.NewPCG(seed, 1)), perNode*nodes)
			return raggedFault(allToAllV(splits),
				Setting{PerNode: perNode, Channels: channels, SkipEmpty: skips})
		}, gen.UInt64(), gen.IntRange(1, 5), gen.IntRange(1, 3), gen.IntRange(0, 33), gen.Bool()))
	laws.TestingRun(t)
}

// randomSplits are sizes about where NCCL takes more parts, other chunks or the other protocol.
func randomSplits(r *rand.Rand, ranks int) (splits [][]int64) {
	sizes := []int64{0, 0, 1, 5000, 16 << 10, 16<<10 + 1, 64 << 10, 132 << 10, 300_001, 1<<20 - 1}
	for range ranks {
		row, some := make([]int64, ranks), r.IntN(4) > 0
		for i := range row {
			if some {
				row[i] = sizes[r.IntN(len(sizes))]
			}
		}
		splits = append(splits, row)
	}
	return splits
}

// raggedFault says what is wrong with an all_to_allv, "" if nothing.
func raggedFault(spec collective.Spec, setting Setting) string {
	x, err := p2pOf(spec, setting)
	if err != nil {
		return err.Error()
	}
	s, err := laid(x, spec)
	if err != nil {
		return err.Error()
	}
	if _, violations := proof.Verify(s, proof.Options{}); len(violations) > 0 {
		return fmt.Sprint(violations[0])
	}
	if again, err := schedule.Parse(s.String()); err != nil || !schedule.Equal(s, again) {
		return fmt.Sprint("not the same as text: ", err)
	}
	r, err := reference.Check(s, reference.CheckOptions{})
	if err != nil || r.Numbers != reference.NumbersExact {
		return fmt.Sprint("numbers: ", r, err)
	}
	for from := range x.ranks {
		for to := range x.ranks {
			if fault := x.messageFault(spec, setting, s, from, to); x.ragged != nil && fault != "" {
				return fault
			}
		}
	}
	return ""
}

// messageFault says what is wrong with how a pair's block is sent.
func (x *p2p) messageFault(spec collective.Spec, setting Setting, s *schedule.Schedule,
	from, to int) string {
	n := spec.Splits[from][to]
	m := x.message(from, to)
	alone, err := p2pOf(collective.Spec{Kind: collective.AllToAll, Type: spec.Type,
		Ranks: spec.Ranks, Count: n}, setting)
	want := 0
	switch {
	case err != nil:
		return err.Error()
	case n == 0 && setting.SkipEmpty && m != nil:
		return "an empty block is not skipped"
	case n == 0 && setting.SkipEmpty:
	case fmt.Sprint(*m) != fmt.Sprint(*alone.same):
		return fmt.Sprintf("%d bytes are cut into %v, not %v", n, *m, *alone.same)
	default:
		want = len(m.ends)
	}
	if from == to || spec.Empty() {
		return ""
	}
	var step schedule.Step
	sent, framed := 0, schedule.Bare
	if want > 0 && m.ll && from/x.perNode == to/x.perNode {
		framed = schedule.Packets
	}
	p := s.Program(from)
	for lane := range p.Lanes() {
		for at := p.Walk(lane); !at.Done(); at.Next(1) {
			p.Load(&at, &step)
			for i := range step.Send {
				if d := &step.Send[i]; int(d.Peer.Rank) == to {
					if sent++; d.Framing() != framed {
						return fmt.Sprintf("%d bytes go by %v", n, d.Framing())
					}
				}
			}
		}
	}
	if sent != want {
		return fmt.Sprintf("%d bytes go in %d messages, not %d", n, sent, want)
	}
	return ""
}

// TestRaggedSays: how messages go that differ.
func TestRaggedSays(t *testing.T) {
	const k = 1 << 10
	for _, c := range []struct {
		splits   [][]int64
		setting  Setting
		want     string
		protocol schedule.Protocol
	}{
		// Two ranks leave 16 of 32 channels for each, of parts of 64 KiB or more.
		{[][]int64{{0, 4 * k}, {64 * k, 0}}, Setting{}, "LL and Simple, 1 of 32 channels a message",
			schedule.Protocol{Shape: schedule.P2PShape}},
		{[][]int64{{0, 4 * k}, {65 * k, 0}}, Setting{},
			"LL and Simple, 1 to 2 of 32 channels a message", schedule.Protocol{Shape: schedule.P2PShape}},
		// What a rank keeps is no message.
		{[][]int64{{9 << 20, 4 * k}, {0, 0}}, Setting{}, "LL, 1 of 32 channels a message",
			schedule.Protocol{Shape: schedule.P2PShape, Node: schedule.Packets}},
		{[][]int64{{1, 0}, {0, 0}}, Setting{SkipEmpty: true}, "no messages",
			schedule.Protocol{Shape: schedule.P2PShape, Node: schedule.Packets}},
		// A long message between nodes does not make those within one Simple.
		{[][]int64{{0, 8, 8, 1 << 20}, {8, 0, 8, 8}, {8, 8, 0, 8}, {8, 8, 8, 0}}, Setting{PerNode: 2},
			"LL, 1 to 4 of 16 channels a message, Simple between nodes", schedule.Protocol{
				Shape: schedule.P2PShape, Node: schedule.Packets, Leave: schedule.LeaveByFirst}},
	} {
		spec := allToAllV(c.splits)
		x, err := p2pOf(spec, c.setting)
		require.NoError(t, err)
		require.Equal(t, c.want, x.String())
		s, err := laid(x, spec)
		require.NoError(t, err)
		require.Equal(t, c.protocol, s.Protocol, c.want)
	}
}

// TestRaggedTooLong: blocks that would take too many chunks to list are refused.
func TestRaggedTooLong(t *testing.T) {
	_, err := p2pOf(allToAllV([][]int64{{0, 1}, {1 << 41, 0}}), Setting{})
	require.EqualError(t, err,
		"rank 0 has 2 TiB in blocks of several sizes; at most 1 TiB is expected")
}
