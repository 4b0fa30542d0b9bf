package openmpi

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// A Function is one of MPI's collectives: what it computes, and the algorithms that Open MPI 4.1
// has for it. The number of an algorithm is its place, from 1.
type Function struct {
	Name       string // as Open MPI's variables spell it: "allreduce"
	Kind       collective.Kind
	Call       string // "MPI_Allreduce"
	Algorithms []Named
}

// Named is an algorithm of a function: its name as the variables spell it, and what it does.
type Named struct{ Name, About string }

// Functions returns all of them, in the order of the library's list.
func Functions() []Function {
	return slices.Concat(reductions(), rooted(), exchanges())
}

// reductions returns the functions that add.
func reductions() []Function {
	return []Function{
		{"allreduce", collective.AllReduce, "MPI_Allreduce", []Named{
			{"basic_linear", "rank 0 takes all vectors, and sends the sum to all at once"},
			{"nonoverlapping", "a reduce to rank 0, then a broadcast"},
			{"recursive_doubling", "partners at distance 1, 2, 4, … exchange all they have"},
			{"ring", "every block goes round the ring twice: to be summed, then to be copied"},
			{"segmented_ring", "a ring whose blocks are summed in phases of a segment each"},
			{"rabenseifner", "halves at distance 1, 2, 4, …, and the same way back"}}},
		{"reduce", collective.Reduce, "MPI_Reduce", []Named{
			{"linear", "the root takes all vectors, from the last rank's to the first's"},
			{"chain", "sums come to the root on several chains, in segments"},
			{"pipeline", "sums come to the root on one chain, in segments"},
			{"binary", "sums come up a binary tree, in segments"},
			{"binomial", "sums come up a binomial tree, in segments"},
			{"in-order_binary", "sums come up a binary tree that keeps the order of the ranks"},
			{"rabenseifner", "halves at distance 1, 2, 4, …, then a gather of them at the root"}}},
		{"reduce_scatter", collective.ReduceScatter, "MPI_Reduce_scatter", []Named{
			{"non-overlapping", "a reduce to rank 0, then a scatter"},
			{"recursive_halving", "halves at distance p/2, …, 2, 1"},
			{"ring", "every block goes round to its rank"},
			{"butterfly", "halves at distance 1, 2, 4, …; blocks then go where they belong"}}},
		{"reduce_scatter_block", collective.ReduceScatter, "MPI_Reduce_scatter_block", []Named{
			{"basic_linear", "a reduce to rank 0, then a scatter"},
			{"recursive_doubling", "partners at distance 1, 2, 4, … exchange what is not their own"},
			{"recursive_halving", "halves at distance p/2, …, 2, 1"},
			{"butterfly", "halves at distance 1, 2, 4, … of blocks that are put in order before"}}},
	}
}

// rooted returns the functions with a root that only move data.
func rooted() []Function {
	return []Function{
		{"bcast", collective.Broadcast, "MPI_Bcast", []Named{
			{"basic_linear", "the root sends to all at once"},
			{"chain", "several chains from the root, in segments"},
			{"pipeline", "one chain from the root, in segments"},
			{"split_binary_tree", "a half down each side of a binary tree, which then exchange"},
			{"binary_tree", "down a binary tree, in segments"},
			{"binomial", "down a binomial tree, in segments"},
			{"knomial", "down a tree of radix 4, in segments"},
			{"scatter_allgather", "a binomial scatter, then an all_gather by recursive doubling"},
			{"scatter_allgather_ring", "a binomial scatter, then an all_gather by a ring"}}},
		{"gather", collective.Gather, "MPI_Gather", []Named{
			{"basic_linear", "the root receives from one rank after the other"},
			{"binomial", "blocks come up a binomial tree"},
			{"linear_sync", "the root asks one rank after the other, for a segment and then the rest"}}},
		{"scatter", collective.Scatter, "MPI_Scatter", []Named{
			{"basic_linear", "the root sends to one rank after the other"},
			{"binomial", "blocks go down a binomial tree"},
			{"linear_nb", "the root sends to all at once"}}},
	}
}

// exchanges returns the other functions.
func exchanges() []Function {
	return []Function{
		{"allgather", collective.AllGather, "MPI_Allgather", []Named{
			{"linear", "a gather to rank 0, then a broadcast"},
			{"bruck", "all that another has, from distance 1, 2, 4, …, and a shift at the end"},
			{"recursive_doubling", "partners at distance 1, 2, 4, … exchange all they have"},
			{"ring", "every block goes round the ring"},
			{"neighbor", "two blocks at a time, with one neighbour and the other in turns"},
			{"two_proc", "two ranks exchange their blocks"}}},
		{"alltoall", collective.AllToAll, "MPI_Alltoall", []Named{
			{"linear", "all exchange with all at once"},
			{"pairwise", "to distance 1, 2, 3, …, one after the other"},
			{"modified_bruck", "to distance 1, 2, 4, …, what has further to go with it"},
			{"linear_sync", "all exchange with all, with a limit on requests that is not reached here"},
			{"two_proc", "two ranks exchange their blocks"}}},
		{"barrier", collective.Barrier, "MPI_Barrier", []Named{
			{"linear", "all report to rank 0, which answers"},
			{"double_ring", "a message goes round the ring twice"},
			{"recursive_doubling", "partners at distance 1, 2, 4, … report to each other"},
			{"bruck", "reports go to distance 1, 2, 4, …"},
			{"two_proc", "two ranks report to each other"},
			{"tree", "up a binomial tree, and down"}}},
	}
}

// FunctionOf returns the function of a name.
func FunctionOf(name string) (Function, error) {
	var names []string
	for _, f := range Functions() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Function{}, fmt.Errorf("function %q: one of %s is expected", name,
		strings.Join(names, ", "))
}

// Number returns the value of the library's variable for an algorithm; 0 for "", its own choice.
func (f *Function) Number(algorithm string) (int, error) {
	if algorithm == "" {
		return 0, nil
	}
	var names []string
	for i, a := range f.Algorithms {
		if a.Name == algorithm {
			return i + 1, nil
		}
		names = append(names, a.Name)
	}
	return 0, fmt.Errorf("%s algorithm %q: one of %s is expected", f.Name, algorithm,
		strings.Join(names, ", "))
}
