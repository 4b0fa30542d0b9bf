package openmpi

import (
	"fmt"
	"strings"

	"collsim/collective"
)

// A Choice is one of Open MPI's own algorithms, as its component "tuned" lets a user force it, with
// further settings. The zero value leaves everything to the library.
type Choice struct {
	// Function is the collective as Open MPI's variables spell it: "allreduce", "bcast", …
	Function  string
	Algorithm string // as the variables spell it: "ring"; "" is the library's own choice
	Segment   int64  // bytes of a segment, if the algorithm has segments; 0: no segments
	Fanout    int    // chains of a chain algorithm; 0: the library's 4
	// Inner is the reduce algorithm inside of "nonoverlapping", "non-overlapping" and
	// "basic_linear" of reduce_scatter_block; "" is the library's own choice. With one, the
	// function after the reduce is forced too: a binomial broadcast, or a linear scatter.
	Inner string
}

// String formats the choice, such as "allreduce ring" or "reduce chain(fanout=2, segment=1024)".
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

// Names formats choices in the order of the calls.
func Names(choices []Choice) string {
	var all []string
	for _, c := range choices {
		all = append(all, c.String())
	}
	return strings.Join(all, ", ")
}

// Check returns why a choice cannot be made for a collective, nil if it can.
func (c Choice) Check(spec *collective.Spec) error {
	f, err := FunctionOf(c.Function)
	if err != nil {
		return err
	}
	if f.Kind != spec.Kind {
		return fmt.Errorf("%s is no %v", f.Call, spec.Kind)
	}
	if _, err := f.Number(c.Algorithm); err != nil {
		return err
	}
	if c.Inner != "" {
		reduce, err := FunctionOf("reduce")
		if err == nil {
			_, err = reduce.Number(c.Inner)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case c.Segment < 0 || c.Segment > 1<<30 || c.Fanout < 0 || c.Fanout > 32:
		return fmt.Errorf("%v: segments of 0 to 2³⁰ bytes and a fan-out of 0 to 32 are "+
			"expected", c)
	case c.Algorithm == "two_proc" && spec.Ranks != 2:
		return fmt.Errorf("%v is for 2 ranks, not %d", c, spec.Ranks)
	case c.Inner != "" && !c.Composed():
		return fmt.Errorf("%v is not made of a reduce", c)
	}
	return nil
}

// Composed reports whether the algorithm calls the library's reduce.
func (c Choice) Composed() bool {
	return c.Algorithm == "nonoverlapping" || c.Algorithm == "non-overlapping" ||
		c.Function == "reduce_scatter_block" && c.Algorithm == "basic_linear"
}

// Chains returns the number of chains of a chain algorithm.
func (c Choice) Chains() int {
	if c.Fanout == 0 {
		return 4 // coll_tuned_init_chain_fanout
	}
	return c.Fanout
}

// Radix of the tree "knomial".
const Radix = 4
