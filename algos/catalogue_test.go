package algos_test

import (
	"bufio"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/proof"
	"collsim/schedule"
)

// TestCatalogue compares proofs and costs with a table that another program of ours computed, from
// its own implementation of the same algorithms as rounds of messages: rounds, bytes and additions
// along the rounds, whether operands keep the rank order and whether all ranks evaluate one tree.
func TestCatalogue(t *testing.T) {
	file, err := os.Open("testdata/catalogue.tsv")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	compared := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Split(lines.Text(), "\t")
		kind, name, ok := ours(words[0], words[1])
		if !ok {
			continue
		}
		compareRow(t, kind, name, words)
		compared++
	}
	require.Equal(t, 849, compared, "rows of the catalogue")
}

// ours is the name that an algorithm of the catalogue has here.
func ours(kind, name string) (collective.Kind, string, bool) {
	for _, row := range []struct {
		kind, theirs string
		of           collective.Kind
		name         string
	}{
		{"ar", "ring", collective.AllReduce, "ring"},
		{"ar", "recursive_doubling", collective.AllReduce, "recursive-doubling"},
		{"ar", "binomial_reduce_bcast", collective.AllReduce, "binomial"},
		{"ar", "one_shot_allpairs", collective.AllReduce, "one-shot"},
		{"ar", "two_shot_allpairs", collective.AllReduce, "two-shot"},
		{"ar", "hier2_rs_ar_ag", collective.AllReduce, "hierarchical"},
		{"ar", "rabenseifner", collective.AllReduce, "rabenseifner"},
		{"ar", "circulant_rs_ag", collective.AllReduce, "circulant"},
		{"ar", "linear", collective.AllReduce, "linear"},
		{"ar", "allgather_reduce_bruck", collective.AllReduce, "gather-reduce"},
		{"ag", "binomial_gather_bcast", collective.AllGather, "gather-broadcast"},
		{"ar", "recursive_multiplying_k4", collective.AllReduce, "recursive-multiplying"},
		{"ar", "bidir_ring", collective.AllReduce, "ring"},
		{"ar", "nccl_double_tree_m1", collective.AllReduce, "double-binary-tree"},
		{"ar", "nccl_double_tree_m8", collective.AllReduce, "double-binary-tree"},
		{"ar", "nccl_double_tree_m32", collective.AllReduce, "double-binary-tree"},
		{"ag", "linear_gather_bcast", collective.AllGather, "linear"},
		{"ag", "pat_linear_agg1", collective.AllGather, "pat"},
		{"bc", "binary_tree_pipeline_m8", collective.Broadcast, "binary-tree"},
		{"aa", "ring_forward", collective.AllToAll, "store-and-forward"},
		{"ar", "swing_bandwidth", collective.AllReduce, "swing"},
		{"ar", "swing_latency", collective.AllReduce, "swing-latency"},
		{"ag", "swing", collective.AllGather, "swing"},
		{"ag", "neighbor_exchange", collective.AllGather, "neighbor-exchange"},
		{"ag", "sparbit", collective.AllGather, "sparbit"},
		{"ag", "pat_full_agg", collective.AllGather, "sparbit"}, // the same messages
		{"rs", "pat_full_agg", collective.ReduceScatter, "sparbit"},
		{"bc", "chain_pipeline_m8", collective.Broadcast, "chain"},
		{"re", "chain_pipeline_m8", collective.Reduce, "chain"},
		{"ag", "k_bruck_k4", collective.AllGather, "k-bruck"},
		{"ag", "circulant", collective.AllGather, "circulant"},
		{"rs", "circulant", collective.ReduceScatter, "circulant"},
		{"ag", "ring", collective.AllGather, "ring"},
		{"ag", "bruck", collective.AllGather, "bruck"},
		{"ag", "recursive_doubling", collective.AllGather, "recursive-doubling"},
		{"ag", "recursive_doubling_mpich_nonp2", collective.AllGather, "recursive-doubling-completed"},
		{"ag", "direct_spread", collective.AllGather, "direct"},
		{"rs", "butterfly_traff", collective.ReduceScatter, "butterfly"},
		{"rs", "reduce_scatterv_binomial", collective.ReduceScatter, "reduce-then-scatter"},
		{"rs", "recursive_doubling", collective.ReduceScatter, "recursive-doubling"},
		{"rs", "ring", collective.ReduceScatter, "ring"},
		{"rs", "direct", collective.ReduceScatter, "direct"},
		{"rs", "pairwise", collective.ReduceScatter, "pairwise"},
		{"rs", "recursive_halving", collective.ReduceScatter, "recursive-halving"},
		{"bc", "binomial", collective.Broadcast, "binomial"},
		{"bc", "linear", collective.Broadcast, "flat"},
		{"bc", "scatter_allgather_ring", collective.Broadcast, "scatter-allgather"},
		{"bc", "bine_tree", collective.Broadcast, "bine"},
		{"bc", "knomial_k4", collective.Broadcast, "k-nomial"},
		{"bc", "scatter_allgather_rd", collective.Broadcast, "scatter-doubling"},
		{"re", "rabenseifner_rs_gather", collective.Reduce, "rabenseifner"},
		{"re", "linear", collective.Reduce, "flat"},
		{"ga", "linear", collective.Gather, "flat"},
		{"re", "binomial", collective.Reduce, "binomial"},
		{"ga", "binomial", collective.Gather, "binomial"},
		{"sc", "binomial", collective.Scatter, "binomial"},
		{"sc", "linear", collective.Scatter, "flat"},
		{"aa", "pairwise_shift", collective.AllToAll, "pairwise"},
		{"aa", "pairwise_xor", collective.AllToAll, "pairwise-xor"},
		{"aa", "mesh2d", collective.AllToAll, "hierarchical"},
		{"aa", "k_bruck_k4", collective.AllToAll, "k-bruck"},
		{"aa", "bruck", collective.AllToAll, "bruck"},
		{"aa", "direct_linear", collective.AllToAll, "direct"},
		{"ba", "linear", collective.Barrier, "linear"},
		{"ba", "tree", collective.Barrier, "tree"},
		{"ba", "double_ring", collective.Barrier, "double-ring"},
		{"ba", "dissemination", collective.Barrier, "dissemination"},
	} {
		if row.kind == kind && row.theirs == name {
			return row.of, row.name, true
		}
	}
	return 0, "", false
}

