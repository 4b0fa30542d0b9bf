package system

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/machine"
)

// nearness holds the NICs of a machine, in its order, and the GPUs that use each.
type nearness struct {
	paths *Paths
	nics  []int    // indices into System.NICs; the machine's NIC i is nics[i]
	pairs [][2]int // a GPU, and a NIC by the machine's number
	out   []int    // NICs of the system that the machine leaves out
}

// nearNICs finds the NICs that NCCL would use for each GPU: the nearest by rate and type. GPUs with
// the same nearest NICs share them evenly, so that each has its own where there are as many. NICs
// are numbered by the first GPU that uses them or, with wires, in the system's order. A NIC that is
// nearest to no GPU is left out.
func (s *System) nearNICs(p *Paths, isWired bool) *nearness {
	r := &nearness{paths: p}
	locals := make([][]int, len(s.GPUs))
	for g := range locals {
		locals[g] = best(p.NIC[g])
	}
	used := map[int]int{} // NIC of the system to its number
	for g := range locals {
		var group []int
		for h := range locals {
			if slices.Equal(locals[g], locals[h]) {
				group = append(group, h)
			}
		}
		if len(locals[g]) == 0 || group[0] != g {
			continue
		}
		most := max(len(group), len(locals[g]))
		for i := range most {
			n := locals[g][i*len(locals[g])/most]
			if _, ok := used[n]; !ok {
				used[n] = len(used)
				r.nics = append(r.nics, n)
			}
			r.pairs = append(r.pairs, [2]int{group[i*len(group)/most], used[n]})
		}
	}
	r.number(isWired)
	for n := range s.NICs {
		if !slices.Contains(r.nics, n) {
			r.out = append(r.out, n)
		}
	}
	return r
}

// number numbers NICs by the first GPU that uses each, or, with isOwn, in the system's order.
func (r *nearness) number(isOwn bool) {
	slices.SortStableFunc(r.pairs, func(a, b [2]int) int { return a[0] - b[0] })
	order, at := []int{}, map[int]int{}
	if isOwn {
		order = slices.Sorted(slices.Values(r.nics))
		for i, n := range order {
			at[n] = i
		}
	}
	for i, pair := range r.pairs {
		n := r.nics[pair[1]]
		if _, ok := at[n]; !ok {
			at[n] = len(order)
			order = append(order, n)
		}
		r.pairs[i][1] = at[n]
	}
	r.nics = order
}

// mostNamed is the most NICs that are named in words.
const mostNamed = 72

// words describes the NICs near each GPU: "gpu0: mlx5_0 (PIX)".
func (r *nearness) words(s *System) string {
	var parts []string
	for _, pair := range r.pairs {
		n := r.nics[pair[1]]
		parts = append(parts, fmt.Sprintf("gpu%d: %s (%v)", pair[0], s.Nodes[s.NICs[n]].Name,
			r.paths.NIC[pair[0]][n].Type))
	}
	if len(parts) > mostNamed {
		parts = append(parts[:mostNamed], fmt.Sprintf("and %d more", len(parts)-mostNamed))
	}
	if len(parts) == 0 {
		return "unknown"
	}
	return strings.Join(parts, ", ")
}

// leftOut names the NICs that are nearest to no GPU.
func (r *nearness) leftOut(s *System) string {
	if len(r.out) == 0 {
		return ""
	}
	var names []string
	for _, n := range r.out {
		names = append(names, s.Nodes[s.NICs[n]].Name)
	}
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	return fmt.Sprintf("; %s nearest to no GPU left out, as NCCL does: %s",
		prose.Plural(len(r.out), "NIC"), strings.Join(names, ", "))
}

// uneven reports GPUs that share NICs otherwise than a machine without wires does. There GPU g uses
// NIC ⌊g·NICs/GPUs⌋, or NIC i belongs to GPU ⌊i·GPUs/NICs⌋.
func (r *nearness) uneven(m *machine.Machine) string {
	if m.Joined == "wires" || len(r.pairs) == 0 {
		return ""
	}
	most := max(m.GPUs, m.NICs)
	if len(r.pairs) == most {
		isEven := true
		for i, pair := range r.pairs {
			isEven = isEven && pair == [2]int{i * m.GPUs / most, i * m.NICs / most}
		}
		if isEven {
			return ""
		}
	}
	return "; taken as shared out evenly"
}
