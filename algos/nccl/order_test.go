package nccl_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/proof"
)

func allReduce(ranks int, count int64) collective.Spec {
	return collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: count}
}

// ringSums is what a ring's all_reduce gives, element by element, as device/all_reduce.h goes
// through a vector: channels of so many elements, in them loops of a chunk for each rank, the last
// of them with chunks that are even but for multiples of 16 bytes. Chunk c is added from rank c+1
// on.
func ringSums(in [][]float32, channels []int, chunk int) (out []float32) {
	n, offset := len(in), 0
	for _, count := range channels {
		for at := 0; at < count; {
			each, rest := chunk, count-at
			if rest < n*chunk {
				each = ((rest+n-1)/n + 3) / 4 * 4
			}
			for i := range min(rest, n*each) {
				c := i / each
				x := in[(c+1)%n][offset+at+i]
				for k := 2; k <= n; k++ {
					x = in[(c+k)%n][offset+at+i] + x
				}
				out = append(out, x)
			}
			at += min(rest, n*each)
		}
		offset += count
	}
	return out
}

// TestRingSums: a ring's bits are those of the device's loops, in every protocol, for chunks that
// are short and loops that repeat, and in channels as 8 H100 have them.
func TestRingSums(t *testing.T) {
	for _, test := range []struct {
		protocol string
		chunk    int // elements
	}{{"ll", 8192}, {"ll128", 144000}, {"simple", 524288}} {
		for _, ranks := range []int{2, 3, 5} {
			for _, count := range []int{1, 7, 1000, 4097, 100003} {
				same(t, allReduce(ranks, int64(count)), "nccl:ring",
					func(in [][]float32) []float32 { return ringSums(in, []int{count}, test.chunk) },
					"nchannels", "1", "protocol", test.protocol)
			}
		}
	}
	channels := make([]int, 24)
	for i := range channels {
		channels[i] = 11264
	}
	channels[23] = 3072
	same(t, allReduce(8, 1<<18), "nccl:ring",
		func(in [][]float32) []float32 { return ringSums(in, channels, 8192) }, "protocol", "ll")
}

// same holds the bits of all ranks against what is expected.
func same(t *testing.T, spec collective.Spec, name string, want func([][]float32) []float32,
	params ...string) {
	t.Helper()
	in := numbers(spec)
	s := build(t, spec, name, params...)
	_, violations := proof.Verify(s, proof.Options{})
	require.Empty(t, violations, s.Name)
	sums := want(in)
	for rank, out := range outputs(t, s, in) {
		require.Equal(t, sums, out, "%s rank %d", s.Name, rank)
	}
}

// recordedTrees are the parents and children that NCCL's own graph/trees.cc gives, by the number of
// nodes, tree and node: up, first, second.
func recordedTrees(t *testing.T) map[int]*[2][][3]int {
	t.Helper()
	text, err := os.ReadFile("testdata/trees.txt")
	require.NoError(t, err)
	all := map[int]*[2][][3]int{}
	for line := range strings.Lines(string(text)) {
		var nodes, tree int
		words := strings.Fields(line)
		_, err := fmt.Sscan(strings.Join(words[:2], " "), &nodes, &tree)
		require.NoError(t, err)
		if all[nodes] == nil {
			all[nodes] = &[2][][3]int{}
		}
		for _, word := range words[2:] {
			var b [3]int
			_, err := fmt.Sscanf(word, "%d/%d/%d", &b[0], &b[1], &b[2])
			require.NoError(t, err)
			all[nodes][tree] = append(all[nodes][tree], b)
		}
	}
	require.Len(t, all, 63)
	return all
}