// compareRow compares with a row: coll alg p rounds ports max_msgs max_send max_recv beta_sync
// max_reduce gamma_sync order_ok same_tree.
func compareRow(t *testing.T, kind collective.Kind, name string, row []string) {
	t.Helper()
	where := strings.Join(row, " ")
	a, err := algos.Find(kind, name)
	require.NoError(t, err)
	ranks, err := strconv.Atoi(row[2])
	require.NoError(t, err, where)
	spec, o, tiles := optionsOf(row[1], specOf(kind, ranks, int64(ranks)))
	s, err := a.Build(spec, o)
	require.NoError(t, err, where)
	proven, violations := proof.Verify(s, proof.Options{Traffic: true})
	require.Empty(t, violations, where)
	cost, err := a.CostOf(spec, o)
	require.NoError(t, err, where)
	if kind != collective.Barrier && !otherFold(name, ranks) {
		compareLoads(t, s, proven.Traffic, row)
	}

	switch {
	case strings.Contains(row[1], "_tree_"): // there each tree is a pipeline that a search filled
		return
	case name == "k-bruck": // messages that the catalogue has at once follow one another
		require.Equal(t, row[3], strconv.Itoa(cost.Alpha), "%s: rounds", where)
		return
	case name == "recursive-multiplying": // folded ranks get the result at once, not in turns
		require.Equal(t, row[8], strconv.Itoa(messagesOf(cost)), "%s: messages", where)
	case row[4] == "1" && atOnce(cost): // the catalogue has them one behind the other
		require.Equal(t, row[3], strconv.Itoa(messagesOf(cost)), "%s: messages", where)
	case kind == collective.Reduce && otherFold(name, ranks): // there a root may be folded
	default:
		require.Equal(t, row[3], strconv.Itoa(proven.Rounds), "%s: rounds", where)
	}
	if kind == collective.Barrier || otherFold(name, ranks) {
		return
	}
	if row[4] == "1" && !atOnce(cost) { // with more ports the catalogue adds up all
		require.Equal(t, row[8], share(blocksOf(cost), tiles, s), "%s: β", where)
	}
	if kind.Reduces() {
		require.Equal(t, row[10], share(sumsOf(cost), tiles, s), "%s: γ", where)
		require.True(t, proven.KeepsRankOrder || row[11] == "n", "%s: order", where)
		if name != "recursive-multiplying" { // here it adds in rank order, as the notes advise
			require.Equal(t, row[12] == "Y", proven.SameTree, "%s: tree", where)
		}
	}
}

