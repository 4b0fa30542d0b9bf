package mpi

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// Choice is one of Open MPI's own algorithms, as its component "tuned" lets one force it, with what
// can be set besides. Its zero value leaves all to the library.
type Choice struct {
	// Function is the collective as Open MPI's variables spell it: "allreduce", "bcast", …
	Function  string
	Algorithm string // as the variables spell it: "ring"; "" is the library's own choice
	Segment   int64  // bytes of a segment, where the algorithm has some; 0 is the whole
	Fanout    int    // of a chain algorithm: how many chains; the library's 4 if 0
	// Inner is the reduce algorithm inside of "nonoverlapping", "non-overlapping" and
	// "basic_linear" of reduce_scatter_block; "" is the library's own choice. With one, what follows
	// the reduce is forced too: a binomial broadcast, or a linear scatter.
	Inner string
}

// String is such as "allreduce ring", "reduce chain(fanout=2, segment=1024)".
func (c Choice) String() string {
	var options []string
	if c.Fanout != 0 {
		options = append(options, fmt.Sprintf("fanout=%d", c.Fanout))
	}
	if c.Segment != 0 {
		options = append(options, fmt.Sprintf("segment=%d", c.Segment))
	}
	if c.Inner != "" {
		options = append(options, "reduce="+c.Inner)
	}
	name := c.Function + " " + c.Algorithm
	if c.Algorithm == "" {
		name = c.Function
	}
	if options == nil {
		return name
	}
	return name + "(" + strings.Join(options, ", ") + ")"
}

// function is one of MPI's collectives: what it computes, and the algorithms that Open MPI 4.1 has
// for it. The number of an algorithm is its place, from 1.
type function struct {
	name       string
	kind       collective.Kind
	call       string
	algorithms []string
}

func functions() []function {
	return []function{
		{"allreduce", collective.AllReduce, "MPI_Allreduce", []string{"basic_linear",
			"nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"}},
		{"bcast", collective.Broadcast, "MPI_Bcast", []string{"basic_linear", "chain", "pipeline",
			"split_binary_tree", "binary_tree", "binomial", "knomial", "scatter_allgather",
			"scatter_allgather_ring"}},
		{"reduce", collective.Reduce, "MPI_Reduce", []string{"linear", "chain", "pipeline", "binary",
			"binomial", "in-order_binary", "rabenseifner"}},
		{"allgather", collective.AllGather, "MPI_Allgather", []string{"linear", "bruck",
			"recursive_doubling", "ring", "neighbor", "two_proc"}},
		{"reduce_scatter", collective.ReduceScatter, "MPI_Reduce_scatter", []string{
			"non-overlapping", "recursive_halving", "ring", "butterfly"}},
		{"reduce_scatter_block", collective.ReduceScatter, "MPI_Reduce_scatter_block", []string{
			"basic_linear", "recursive_doubling", "recursive_halving", "butterfly"}},
		{"alltoall", collective.AllToAll, "MPI_Alltoall", []string{"linear", "pairwise",
			"modified_bruck", "linear_sync", "two_proc"}},
		{"gather", collective.Gather, "MPI_Gather", []string{"basic_linear", "binomial",
			"linear_sync"}},
		{"scatter", collective.Scatter, "MPI_Scatter", []string{"basic_linear", "binomial",
			"linear_nb"}},
		{"barrier", collective.Barrier, "MPI_Barrier", []string{"linear", "double_ring",
			"recursive_doubling", "bruck", "two_proc", "tree"}},
	}
}

// Choices lists the library's algorithms for a kind of collective, in the order of their numbers.
func Choices(kind collective.Kind) (all []Choice) {
	for _, f := range functions() {
		for _, a := range f.algorithms {
			if f.kind == kind {
				all = append(all, Choice{Function: f.name, Algorithm: a})
			}
		}
	}
	return all
}

