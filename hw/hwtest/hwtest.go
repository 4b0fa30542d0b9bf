// Package hwtest has helpers for tests of executors: collectives of all kinds, schedules with the
// whole vocabulary, random inputs, and schedules that cannot end. It must not know any executor.
package hwtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/input"
	"collsim/proof"
	"collsim/schedule"
)

// Together runs up to sixteen parallel tests at once, however few processors there are, since tests
// of processes mostly wait. TestMain must call it.
func Together() {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
}

// Operators lists the operators of a kind, with factor and mode. A kind that does not reduce has a
// single empty one.
func Operators(kind collective.Kind) []collective.Spec {
	if !kind.Reduces() {
		return []collective.Spec{{}}
	}
	list := []collective.Spec{{Op: collective.Avg, Avg: collective.AvgPost}}
	for _, op := range collective.Ops() {
		one := collective.Spec{Op: op}
		if op == collective.PremulSum {
			one.Factor = 3
		}
		list = append(list, one)
	}
	return list
}

// AnySpec returns a random collective of a kind.
func AnySpec(kind collective.Kind, ranks int, r *rand.Rand) collective.Spec {
	s := collective.Spec{Kind: kind, Ranks: ranks}
	rows := 0
	switch {
	case kind == collective.Barrier:
	case kind == collective.AllToAllV:
		rows = ranks
	case kind.Splits():
		rows = 1
	default:
		s.Count = int64(ranks) + r.Int64N(9)
	}
	if kind.Rooted() {
		s.Root = r.IntN(ranks)
	}
	for range rows {
		row := make([]int64, ranks)
		for i := range row {
			row[i] = r.Int64N(5)
		}
		s.Splits = append(s.Splits, row)
	}
	return s
}

// AnyInputs returns inputs of random bits.
func AnyInputs(s *schedule.Schedule, r *rand.Rand) [][]byte {
	in := make([][]byte, s.Spec.Ranks)
	for rank := range in {
		in[rank] = make([]byte, s.Len(schedule.Input, rank)*int64(s.Spec.Type.Width()))
		for i := range in[rank] {
			in[rank][i] = byte(r.Uint32())
		}
	}
	return in
}

// A Script is a schedule with its proof.
type Script struct {
	*schedule.Schedule
	Proof *proof.Proof
}

// Scripts returns the proven schedules of package schedule's testdata: gets, puts, silent ones,
// packets, multimem, events, slices and lanes.
func Scripts(t testing.TB) (all []Script) {
	t.Helper()
	paths, err := filepath.Glob("../../schedule/testdata/*.txt")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := input.Limit{}.File(path)
		require.NoError(t, err)
		for _, part := range strings.Split("\n"+string(text), "\nschedule\n")[1:] {
			body, _, _ := strings.Cut(part, "\n----")
			s, err := schedule.Parse(body + "\n")
			require.NoError(t, err, path)
			if p, found := proof.Verify(s, proof.Options{}); len(found) == 0 {
				all = append(all, Script{s, p})
			}
		}
	}
	require.Greater(t, len(all), 12)
	return all
}

// SameOutputs requires that all outputs of a schedule have the wanted bits.
func SameOutputs(t testing.TB, s *schedule.Schedule, want, got [][]byte) {
	t.Helper()
	require.Len(t, got, len(want))
	for rank := range want {
		if s.Spec.Kind == collective.Custom {
			require.Len(t, got[rank], len(want[rank])) // some write no output
			continue
		}
		require.Equal(t, want[rank], append([]byte{}, got[rank]...), "%s %v %v %v, rank %d of %d",
			s.Name, s.Spec.Kind, s.Spec.Op, s.Spec.Type, rank, len(want))
	}
}

// Circle returns a deadlocked schedule: each of three ranks waits for the previous one's message.
// It also returns inputs, and the error expected after a timeout.
func Circle(t testing.TB, timeout time.Duration) (s *schedule.Schedule, in [][]byte, want string) {
	text := "schedule stuck\ncollective broadcast float32\nranks 3\nroot 0\ncount 4\n"
	for rank, own := range []string{"in", "out", "out"} {
		text += fmt.Sprintf("rank %d\n  lane 0\n    recv from %d into out @0\n    send %s to %d @1\n",
			rank, (rank+2)%3, own, (rank+1)%3)
	}
	return parsed(t, text), [][]byte{make([]byte, 16), {}, {}},
		fmt.Sprintf("rank 0 lane 0 step 0: wait: timeout: no progress for %v: ", timeout) +
			"3 lanes wait in a circle\n" +
			"  rank 0 lane 0 step 0  recv chunk 0  waits for a message from rank 2 lane 0\n" +
			"  rank 2 lane 0 step 0  recv chunk 0  waits for a message from rank 1 lane 0\n" +
			"  rank 1 lane 0 step 0  recv chunk 0  waits for a message from rank 0 lane 0, above"
}

// NeverComes returns a schedule in which rank 1 waits for a message that rank 0 does not send. It
// also returns the error of an executor that detects this: the texts before and after its own
// words.
func NeverComes(t testing.TB) (s *schedule.Schedule, before, after string) {
	return parsed(t, `schedule stuck
collective broadcast float32
ranks 2
root 0
count 4
rank 0
  lane 0
    copy in into out @0
rank 1
  lane 0
    recv from 0 into out @0
`), "rank 1 lane 0 step 0: wait: stall: ", ": 1 lane waits for what never comes\n" +
			"  rank 1 lane 0 step 0  recv chunk 0  waits for a message from rank 0 lane 0, " +
			"which has come to its end"
}

// NeverReceived returns a schedule in which one of two messages is not received, and the expected
// error.
func NeverReceived(t testing.TB) (s *schedule.Schedule, want string) {
	return parsed(t, `schedule full
collective broadcast float32
ranks 2
root 0
count 4
cut in block even 4
cut out block even 4
rank 0
  lane 0
    send in[0] to 1 @0
    send in[1] to 1 @0
    copy in into out @0
rank 1
  lane 0
    recv from 0 into out[0] @0
`), "rank 0 lane 0: step: malformed: 1 messages to rank 1 lane 0 are never received"
}

// parsed parses a schedule.
func parsed(t testing.TB, text string) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text)
	require.NoError(t, err)
	return s
}

// Doubled returns a program that overwrites its given tensor, so the tensor must be written again
// before each iteration.
func Doubled(t testing.TB) *schedule.Schedule {
	t.Helper()
	return parsed(t, `schedule double
collective custom float32
ranks 2
group 2
tensor a given float32 4
tensor b result float32 4
define b = (add 4 float32+float32->float32) of a, a
rank *
  lane 0
    compute (add 4 float32+float32->float32) a, a into a @0
    copy a into b @0
`)
}
