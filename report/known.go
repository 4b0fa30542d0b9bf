package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/algos/nccl"
	"collsim/fidelity"
	"collsim/internal/prose"
	"collsim/run"
)

// knownOf returns the known error of simulations of a result's machine, from its public tables of
// NCCL at similar sizes. It is not ok unless the result is NCCL's on a machine with a name.
func knownOf(r *run.Result) (k fidelity.Known, ok bool) {
	t := r.Point.Topology
	if t == nil || t.Machine == "" || !strings.HasPrefix(r.Algorithm.Name, nccl.Prefix) {
		return k, false
	}
	return fidelity.KnownError(t.Machine, t.Nodes > 1, r.Point.Spec.Bytes()), true
}

// knownColumns lists the number of public tables of a result's machine and the errors of its
// simulations.
func knownColumns() Layout {
	column := func(name string, form Form, of func(k fidelity.Known) Value) Column {
		return inJSON(derivedField(name, form, func(r *run.Result) Value {
			k, ok := knownOf(r)
			return known(ok && k.Tables > 0, of(k))
		}).ifAny()).csv(9, name)
	}
	return Layout{
		column("known_tables", aWhole(), func(k fidelity.Known) Value { return Int(k.Tables) }),
		column("known_error", aNumber(), func(k fidelity.Known) Value { return Number(k.Median) }),
		column("known_error_p90", aNumber(), func(k fidelity.Known) Value { return Number(k.P90) }),
	}
}

// knownLines reports the known errors of each machine on which NCCL is simulated, by classes of
// size.
func knownLines(results []*run.Result) (lines []string) {
	type place struct {
		machine string
		several bool
	}
	var places []place
	errors, tables := map[place][]string{}, map[place]int{}
	for _, r := range results {
		k, ok := knownOf(r)
		if !ok {
			continue
		}
		at := place{r.Point.Topology.Machine, r.Point.Topology.Nodes > 1}
		if !slices.Contains(places, at) {
			places = append(places, at)
		}
		text := fmt.Sprintf("%s %.0f %% (p90 %.0f %%),",
			fidelity.SizeClasses()[fidelity.ClassOf(r.Point.Spec.Bytes())].Name, 100*k.Median, 100*k.P90)
		if k.Tables > 0 && !slices.Contains(errors[at], text) {
			errors[at] = append(errors[at], text)
			tables[at] = max(tables[at], k.Tables)
		}
	}
	for _, at := range places {
		on := at.machine
		if at.several {
			on += ", several nodes"
		}
		if errors[at] == nil {
			lines = append(lines, "off by   not known: no public table of "+on)
			continue
		}
		parts := append(errors[at], "in "+prose.Plural(tables[at], "public table")+" of "+on)
		parts[len(parts)-2] = strings.TrimSuffix(parts[len(parts)-2], ",")
		lines = append(lines, prose.Fill(parts, " ", prose.Columns-2, "off by   ", "         ")...)
	}
	return lines
}