func functionOf(name string) (function, error) {
	var names []string
	for _, f := range functions() {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return function{}, fmt.Errorf("mpi: function %q: one of %s is expected", name,
		strings.Join(names, ", "))
}

// number is what the library's variable is set to for an algorithm.
func (f *function) number(algorithm string) (int, error) {
	if algorithm == "" {
		return 0, nil
	}
	if i := slices.Index(f.algorithms, algorithm); i >= 0 {
		return i + 1, nil
	}
	return 0, fmt.Errorf("mpi: %s algorithm %q: one of %s is expected", f.name, algorithm,
		strings.Join(f.algorithms, ", "))
}

// check says why a choice cannot be made for a collective, nil if it can.
func (c Choice) check(spec *collective.Spec) error {
	f, err := functionOf(c.Function)
	if err != nil {
		return err
	}
	if f.kind != spec.Kind {
		return fmt.Errorf("mpi: %s is no %v", f.call, spec.Kind)
	}
	if _, err := c.variables(); err != nil {
		return err
	}
	switch {
	case c.Segment < 0 || c.Segment > 1<<30 || c.Fanout < 0 || c.Fanout > 32:
		return fmt.Errorf("mpi: %v: segments of 0 to 2³⁰ bytes and a fan-out of 0 to 32 are expected", c)
	case c.Algorithm == "two_proc" && spec.Ranks != 2:
		return fmt.Errorf("mpi: %v is for 2 ranks, not %d", c, spec.Ranks)
	case c.Inner != "" && !c.composed():
		return fmt.Errorf("mpi: %v is not made of a reduce", c)
	}
	return nil
}

// composed reports whether the algorithm calls the library's reduce.
func (c Choice) composed() bool {
	return c.Algorithm == "nonoverlapping" || c.Algorithm == "non-overlapping" ||
		c.Function == "reduce_scatter_block" && c.Algorithm == "basic_linear"
}

// fanout is how many chains a chain algorithm has.
func (c Choice) fanout() int {
	if c.Fanout == 0 {
		return 4 // coll_tuned_init_chain_fanout
	}
	return c.Fanout
}

// variable is one of the library's, and its value.
type variable struct {
	name  string
	value int
}

// variables are those that make the library take the choice, for the communicators made after.
func (c Choice) variables() (all []variable, err error) {
	force := func(name, algorithm string) error {
		f, err := functionOf(name)
		if err != nil {
			return err
		}
		n, err := f.number(algorithm)
		if err != nil {
			return err
		}
		prefix := "coll_tuned_" + name + "_algorithm"
		all = append(all, variable{prefix, n})
		if name == "allreduce" || name == "bcast" || name == "reduce" {
			all = append(all, variable{prefix + "_segmentsize", int(c.Segment)},
				variable{prefix + "_chain_fanout", c.fanout()})
		}
		return nil
	}
	if err := force(c.Function, c.Algorithm); err != nil {
		return nil, err
	}
	if c.Inner != "" {
		if err := force("reduce", c.Inner); err != nil {
			return nil, err
		}
	}
	return append(all, c.after()...), nil
}

// after are the variables of what a choice calls after its reduce, and those that an algorithm
// reads besides.
func (c Choice) after() []variable {
	switch {
	case c.Algorithm == "nonoverlapping" && c.Inner != "":
		segment := c.Segment
		if c.Inner == "linear" {
			segment = 0
		}
		return []variable{{"coll_tuned_bcast_algorithm", 6}, // binomial
			{"coll_tuned_bcast_algorithm_segmentsize", int(segment)}}
	case c.Function == "reduce_scatter_block" && c.Inner != "":
		return []variable{{"coll_tuned_scatter_algorithm", 1}} // basic_linear
	case c.Algorithm == "knomial":
		return []variable{{"coll_tuned_bcast_algorithm_knomial_radix", radix}}
	case c.Function == "alltoall" && c.Algorithm == "linear_sync":
		return []variable{{"coll_tuned_alltoall_algorithm_max_requests", 0}} // no bound
	case c.Function == "scatter" && c.Algorithm == "linear_nb":
		return []variable{{"coll_tuned_scatter_algorithm_max_requests", 0}} // none of them blocks
	case c.Function == "gather" && c.Algorithm == "linear_sync":
		return []variable{{"coll_tuned_gather_algorithm_segmentsize", int(c.Segment)}}
	}
	return nil
}

// radix is that of the tree "knomial".
const radix = 4
