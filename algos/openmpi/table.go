package openmpi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// Prefix begins the names of the table's algorithms.
const Prefix = "openmpi:"

// tuned names the library's own choice.
const tuned = "tuned"

// The names of parameters.
const (
	segmentParam = "segment"
	fanoutParam  = "fanout"
	reduceParam  = "reduce"
)

// Table lists the library's algorithms, and for each of its functions the library's own choice,
// "openmpi:tuned". Names are the library's with dashes. Those of MPI_Reduce_scatter_block, which
// computes what MPI_Reduce_scatter does here, begin with "block-".
func Table() (all []algos.Algorithm) {
	for _, kind := range collective.Kinds() {
		for _, f := range Functions() {
			if f.Kind != kind {
				continue
			}
			all = append(all, algorithm(f, Named{About: "what " + f.Call + " chooses by itself"}))
			for _, a := range f.Algorithms {
				all = append(all, algorithm(f, a))
			}
		}
	}
	return all
}

// algorithm returns the row of one of a function's algorithms; an empty name is the library's own
// choice.
func algorithm(f Function, a Named) algos.Algorithm {
	base := Choice{Function: f.Name, Algorithm: a.Name}
	row := algos.Algorithm{
		Name:   base.name(),
		Kinds:  []collective.Kind{f.Kind},
		About:  a.About,
		When:   "as " + f.Call + " where nobody tells it how, on one host",
		Source: "Open MPI 4.1 coll_tuned_decision_fixed.c",
		Params: base.params(),
		Plan: func(p *schedule.Plan, param func(string) string) error {
			c, err := base.with(param)
			if err != nil {
				return err
			}
			p.Name += c.options()
			return c.plan(p)
		},
	}
	if n, _ := f.Number(a.Name); n > 0 {
		row.When = fmt.Sprintf("as %s where coll_tuned_%s_algorithm is %d", f.Call, f.Name, n)
		row.Source = "Open MPI 4.1 coll_base_" + f.Name + ".c"
	}
	if base.leaves() {
		row.Picks = func(spec collective.Spec, param func(string) string) algos.Pick {
			c, err := base.with(param)
			if err != nil {
				return algos.Pick{}
			}
			return algos.Pick{What: Names(c.open(spec))}
		}
	}
	return row
}

// Of returns the choice for the name of a schedule that was made from the table, such as
// "openmpi:pipeline(segment=64)".
func Of(kind collective.Kind, name string) (Choice, bool) {
	base, list, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	for _, f := range Functions() {
		for _, a := range append([]Named{{}}, f.Algorithms...) {
			c := Choice{Function: f.Name, Algorithm: a.Name}
			if f.Kind != kind || c.name() != base {
				continue
			}
			c, err := c.with(func(param string) string {
				for _, text := range strings.Split(list, ",") {
					if value, ok := strings.CutPrefix(text, param+"="); ok {
						return value
					}
				}
				return c.usual(param)
			})
			return c, err == nil
		}
	}
	return Choice{}, false
}

// name returns the name of an algorithm in the table.
func (c Choice) name() string {
	name := dashed(c.Algorithm)
	if name == "" {
		name = tuned
	}
	if c.Function == "reduce_scatter_block" {
		name = "block-" + name
	}
	return Prefix + name
}

// dashed replaces underscores by dashes.
func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// leaves reports whether the library decides something of the algorithm.
func (c Choice) leaves() bool {
	return c.Algorithm == "" || c.Composed() || c.Function == "allgather" && c.Algorithm == "linear"
}

// params returns the parameters of an algorithm.
func (c Choice) params() (all []algos.Param) {
	about := map[string]string{
		segmentParam: "the size of the pieces that follow one another, in bytes; 0 is the whole",
		fanoutParam:  "the number of chains, 1 to 32",
		reduceParam: "the reduce inside, a name of reduce's, followed by a binomial broadcast or a " +
			"linear scatter; tuned is what the library chooses for both",
	}
	for _, name := range []string{segmentParam, fanoutParam, reduceParam} {
		if usual := c.usual(name); usual != "" {
			all = append(all, algos.Param{Name: name, Value: usual, About: about[name]})
		}
	}
	return all
}

// usual returns the default of a parameter; "" if the algorithm does not have it.
func (c Choice) usual(param string) string {
	switch {
	case param == segmentParam && c.segments():
		return "0"
	case param == fanoutParam && c.Algorithm == "chain":
		return strconv.Itoa(c.Chains())
	case param == reduceParam && c.Composed():
		return tuned
	}
	return ""
}

// segments reports whether an algorithm cuts what it sends into segments.
func (c Choice) segments() bool {
	switch c.Function {
	case "allreduce":
		return c.Algorithm == "segmented_ring"
	case "reduce":
		return slices.Contains([]string{"chain", "pipeline", "binary", "binomial", "in-order_binary"},
			c.Algorithm)
	case "bcast":
		return slices.Contains([]string{"chain", "pipeline", "split_binary_tree", "binary_tree",
			"binomial", "knomial"}, c.Algorithm)
	case "gather":
		return c.Algorithm == "linear_sync"
	}
	return false
}

// with returns the choice with the values of its parameters.
func (c Choice) with(param func(string) string) (Choice, error) {
	if text := param(segmentParam); text != "" {
		size, err := unit.ParseBytes(text)
		if err != nil {
			return c, fmt.Errorf("segment: %w", err)
		}
		c.Segment = int64(size)
	}
	if text := param(fanoutParam); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 32 {
			return c, fmt.Errorf("fanout=%s: 1 to 32 is expected", text)
		}
		c.Fanout = n
	}
	if text := param(reduceParam); text != "" && text != tuned {
		reduce, err := FunctionOf("reduce")
		if err != nil {
			return c, err
		}
		names := []string{tuned}
		for _, a := range reduce.Algorithms {
			if names = append(names, dashed(a.Name)); dashed(a.Name) == dashed(text) {
				c.Inner = a.Name
			}
		}
		if c.Inner == "" {
			return c, fmt.Errorf("reduce=%s: one of %s is expected", text, strings.Join(names, ", "))
		}
	}
	return c, nil
}

// options formats the settings of a choice, as in the name of its schedule.
func (c Choice) options() string {
	var all []string
	if c.Segment > 0 {
		all = append(all, fmt.Sprintf("%s=%d", segmentParam, c.Segment))
	}
	if base := (Choice{Function: c.Function, Algorithm: c.Algorithm}); c.Fanout > 0 &&
		c.Chains() != base.Chains() {
		all = append(all, fmt.Sprintf("%s=%d", fanoutParam, c.Fanout))
	}
	if c.Inner != "" {
		all = append(all, reduceParam+"="+dashed(c.Inner))
	}
	if all == nil {
		return ""
	}
	return "(" + strings.Join(all, ",") + ")"
}

// plan completes the plan of a collective. One rank alone is validated as if it were two.
func (c Choice) plan(p *schedule.Plan) error {
	spec := p.Spec
	spec.Ranks = max(spec.Ranks, 2)
	if err := c.Check(&spec); err != nil {
		return err
	}
	if spec.Kind == collective.ReduceScatter && spec.InPlace {
		return fmt.Errorf("in place MPI leaves the result at the beginning of the buffer, not in this " +
			"rank's block")
	}
	return lay(p, c)
}
