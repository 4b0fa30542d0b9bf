package run

import (
	"bytes"
	"fmt"
	"slices"

	"collsim/formats/ncclxml"
	"collsim/machine"
	"collsim/scenarios"
)

// ExportMachine writes a node of the machine that all points of the scenario are on, by name or of
// a file, as a topology file of NCCL (NCCL_TOPO_FILE). Keys that change the machine are not in it;
// a network with single links that are changed, or of no machine, is an error. The notes say what
// NCCL would not take.
func (s *Scenario) ExportMachine() (text []byte, notes []string, err error) {
	defer func() { err = s.located(err) }()
	refuse := func(text, hint string) error {
		return &scenarios.Error{File: s.File, Key: "topology", Text: text, Hint: hint}
	}
	var networks []*scenarios.Topology
	for _, p := range s.Points {
		networks = append(networks, p.Topology)
	}
	for _, p := range s.Programs {
		networks = append(networks, p.Point.Topology)
	}
	var m *machine.Machine
	for _, t := range networks {
		switch {
		case t.Machine == "":
			return nil, nil, refuse("nccl-topo is the node of a machine, and this network is of none",
				`topology.preset = "dgx-h100", or another one of collsim list machines`)
		case t.Changed():
			return nil, nil, refuse("[[topology.link]] changes single links, which a topology file of NCCL "+
				"does not hold", "")
		case m != nil && m.Name != t.Machine:
			return nil, nil, refuse("points are on "+m.Name+" and on "+t.Machine+"; nccl-topo is one",
				"choose with --only")
		}
		if m, err = s.machineNamed(t.Machine); err != nil {
			return nil, nil, refuse(err.Error(), "")
		}
	}
	if text, err = ncclxml.Write(m); err != nil {
		return nil, nil, refuse(err.Error(), "")
	}
	// Every element begins with a < that no closing tag has.
	if n := bytes.Count(text, []byte("<")) - bytes.Count(text, []byte("</")); n > ncclxml.MostOfNCCL {
		notes = append(notes, fmt.Sprintf("%d elements; a topology file of NCCL has at most %d: this is "+
			"a rack of several hosts", n, ncclxml.MostOfNCCL))
	}
	return text, notes, nil
}

// machineNamed returns a machine that a file of the scenario describes, or that of the catalogue.
func (s *Scenario) machineNamed(name string) (*machine.Machine, error) {
	i := slices.IndexFunc(s.machines, func(m *machine.Machine) bool { return m.Name == name })
	if i >= 0 {
		return s.machines[i], nil
	}
	return machine.Find(name)
}
