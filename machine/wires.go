package machine

import "collsim/unit"

// Wire is a bundle of alike links inside a node, usable in both directions at once.
type Wire struct {
	From, To string // "gpu0", "nic0"; all other names are switches: "pcie0", "cpu1", "nvswitch"
	Kind     string // a name of WireKinds
	Count    int    // links side by side, 1 or more
	Rate     unit.Rate
	Latency  unit.Time
}

// WireKinds lists what a Wire may be: "nvlink", "xgmi" and "c2c" join GPUs (and NVSwitches),
// "pcie" joins GPUs, NICs and PCIe switches with their host, "cpu" joins two processors.
func WireKinds() []string { return []string{"nvlink", "xgmi", "c2c", "pcie", "cpu"} }
