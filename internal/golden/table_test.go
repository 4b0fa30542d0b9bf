package golden

import "collsim/collective"

// row says what executes some algorithms of a library, for some of its functions.
type row struct {
	libraries, functions, algorithms string // separated by blanks; libraries without version
	by                               summation
}

const (
	mpis     = "openmpi mpich impi"
	scatters = "reduce_scatter reduce_scatterv reduce_scatter_block"
)

// table is what each library's algorithms are. The first row that has one holds.
func table() []row {
	return append(allReduces(), append(reduces(), reduceScatters()...)...)
}

func gloo() summation { return cut("blocks of 2·⌈n/2p⌉", pairs, ours("ring", "order", "gloo")) }

func allReduces() []row {
	const f = "all_reduce"
	doubling, linear := ours("recursive-doubling"), through(collective.Reduce, ours("linear"))
	return []row{
		{"openmpi mpich oneccl", f, "recursive_doubling", doubling},
		{"mpich", f, "recexch", doubling},
		{"impi", f, "recursive-doubling knomial", doubling},
		{"openmpi", f, "rabenseifner", fewer(power, linear, ours("rabenseifner"))},
		{"mpich", f, "reduce_scatter_allgather k_reduce_scatter_allgather", ours("rabenseifner")},
		{"impi", f, "Rabenseifner's", ours("rabenseifner")},
		{"oneccl", f, "rabenseifner", ours("rabenseifner")},
		{"openmpi", f, "ring segmented_ring",
			fewer(each, doubling, ours("ring", "order", "openmpi"))},
		{"mpich", f, "ring", cut("blocks of ⌈n/p⌉", up, ours("ring", "order", "nccl"))},
		{"impi", f, "ring", fewer(each, doubling,
			cut("blocks of ⌊n/p⌋", down, ours("ring", "order", "openmpi")))},
		{"oneccl", f, "ring", cut("blocks of ⌊n/p⌋", down, ours("ring", "order", "nccl"))},
		{"torch", f, "gloo", gloo()},
		{"jax", f, "gloo", promoted(gloo())},
		{"openmpi", f, "basic_linear", linear},
		{"openmpi", f, "nonoverlapping", ours("binomial")},
		{"impi", f, "Reduce-+-Bcast binomial-gather-+-scatter", ours("binomial")},
		{"impi", f, "Shumilin's-ring", order("from rank 1 round to rank 0", fromRank1)},
		{"mpich", f, "tree", order("a tree, largest subtrees first, in preorder", largestFirst)},
		{"mpich", f, "recursive_multiplying",
			order("ranks from q on to the one q before, then doubling", foldedFar)},
	}
}

func reduces() []row {
	const f = "reduce"
	halving := through(collective.AllReduce, ours("rabenseifner"))
	return []row{
		{"openmpi", f, "rabenseifner", fewer(power, ours("linear"), halving)},
		{"mpich", f, "reduce_scatter_gather", halving},
		{"impi", f, "Rabenseifner's", fewer(power, ours("binomial"), halving)},
		{"openmpi mpich impi", f, "binomial", ours("binomial")},
		{"oneccl", f, "tree", ours("binomial")},
		{"oneccl", f, "rabenseifner", fewer(power, ours("binomial"), halving)},
		{"oneccl", f, "ring", through(collective.AllReduce,
			cut("blocks of ⌊n/p⌋", down, ours("ring", "order", "nccl")))},
		{"openmpi", f, "pipeline", ours("chain")},
		{"torch", f, "gloo", through(collective.AllReduce, gloo())},
		{"impi", f, "Shumilin's", ours("chain")},
		{"openmpi", f, "linear", ours("linear")},
	}
}

func reduceScatters() []row {
	binomial := through(collective.Reduce, ours("binomial"))
	return []row{
		{"openmpi mpich", scatters, "recursive_halving", ours("recursive-halving")},
		{"impi", scatters, "recursive-halving", ours("recursive-halving")},
		{"openmpi oneccl", scatters, "ring", ours("ring")},
		{"mpich", scatters, "pairwise", ours("pairwise")},
		{"impi", scatters, "pairwise-exchange", ours("pairwise")},
		{"oneccl", scatters, "naive", ours("pairwise")},
		{"jax", scatters, "gloo", promoted(binomial)},
		{"torch", scatters, "gloo", through(collective.AllReduce, gloo())},
		{"openmpi", scatters, "non-overlapping basic_linear", binomial},
		{"impi", scatters, "Reduce-+-Scatterv", binomial},
		{"openmpi", scatters, "butterfly", through(collective.AllReduce, ours("recursive-doubling"))},
		{mpis, scatters, "recursive_doubling recursive-doubling", binomial},
	}
}
