package run

import (
	"fmt"

	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/scenarios"
	"collsim/unit"
)

// mostInNode is how many GPUs a node has at most where NCCL's rings are known.
const mostInNode = 16

// ncclMachine returns the machine of NCCL's model (nccl.Machines) that has a device, "" if none.
func ncclMachine(device string) string {
	for _, row := range []struct{ prefix, machine string }{
		{"h100-sxm", "dgx-h100"}, {"h200", "dgx-h100"}, {"a100-40gb", "dgx-a100"},
		{"a100-80gb", "dgx-a100"}, {"v100-16gb", "dgx-v100"}, {"v100-32gb", "dgx-v100"},
	} {
		if device == row.prefix {
			return row.machine
		}
	}
	return ""
}

// libraryOf returns what the library of a point's machine does a collective by, where it is known:
// on a GPU of NVIDIA's whose rings are, NCCL's own choice.
func libraryOf(p *scenarios.Point) (a scenarios.Algorithm, ok bool) {
	machine := ncclMachine(p.Device.Name)
	inNode := p.Topology.Ranks / max(p.Topology.Nodes, 1)
	if machine == "" || inNode > mostInNode {
		return a, false
	}
	for _, name := range []string{"auto", "p2p"} {
		a = scenarios.Algorithm{Name: nccl.Prefix + name, Slices: 1}
		if _, err := find(p.Spec.Kind, a.Name); err == nil {
			if machine != nccl.Machines()[0].Name {
				a = with(a, "machine", machine)
			}
			return a, true
		}
	}
	return scenarios.Algorithm{}, false
}

// LibraryCall is a call of a program that names no algorithm, and is done as the library of the
// machine does it.
type LibraryCall struct {
	Spec    collective.Spec
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
		"take %v", c.Spec.Kind, c.Spec.Bytes(), c.Library.Algorithm, c.Library.Time,
		c.Fastest.Algorithm, c.Fastest.Time)
}

// byLibrary makes a call of a program as the library of the machine does it, and notes what would
// be the fastest of the candidates; nil where there is no such library, or it cannot do the call.
func (r *runner) byLibrary(p *scenarios.Point, candidates []Candidate) *made {
	a, ok := libraryOf(p)
	if !ok {
		return nil
	}
	m, err := r.s.make(p, a)
	if err != nil {
		return nil
	}
	call := LibraryCall{Spec: p.Spec, Fastest: Candidate{Time: unit.Forever}}
	for _, c := range candidates {
		if c.Time >= 0 && c.Time < call.Fastest.Time {
			call.Fastest = c
		}
		if c.Algorithm.Name == a.Name {
			call.Library = c
		}
	}
	if call.Library.Why != "" { // it stalls, or would take too long to simulate
		return nil
	}
	r.byItself = append(r.byItself, call)
	return m
}
