// Package openmpitest is the grid of cases by which Open MPI's algorithms are tried: here against
// the proof, in package hw/mpi against the library itself. It knows neither of them.
package openmpitest

import (
	"slices"
	"testing"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/dtype"
)

// SpecOf returns a collective of float32 for a choice.
func SpecOf(t testing.TB, c openmpi.Choice, ranks, root int, count int64) collective.Spec {
	f, err := openmpi.FunctionOf(c.Function)
	if err != nil {
		t.Fatal(err)
	}
	s := collective.Spec{Kind: f.Kind, Type: dtype.Float32, Ranks: ranks, Count: count}
	if s.Kind.Reduces() {
		s.Op = collective.Sum
	}
	if s.Kind.Rooted() {
		s.Root = root % ranks
	}
	if s.Kind == collective.Barrier {
		s.Type, s.Count = 0, 0
	}
	return s
}

// Reducing returns the choices that add, with their settings.
func Reducing() (all []openmpi.Choice) {
	inner := []string{"", "linear", "chain", "pipeline", "binary", "binomial", "in-order_binary"}
	for _, kind := range []collective.Kind{collective.AllReduce, collective.Reduce,
		collective.ReduceScatter} {
		for _, c := range Choices(kind) {
			switch {
			case c.Composed():
				for _, i := range inner {
					c.Inner = i
					all = append(all, c)
				}
				continue
			case c.Algorithm == "chain":
				all = append(all, openmpi.Choice{Function: c.Function, Algorithm: c.Algorithm, Fanout: 2})
			case c.Algorithm == "segmented_ring":
				c.Segment = 100
			case c.Algorithm == "pipeline" || c.Algorithm == "binary":
				c.Segment = 64
			}
			all = append(all, c)
		}
	}
	return all
}

// Open returns the choices that leave something to the library.
func Open() (all []openmpi.Choice) {
	for _, f := range openmpi.Functions() {
		all = append(all, openmpi.Choice{Function: f.Name})
	}
	return append(all, openmpi.Choice{Function: "allreduce", Algorithm: "nonoverlapping"},
		openmpi.Choice{Function: "allgather", Algorithm: "linear"},
		openmpi.Choice{Function: "reduce_scatter", Algorithm: "non-overlapping"},
		openmpi.Choice{Function: "reduce_scatter_block", Algorithm: "basic_linear"})
}

// Moving returns the choices that only move data.
func Moving() (all []openmpi.Choice) {
	for _, kind := range []collective.Kind{collective.Broadcast, collective.AllGather,
		collective.AllToAll, collective.Gather, collective.Scatter, collective.Barrier} {
		for _, c := range Choices(kind) {
			all = append(all, c)
			switch c.Algorithm {
			case "chain":
				c.Fanout, c.Segment = 2, 66
			case "pipeline", "binary_tree", "binomial", "knomial", "split_binary_tree", "linear_sync":
				c.Segment = 64
			default:
				continue
			}
			all = append(all, c)
		}
	}
	return all
}

// Legal reports whether a choice is for so many ranks.
func Legal(c openmpi.Choice, ranks int) bool { return c.Algorithm != "two_proc" || ranks == 2 }

// Turns returns the numbers of float32 elements at which the library's decision for a choice
// changes on so many ranks, and those just below. It tries up to turnsBelow bytes.
func Turns(t testing.TB, c openmpi.Choice, ranks int) (all []int64) {
	if c.Function == "barrier" {
		return []int64{0}
	}
	at := func(count int64) string { return openmpi.Names(c.Decided(SpecOf(t, c, ranks, 0, count))) }
	candidates := []int64{1}
	for _, bytes := range openmpi.Limits() {
		candidates = append(candidates, bytes/4, (bytes/4+int64(ranks)-1)/int64(ranks))
	}
	slices.Sort(candidates)
	for _, n := range slices.Compact(candidates) {
		if n == 1 || n > 1 && 4*n <= turnsBelow && at(n) != at(n-1) {
			all = append(all, max(n-1, 1), n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Choices lists the library's algorithms for a kind of collective, in the order of their numbers.
func Choices(kind collective.Kind) (all []openmpi.Choice) {
	for _, f := range openmpi.Functions() {
		for _, a := range f.Algorithms {
			if f.Kind == kind {
				all = append(all, openmpi.Choice{Function: f.Name, Algorithm: a.Name})
			}
		}
	}
	return all
}
