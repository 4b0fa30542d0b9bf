package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What ASTRA-sim's files say about a network and about collectives, as keys of a scenario.

// astraNetwork returns the [topology] that says what a network file (YAML) of ASTRA-sim's
// analytical backend says: of each dimension a shape, a number of NPUs, GB/s and ns.
func astraNetwork(text string) string {
	lists := map[string][]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if ok {
			lists[strings.TrimSpace(key)] = strings.FieldsFunc(value, func(r rune) bool {
				return strings.ContainsRune("[], \t\r\n", r)
			})
		}
	}
	shapes, sizes := lists["topology"], lists["npus_count"]
	rates, waits := lists["bandwidth"], lists["latency"]
	presets := map[string]string{"Ring": "ring", "Switch": "switch", "FullyConnected": "full-mesh"}
	if len(shapes) == 0 || len(sizes) != len(shapes) || len(rates) != len(shapes) ||
		len(waits) != len(shapes) || presets[shapes[0]] == "" {
		return "in a scenario: [topology] preset, ranks, bandwidth and latency"
	}
	if len(shapes) == 1 {
		return fmt.Sprintf("the same in a scenario: [topology] preset = %q, ranks = %s, bandwidth = "+
			"\"%s GB/s\", latency = \"%s ns\"", presets[shapes[0]], sizes[0], rates[0], waits[0])
	}
	if len(shapes) == 2 && presets[shapes[1]] != "" {
		return fmt.Sprintf("the same as nodes in a scenario: [topology] nodes = %s, [topology.node] "+
			"preset = %q, ranks = %s, bandwidth = \"%s GB/s\", latency = \"%s ns\", [topology.network] "+
			"preset = %q, bandwidth = \"%s GB/s\", latency = \"%s ns\"", sizes[1], presets[shapes[0]],
			sizes[0], rates[0], waits[0], presets[shapes[1]], rates[1], waits[1])
	}
	return "in a scenario: [topology] preset = \"torus\", shape = [" + strings.Join(sizes, ", ") +
		"], bandwidth and latency; of other shapes each link as [[topology.link]]"
}

// astraSystem returns the keys that say what a system file (JSON) says.
func astraSystem(text []byte) string {
	var system map[string]any
	hint := "in a scenario: [collective] algorithm"
	if json.Unmarshal(text, &system) == nil {
		if list, ok := system["all-reduce-implementation"].([]any); ok && len(list) > 0 {
			names := map[string]string{"ring": "ring", "direct": "direct", "oneRing": "ring",
				"halvingDoubling": "rabenseifner", "doubleBinaryTree": "double-binary-tree"}
			if name := names[fmt.Sprint(list[0])]; name != "" {
				hint = fmt.Sprintf("in a scenario: [collective] algorithm = %q", name)
			}
		}
	}
	return hint + "; local-mem-bw and peak-perf are those of [device] preset: collsim list devices"
}
