package mpi

import "collsim/algos/openmpi"

// A variable is one of the library's variables, with its value.
type variable struct {
	name  string
	value int
}

// variablesOf lists the variables that force a choice, for communicators created later.
func variablesOf(c openmpi.Choice) (all []variable, err error) {
	force := func(name, algorithm string) error {
		f, err := openmpi.FunctionOf(name)
		if err != nil {
			return err
		}
		n, err := f.Number(algorithm)
		if err != nil {
			return err
		}
		prefix := "coll_tuned_" + name + "_algorithm"
		all = append(all, variable{prefix, n})
		if name == "allreduce" || name == "bcast" || name == "reduce" {
			all = append(all, variable{prefix + "_segmentsize", int(c.Segment)},
				variable{prefix + "_chain_fanout", c.Chains()})
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
	return append(all, variablesAfter(c)...), nil
}

// variablesAfter lists the variables of what a choice calls after its reduce, and others that its
// algorithm reads.
func variablesAfter(c openmpi.Choice) []variable {
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
		return []variable{{"coll_tuned_bcast_algorithm_knomial_radix", openmpi.Radix}}
	case c.Function == "alltoall" && c.Algorithm == "linear_sync":
		return []variable{{"coll_tuned_alltoall_algorithm_max_requests", 0}} // no bound
	case c.Function == "scatter" && c.Algorithm == "linear_nb":
		return []variable{{"coll_tuned_scatter_algorithm_max_requests", 0}} // none of them blocking
	case c.Function == "gather" && c.Algorithm == "linear_sync":
		return []variable{{"coll_tuned_gather_algorithm_segmentsize", int(c.Segment)}}
	}
	return nil
}
