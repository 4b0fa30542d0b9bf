package run

import (
	"context"
	"fmt"
	"strings"

	"collsim/hw"
	"collsim/scenarios"
	"collsim/topology"
)

// setting holds, as a comparable value, the settings with which an executor is opened. Points
// with equal settings share an executor.
type setting struct {
	executor      scenarios.Executor
	transport     scenarios.Transport
	network       scenarios.Network
	lab           *scenarios.Topology // that a lab is wired as; nil of a machine
	library       bool
	random        bool
	seed          int64
	hosts, listen string
}

func settingOf(p *scenarios.Point) setting {
	h := &p.Hardware
	s := setting{executor: h.Executor, transport: h.Transport, network: h.Network,
		library: h.Library, random: h.Random, seed: h.Seed,
		hosts: strings.Join(h.Hosts, "\n"), listen: h.Listen}
	if h.Network == scenarios.Lab {
		s.lab = p.Topology
	}
	return s
}

// OpenWith makes ValidateOptions.Open of a table of executors, in which a scenario's
// hardware.executor is a name.
func OpenWith(
	rows ...hw.Row,
) func(context.Context, *scenarios.Hardware, *topology.Graph) (hw.Executor, error) {
	return func(ctx context.Context, h *scenarios.Hardware,
		g *topology.Graph) (hw.Executor, error) {
		var names []string
		for _, row := range rows {
			if row.Name == string(h.Executor) {
				return row.Open(ctx, hw.Settings{Transport: h.Transport.String(),
					Lab: h.Network == scenarios.Lab, Library: h.Library, Hosts: h.Hosts,
					Listen: h.Listen, Graph: g, Random: h.Random, Seed: h.Seed})
			}
			names = append(names, row.Name)
		}
		return nil, fmt.Errorf("hardware.executor = %q: there are %s", h.Executor,
			strings.Join(names, ", "))
	}
}
