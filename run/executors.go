package run

import (
	"context"
	"fmt"
	"strings"

	"collsim/hw"
	"collsim/scenarios"
	"collsim/topology"
)

// OpenWith makes ValidateOptions.Open of a table of executors, in which a scenario's
// hardware.executor is a name.
func OpenWith(
	rows ...hw.Row,
) func(context.Context, *scenarios.Hardware, *topology.Graph) (hw.Executor, error) {
	return func(ctx context.Context, h *scenarios.Hardware,
		g *topology.Graph) (hw.Executor, error) {
		var names []string
		for _, row := range rows {
			if row.Name == h.Executor {
				return row.Open(ctx, hw.Settings{Transport: h.Transport, Network: h.Network,
					Library: h.Library, Hosts: h.Hosts, Listen: h.Listen, Graph: g})
			}
			names = append(names, row.Name)
		}
		return nil, fmt.Errorf("run: hardware.executor = %q: there are %s", h.Executor,
			strings.Join(names, ", "))
	}
}