// optionsOf returns the collective of a row, with the options and segments that its name gives.
func optionsOf(name string, spec collective.Spec) (collective.Spec, algos.Options, int) {
	o, tiles := algos.Options{}, 1
	if n, err := strconv.Atoi(name[strings.LastIndex(name, "_m")+2:]); err == nil {
		tiles, spec.Count = n, int64(n)
		o.Params = []algos.Param{{Name: "segment", Value: fmt.Sprint(spec.Type.Width())}}
	}
	if strings.HasPrefix(name, "nccl_double_tree") { // a tree for each half
		spec.Count *= 2
	}
	if name == "bidir_ring" {
		spec.Count *= 2
		o.Channels, o.Rings = 2, [][]int32{make([]int32, spec.Ranks), make([]int32, spec.Ranks)}
		for i := range int32(spec.Ranks) {
			o.Rings[0][i], o.Rings[1][spec.Ranks-1-int(i)] = i, i
		}
	}
	return spec, o, tiles
}

// compareLoads compares the most that a rank sends, and that it receives, with a row.
func compareLoads(t *testing.T, s *schedule.Schedule, traffic []proof.Traffic, row []string) {
	t.Helper()
	sent, received := make([]int64, s.Spec.Ranks), make([]int64, s.Spec.Ranks)
	for _, f := range traffic {
		sent[f.From] += f.Bytes
		received[f.To] += f.Bytes
	}
	of := int64(s.Spec.Bytes())
	where := strings.Join(row, " ")
	require.Equal(t, row[6], big.NewRat(slices.Max(sent), of).RatString(), "%s: sent", where)
	require.Equal(t, row[7], big.NewRat(slices.Max(received), of).RatString(), "%s: received", where)
}

// atOnce reports whether a rank sends or receives several messages at once.
func atOnce(c algos.Cost) bool {
	return slices.ContainsFunc(c.Rounds, func(r algos.Round) bool { return r.Fan > 1 })
}

// messagesOf returns how many messages follow one another where a rank has one port.
func messagesOf(c algos.Cost) int {
	n := 0
	for _, r := range c.Rounds {
		n += r.Times * max(r.Fan, r.Burst, 1)
	}
	return n
}

// otherFold reports whether the catalogue folds in another way: its Rabenseifner cuts the vector
// into a chunk for every rank, which makes uneven halves. Costs then differ, rounds do not.
func otherFold(name string, ranks int) bool {
	return name == "rabenseifner" && ranks&(ranks-1) != 0
}

// share is so many of a schedule's blocks, or of their tiles, as a part of its nccl-tests size.
func share(blocks, tiles int, s *schedule.Schedule) string {
	of := tiles * max(s.Blocks(schedule.Input), s.Blocks(schedule.Output))
	return big.NewRat(int64(blocks), int64(of)).RatString()
}

// blocksOf returns the largest blocks (or tiles) of all transfers: the factor of β.
func blocksOf(c algos.Cost) int {
	n := 0
	for _, r := range c.Rounds {
		n += r.Times * r.Blocks * max(r.Burst, 1)
	}
	return n
}

// sumsOf returns the largest blocks (or tiles) of all additions: the factor of γ.
func sumsOf(c algos.Cost) int {
	n := 0
	for _, r := range c.Rounds {
		n += r.Times * r.Blocks * r.Sums
	}
	return n
}
