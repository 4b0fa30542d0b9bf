package run

import (
	"fmt"
	"slices"

	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/formats/system"
	"collsim/scenarios"
	"collsim/unit"
)

// mostInNode is the largest number of GPUs in a node for which NCCL's rings are known.
const mostInNode = 16

// hasNCCL reports whether a device is a GPU of NVIDIA's, and whether NCCL's graphs of nodes of such
// GPUs were recorded (nccl.Machines).
func hasNCCL(device string) (is, isKnown bool) {
	isKnown = slices.ContainsFunc(nccl.Machines(), func(m nccl.Machine) bool {
		return slices.Contains(m.Recorded, device)
	})
	return system.ModelOf(device).SM > 0, isKnown
}

// ncclFits reports whether NCCL's model knows nodes like those of a point.
func ncclFits(p *scenarios.Point) bool {
	return p.Topology.InNode() <= mostInNode && unevenNodes(p) == nil
}

// libraryOf returns what the library of a point's machine does a collective by, where it is known:
// on a GPU of NVIDIA's whose rings are, NCCL's own choice.
func libraryOf(p *scenarios.Point) (a scenarios.Algorithm, ok bool) {
	_, isKnown := hasNCCL(p.Device.Name)
	if !isKnown || !ncclFits(p) {
		return a, false
	}
	for _, name := range []string{"auto", "p2p"} {
		if _, err := find(p.Spec.Kind, nccl.Prefix+name); err == nil {
			return ncclOn(name), true
		}
	}
	return scenarios.Algorithm{}, false
}

// ncclOn returns one of NCCL's algorithms by its name without the prefix.
func ncclOn(name string) scenarios.Algorithm {
	return scenarios.Algorithm{Name: nccl.Prefix + name, Slices: 1}
}

// libraryCandidates returns the algorithms of NCCL that "fastest" tries: NCCL's own choice, and
// those that NCCL_ALGO can make it take instead.
func libraryCandidates(p *scenarios.Point) (list []scenarios.Algorithm) {
	if a, ok := libraryOf(p); ok {
		list = append(list, settled(p, a))
	}
	is, _ := hasNCCL(p.Device.Name)
	if !is || !ncclFits(p) {
		return list
	}
	names := []string{"ring", "tree"}
	if multicasts(p) {
		names = append(names, "nvls", "nvlstree")
	}
	for _, name := range names {
		if _, err := find(p.Spec.Kind, nccl.Prefix+name); err == nil {
			list = append(list, settled(p, ncclOn(name)))
		}
	}
	return list
}

// LibraryCall is a call of a program that names no algorithm, and is done as the library of the
// machine does it.
type LibraryCall struct {
	Kind    collective.Kind
	Bytes   unit.Bytes
	Library Candidate
	Fastest Candidate // of all algorithms, each alone on the machine
}

// notablyFaster is the least share of the library's time that another must save to be named.
const notablyFaster = 0.02

// String says by how much another would be faster; "" if none is, notably.
func (c *LibraryCall) String() string {
	saved := float64(c.Library.Time - c.Fastest.Time)
	if saved < float64(notablyFaster*float64(c.Library.Time)) {
		return ""
	}
	return fmt.Sprintf("%v of %v: %v, as the machine's library does it, takes %v alone; %v would "+
		"take %v", c.Kind, c.Bytes, c.Library.Algorithm, c.Library.Time,
		c.Fastest.Algorithm, c.Fastest.Time)
}

// byLibrary makes a call of a program as the library of the machine does it, on symmetric memory or
// other, and notes what would be the fastest of the candidates; nil where there is no such library,
// or it cannot do the call.
func (r *runner) byLibrary(p *scenarios.Point, candidates []Candidate, symmetric bool) *made {
	a, ok := libraryOf(p)
	if !ok {
		return nil
	}
	a = private(p, []scenarios.Algorithm{a}, symmetric)[0]
	m, err := r.s.make(p, a)
	if err != nil {
		return nil
	}
	call := LibraryCall{Kind: p.Spec.Kind, Bytes: p.Spec.Bytes(),
		Fastest: Candidate{Time: unit.Forever}}
	for _, c := range candidates {
		if c.Time >= 0 && c.Time < call.Fastest.Time {
			call.Fastest = c
		}
		if c.Algorithm.Name == a.Name {
			call.Library = c
		}
	}
	if call.Library.AtLeast > 0 { // its time was not wanted
		call.Library.Why = ""
		call.Library.Time, err = r.measure(m, p, 0)
	}
	if err != nil || call.Library.Why != "" { // it stalls
		return nil
	}
	r.byItself = append(r.byItself, call)
	return m
}
