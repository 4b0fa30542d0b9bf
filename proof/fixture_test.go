package proof

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// ringLane is the ring of Patarasuk and Yuan, as NCCL has it.
func ringLane(l *schedule.Lane) {
	r, p := l.Rank, l.Ranks
	prev, next := r-1, r+1
	l.Send(next, l.Chunk(r))
	for i := 1; i < p-1; i++ {
		l.ReduceSend(prev, next, l.Chunk(r-i))
	}
	l.Completes()
	l.ReduceCopySend(prev, next, l.Chunk(r+1))
	for i := range p - 2 {
		l.CopySend(prev, next, l.Chunk(r-i))
	}
	l.Recv(prev, l.Chunk(r+2))
}

// directLane is all-to-all with a lane for every peer.
func directLane(l *schedule.Lane) {
	if l.Index == 0 {
		l.Copy(l.Out(l.Rank), l.In(l.Rank))
	}
	l.Send(l.Rank+1+l.Index, l.In(l.Rank+1+l.Index))
	l.Recv(l.Rank-1-l.Index, l.Out(l.Rank-1-l.Index))
}

func allReduce(ranks int, count int64) collective.Spec {
	return collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: count}
}

func ring(t testing.TB, ranks int, count int64, change func(*schedule.Plan)) *schedule.Schedule {
	p := schedule.Plan{Name: "ring", Spec: allReduce(ranks, count),
		Group:  schedule.Group{int32(ranks)},
		Chunks: ranks, Lane: ringLane}
	if change != nil {
		change(&p)
	}
	s, err := schedule.Build(p)
	require.NoError(t, err)
	return s
}

func direct(t testing.TB, ranks int) *schedule.Schedule {
	s, err := schedule.Build(
		schedule.Plan{Name: "direct", Lanes: ranks - 1, Group: schedule.Group{int32(ranks)},
			Spec: collective.Spec{Kind: collective.AllToAll, Type: dtype.Float32, Ranks: ranks, Count: 4},
			Lane: directLane})
	require.NoError(t, err)
	return s
}

func mustParse(t *testing.T, text string) *schedule.Schedule {
	s, err := schedule.Parse(text)
	require.NoError(t, err)
	return s
}

// damage replaces each line that a patch marks with "- " by the "+ " lines that follow it.
func damage(t *testing.T, text, patch string) string {
	lines := strings.Split(text, "\n")
	at := 0
	for _, edit := range strings.Split(patch, "\n") {
		mark, line, _ := strings.Cut(edit, " ")
		if mark == "-" {
			i := slices.Index(lines[at:], line)
			require.GreaterOrEqual(t, i, 0, "no line %q after line %d", line, at)
			at += i
			lines = slices.Delete(lines, at, at+1)
			continue
		}
		lines = slices.Insert(lines, at, line)
		at++
	}
	return strings.Join(lines, "\n")
}

func verdict(s *schedule.Schedule, o Options) string {
	p, found := Verify(s, o)
	if p == nil {
		var b strings.Builder
		for _, v := range found {
			fmt.Fprintln(&b, v)
		}
		return b.String()
	}
	return fmt.Sprintf("proved: %d rounds, %d steps, %d messages, %d bytes sent, %d slots needed, "+
		"rank order %v, same tree %v, %d iterations\n", p.Rounds, p.Steps, p.Messages, p.BytesSent,
		p.MinSlots, p.KeepsRankOrder, p.SameTree, p.Iterations)
}
