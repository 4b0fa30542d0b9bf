package nccl_test

import (
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// patOp is an operation that NCCL's own PatRSAlgorithm or PatAGAlgorithm has given out, compiled
// from its source for the processor: what is read from a place in a slot of a hop's connection,
// what is written to one, and at which distance the block or sum is.
type patOp struct {
	recv, send place
	distance   int
}

// place is a place in a slot: the hop is 2^dim, and the slot so many after the first that is not
// done with; done says that the slot is done with after it. dim is −1 of none.
type place struct {
	dim, slot, at int
	done          bool
}

// recordedPAT are the operations of testdata/pat.txt for a call: "r1.0.2!s2.0.0d4" reads the third
// place of a slot of hop 2, which is done with, adds it to the sum at distance 4 and writes that to
// the first place of a slot of hop 4.
func recordedPAT(t *testing.T) map[string][]patOp {
	t.Helper()
	text, err := os.ReadFile("testdata/pat.txt")
	require.NoError(t, err)
	all := map[string][]patOp{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		name := strings.Join(words[:3], " ")
		for _, word := range words[3:] {
			rest, distance, ok := strings.Cut(word, "d")
			require.True(t, ok, word)
			op := patOp{recv: place{dim: -1}, send: place{dim: -1}}
			op.distance, err = strconv.Atoi(distance)
			require.NoError(t, err)
			in, out, _ := strings.Cut(rest, "s")
			for _, p := range []struct {
				text string
				at   *place
			}{{strings.TrimPrefix(in, "r"), &op.recv}, {out, &op.send}} {
				text, done := strings.CutSuffix(strings.Trim(p.text, "-"), "!")
				if text == "" {
					continue
				}
				_, err := fmt.Sscanf(text, "%d.%d.%d", &p.at.dim, &p.at.slot, &p.at.at)
				require.NoError(t, err, word)
				p.at.done = done
			}
			all[name] = append(all[name], op)
		}
	}
	require.Len(t, all, 96)
	return all
}

// message is the distances that go by a hop together.
type message struct {
	hop       int
	distances []int
}

// executed carries out the recorded operations: it returns messages in the order of sending, and at
// every distance those whose sums are added to it, in this order. All ranks do the same.
func executed(t *testing.T, ops []patOp) (sent []message, added map[int][]int) {
	t.Helper()
	added = map[int][]int{}
	sending, receiving := map[int]int{}, map[int]int{} // the first slot that is not done with
	slot := map[[3]int]int{}                           // what is in a place
	for _, op := range ops {
		if p := op.recv; p.dim >= 0 {
			d, ok := slot[[3]int{p.dim, receiving[p.dim] + p.slot, p.at}]
			require.True(t, ok, "%+v", op)
			added[op.distance] = append(added[op.distance], d)
			if p.done {
				receiving[p.dim]++
			}
		}
		if p := op.send; p.dim >= 0 {
			now := sending[p.dim]
			slot[[3]int{p.dim, now + p.slot, p.at}] = op.distance
			if p.done {
				m := message{hop: 1 << p.dim}
				for at := range 64 {
					if d, ok := slot[[3]int{p.dim, now, at}]; ok {
						m.distances = append(m.distances, d)
					}
				}
				sent = append(sent, m)
				sending[p.dim]++
			}
		}
	}
	return sent, added
}

// patCases are calls in one channel and one loop, and how many blocks fit in their chunk of 64 KiB.
func patCases(yield func(name string, spec collective.Spec)) {
	for _, kind := range []collective.Kind{collective.ReduceScatter, collective.AllGather} {
		for _, ranks := range []int{2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 24, 31, 32, 33} {
			for fit, bytes := range map[int]int64{1: 40000, 2: 20000, 16: 3000} {
				spec := collective.Spec{Kind: kind, Ranks: ranks, Type: dtype.Float32, Count: bytes / 4}
				if kind.Reduces() {
					spec.Op = collective.Sum
				}
				yield(fmt.Sprintf("%v %d %d", kind, ranks, fit), spec)
			}
		}
	}
}

// TestPATMessages: PAT's messages are those that NCCL's own code gives, in its order.
func TestPATMessages(t *testing.T) {
	recorded := recordedPAT(t)
	patCases(func(name string, spec collective.Spec) {
		want, _ := executed(t, recorded[name])
		s := build(t, spec, "nccl:pat", "nchannels", "1")
		require.Equal(t, want, messagesOf(t, s), name)
	})
}

// messagesOf are the messages of rank 0 of a schedule with a block for each rank.
func messagesOf(t *testing.T, s *schedule.Schedule) (sent []message) {
	t.Helper()
	p := s.Program(0)
	require.Equal(t, 1, p.Lanes())
	var step schedule.Step
	for c := p.Walk(0); !c.Done(); c.Next(1) {
		p.Load(&c, &step)
		if len(step.Send) == 0 {
			continue
		}
		hop := int(step.Send[0].Peer.Rank)
		if s.Spec.Kind == collective.AllGather {
			hop = s.Spec.Ranks - hop
		}
		r := step.From[len(step.From)-1].Region
		if len(step.To) > 0 {
			r = step.To[0]
		}
		m := message{hop: hop}
		for i := range int32(max(len(r.List), 1)) {
			block := r.First
			if r.List != nil {
				block = r.List[i]
			}
			m.distances = append(m.distances, int(block)%s.Spec.Ranks)
		}
		sent = append(sent, m)
	}
	return sent
}

// TestPATSums: a reduce_scatter's bits are those of NCCL's own order of additions.
func TestPATSums(t *testing.T) {
	recorded := recordedPAT(t)
	patCases(func(name string, spec collective.Spec) {
		if spec.Kind != collective.ReduceScatter || spec.Ranks > tier.Of(13, 64) {
			return
		}
		_, added := executed(t, recorded[name])
		n, count := spec.Ranks, int(spec.Count)
		in := numbers(spec)
		var sum func(rank, distance, i int) float32
		sum = func(rank, distance, i int) float32 {
			x := in[rank][(rank+distance)%n*count+i]
			for _, from := range added[distance] {
				x = sum((rank-(from-distance)+n)%n, from, i) + x
			}
			return x
		}
		out := outputs(t, build(t, spec, "nccl:pat", "nchannels", "1"), in)
		for rank := range n {
			for i := rank; i < count; i += 197 {
				require.Equal(t, sum(rank, 0, i), out[rank][i], "%s rank %d element %d", name, rank, i)
			}
		}
	})
}

// TestPATTrees: no more messages are on their way to a rank than its connections have slots, and a
// distance has its lowest bit taken off at each hop.
func TestPATTrees(t *testing.T) {
	patCases(func(name string, spec collective.Spec) {
		for _, m := range messagesOf(t, build(t, spec, "nccl:pat", "nchannels", "1")) {
			for _, d := range m.distances {
				if spec.Kind == collective.AllGather {
					d += m.hop
				}
				require.Equal(t, bits.TrailingZeros(uint(m.hop)), bits.TrailingZeros(uint(d)), name)
			}
			require.True(t, slices.IsSorted(m.distances) || spec.Kind == collective.ReduceScatter)
		}
	})
}
