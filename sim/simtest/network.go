package simtest

import (
	"collsim/topology"
	"collsim/unit"
)

// Presets lists the presets that Network takes.
func Presets() []string { return []string{"switch", "full-mesh", "ring"} }

// Network makes a network of a preset.
func Network(preset string, ranks int, bandwidth unit.Rate,
	latency unit.Time) (*topology.Graph, error) {
	return topology.Build(topology.Params{Preset: preset, Ranks: ranks, Bandwidth: bandwidth,
		Latency: latency})
}
