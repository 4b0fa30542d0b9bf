package topology

import "collsim/unit"

// presets lists the networks of plain.
func presets() []string { return []string{"switch", "full-mesh", "ring"} }

// plain makes a network of a preset that takes ranks alone.
func plain(preset string, ranks int, bandwidth unit.Rate, latency unit.Time) (*Graph, error) {
	return Build(Params{Preset: preset, Ranks: ranks, Bandwidth: bandwidth, Latency: latency})
}
