package libraries

import (
	"fmt"
	"slices"
	"strconv"

	"collsim/algos"
	"collsim/collective"
)

// Table lists the choice of each library, for each kind that it has rules for.
func Table() (all []algos.Algorithm) {
	for _, kind := range collective.Kinds() {
		for _, l := range known() {
			if slices.Contains(l.kinds(), kind) {
				all = append(all, algorithm(l, kind))
			}
		}
	}
	return all
}

// known lists the libraries.
func known() []library { return []library{gloo(), mpich(), oneCCL(), ucc()} }

// algorithm returns what a library chooses for a kind.
func algorithm(l library, kind collective.Kind) algos.Algorithm {
	return algos.Algorithm{
		Name:   l.name,
		Kinds:  []collective.Kind{kind},
		About:  l.about,
		When:   l.when,
		Source: l.source,
		Params: l.paramsOf(kind),
		Chooses: func(spec collective.Spec, o algos.Options, param func(string) string) (
			algos.Algorithm, algos.Options, error) {
			return l.choose(spec, o, param)
		},
		Picks: func(spec collective.Spec, param func(string) string) algos.Pick {
			r, ok := l.ruleFor(spec, param)
			if !ok {
				return algos.Pick{}
			}
			return r.pick()
		},
	}
}

// choose returns what a library's rule for a collective comes to here.
func (l library) choose(spec collective.Spec, o algos.Options, param func(string) string) (
	algos.Algorithm, algos.Options, error) {
	none := algos.Algorithm{}
	if err := l.check(param); err != nil {
		return none, o, err
	}
	r, ok := l.ruleFor(spec, param)
	if !ok {
		return none, o, fmt.Errorf("no rule is for this %v", spec.Kind)
	}
	if r.ours == "" {
		why := ""
		if r.when != (condition{}) {
			why = " (" + r.when.text() + ")"
		}
		return none, o, fmt.Errorf("it chooses %s%s, which is not here; choose an algorithm by name",
			r.theirs, why)
	}
	a, err := algos.Find(spec.Kind, r.ours)
	if o.Params = nil; err == nil && r.with != nil {
		r.with(spec, &o)
	}
	return a, o, err
}

// paramsOf lists the parameters that rules for a kind read.
func (l library) paramsOf(kind collective.Kind) (all []algos.Param) {
	for _, p := range l.params {
		reads := func(r rule) bool {
			return slices.Contains(r.kinds, kind) &&
				(r.when.set.param == p.Name || r.when.nodes && p.Name == nodeParam)
		}
		if slices.ContainsFunc(l.rules, reads) {
			all = append(all, p)
		}
	}
	return all
}

// check validates the values of a library's parameters.
func (l library) check(param func(string) string) error {
	for _, p := range l.params {
		value := param(p.Name)
		switch {
		case value == "": // the kind does not read it
		case p.Name == nodeParam && value != nodeValue:
			if n, err := strconv.Atoi(value); err != nil || n < 1 {
				return fmt.Errorf("%s = %q: a whole number from 1 on is expected", p.Name, value)
			}
		case p.Tries != nil && !slices.Contains(p.Tries, value):
			return fmt.Errorf("%s = %q: one of %v is expected", p.Name, value, p.Tries)
		}
	}
	return nil
}

// pick formats a rule as a choice.
func (r rule) pick() algos.Pick {
	p := algos.Pick{What: r.theirs + " (" + r.ours + ")", Why: "its rule: " + r.when.text()}
	if r.note != "" {
		p.Why += "; here " + r.note
	}
	return p
}

// The parameter that says how many ranks a node has, and its usual value: what the network says.
const (
	nodeParam = "ranks_per_node"
	nodeValue = "node"
)

// perNode returns the parameter of libraries that ask how many ranks a node has.
func perNode() algos.Param {
	return algos.Param{Name: nodeParam, Value: nodeValue, About: "ranks of a node, as the library " +
		"sees them; node is what the network says"}
}

// severalNodes reports whether there are several nodes, each of several ranks.
func severalNodes(ranks int, perNode string) bool {
	n, err := strconv.Atoi(perNode)
	return err == nil && 1 < n && n < ranks
}

// with returns a function that sets parameters of ours, each a name and a value.
func with(params ...algos.Param) func(collective.Spec, *algos.Options) {
	return func(_ collective.Spec, o *algos.Options) { o.Params = params }
}