// TestTreeSums: on one GPU a node, a tree's bits are those of the recorded trees, each node's part
// plus its first child's plus its second's. Of two channels the second has the second tree: 100003
// elements are 25 cells of 4096, of which the first channel takes 13.
func TestTreeSums(t *testing.T) {
	const count, first = 100003, 13 * 4096
	for nodes, trees := range recordedTrees(t) {
		if nodes > tier.Of(9, 33) {
			continue
		}
		same(t, allReduce(nodes, count), "nccl:tree", func(in [][]float32) (out []float32) {
			var sum func(tree, node, i int) float32
			sum = func(tree, node, i int) float32 {
				x := in[node][i]
				for _, child := range trees[tree][node][1:] {
					if child >= 0 {
						x += sum(tree, child, i)
					}
				}
				return x
			}
			var roots [2]int
			for tree := range trees {
				roots[tree] = slices.IndexFunc(trees[tree], func(b [3]int) bool { return b[0] < 0 })
			}
			for i := range count {
				tree := 0
				if i >= first {
					tree = 1
				}
				out = append(out, sum(tree, roots[tree], i))
			}
			return out
		}, "machine", "socket", "protocol", "simple")
	}
}

// TestOrders: how elements are added, by hand. In a node a tree is a chain. Between nodes the first
// GPU of a chain has the parent; the children hang below the first on an H100 machine, elsewhere
// those on higher nodes below the first, those on lower ones below the second.
func TestOrders(t *testing.T) {
	for _, test := range []struct {
		name, params string
		kind         collective.Kind
		ranks        int
		rank         int
		want         string
	}{
		{"tree", "", collective.AllReduce, 4, 3, "r0 + (r1 + (r2 + r3))"},
		{"tree", "per_node 2 machine dgx-a100", collective.AllReduce, 4, 0,
			"(r0 + r1) + (r2 + r3)"},
		{"tree", "per_node 2 machine dgx-a100", collective.AllReduce, 8, 0,
			"(r0 + r1) + ((r4 + (r5 + (r2 + r3))) + (r6 + r7))"},
		{"tree", "per_node 2 machine dgx-h100", collective.AllReduce, 8, 0,
			"(r0 + r1) + (((r4 + r5) + (r2 + r3)) + (r6 + r7))"},
		{"ring", "", collective.AllReduce, 4, 0, "r0 + (r3 + (r2 + r1))"},
		{"ring", "", collective.ReduceScatter, 4, 1, "r1 + (r0 + (r3 + r2))"},
		{"ring", "", collective.Reduce, 4, 0, "r0 + (r3 + (r2 + r1))"},
		{"pat", "", collective.ReduceScatter, 4, 0, "r3 + ((r1 + r2) + r0)"},
		{"pat", "", collective.ReduceScatter, 7, 0, "r6 + ((r2 + (r1 + r3)) + ((r4 + r5) + r0))"},
		{"pat", "", collective.ReduceScatter, 8, 2,
			"r1 + ((r5 + ((r3 + r4) + r6)) + ((r7 + r0) + r2))"},
	} {
		spec := allReduce(test.ranks, 100)
		spec.Kind = test.kind
		order, err := proof.OrderOf(build(t, spec, "nccl:"+test.name, strings.Fields(test.params)...),
			test.rank, 0)
		require.NoError(t, err)
		require.Equal(t, test.want, order.String(), "%+v", test)
	}
}

// TestLoops: what takes many chunks, in several channels, over several nodes, from any root and in
// place, is proven.
func TestLoops(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather,
		collective.ReduceScatter, collective.Broadcast, collective.Reduce} {
		for i, params := range []string{"protocol ll nchannels 2", "protocol ll128 nchannels 3",
			"protocol simple nchannels 2 machine socket", "protocol ll per_node 2 machine dgx-a100",
			"protocol simple per_node 3"} {
			for _, name := range []string{"ring", "tree", "pat"} {
				spec := blocks(kind, 6, 600_007)
				if spec.InPlace = i%2 == 0; kind.Rooted() {
					spec.Root = i
				}
				list := strings.Fields(params)
				if name == "pat" {
					list = list[2:]
				}
				a, err := algos.FindIn(nccl.Table(), kind, "nccl:"+name)
				if err != nil {
					continue
				}
				var o algos.Options
				for i := 0; i < len(list); i += 2 {
					o.Params = append(o.Params, algos.Param{Name: list[i], Value: list[i+1]})
				}
				s, err := a.Build(spec, o)
				require.NoError(t, err)
				_, violations := proof.Verify(s, proof.Options{})
				require.Empty(t, violations, "%v %s %s", kind, name, params)
			}
		}
	}
}
