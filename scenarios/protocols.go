package scenarios

import (
	"slices"

	"collsim/device"
	"collsim/unit"
)

// protocolFigure is a figure of a protocol of NCCL's.
type protocolFigure struct {
	name, example, about string
}

// protocolFigures lists the figures in the order of device.Protocol.Costs.
func protocolFigures() []protocolFigure {
	return []protocolFigure{
		{"base", "6.6 us", "What a call costs once, its launch included."},
		{"nvlink", "600 ns", "A message's latency from a GPU to another one of its node, over NVLink."},
		{"pcie", "1 us", "The same where PCIe joins them."},
		{"network", "1.3 us", "What a message between nodes takes on top of device.overhead and the " +
			"latencies of the network's links."},
		{"ramp", "11 us", "What a call takes longer for each doubling of its bytes from 1 MiB to " +
			"16 MiB: it is added log2(1 + bytes / 1 MiB) times."},
	}
}

// protocolKeys returns the keys of [[device.protocol]].
func protocolKeys() []Key {
	const at = "device.protocol."
	keys := []Key{
		{Path: at + "shape", kind: aChoice, Values: device.Shapes(), Example: `"ring"`, Sweep: true,
			Doc:  "Whose messages are meant: the form of an algorithm.",
			must: "the shape of an algorithm is expected",
			to:   set(func(p *device.Protocol, name string) { p.Shape = name })},
		{Path: at + "protocol", kind: aChoice, Values: device.Protocols(), Example: `"ll128"`,
			Sweep: true, Doc: "And how they are handed over.", must: "a protocol is expected",
			to: set(func(p *device.Protocol, name string) { p.Protocol = name })}}
	for i, f := range protocolFigures() {
		keys = append(keys, Key{Path: at + f.name, kind: aTime, max: int64(device.MaxCost),
			Default: "the device's, or 0 s", Example: `"` + f.example + `"`, Sweep: true, Doc: f.about,
			to: set(func(p *device.Protocol, t unit.Time) { *p.Costs()[i].Of = t })})
	}
	return append(keys, Key{Path: at + "rate", kind: aRate, max: maxLink,
		Default: "lane_rate", Example: `"10 GB/s"`, Sweep: true,
		Doc: "What a channel moves at most, flags included.",
		to:  set(func(p *device.Protocol, rate unit.Rate) { p.Rate = rate })})
}

// protocols reads [[device.protocol]]. A machine's figures replace the device's. Where a scenario
// gives what all messages cost, both are left out.
func (v *view) protocols(d *device.Device) {
	if m := v.byName().of; m != nil {
		d.Protocols = m.Protocols(d.Protocols)
	}
	if v.has("device.overhead") || v.has("device.latency") || v.has("device.launch") ||
		v.d.count("device.range") > 0 {
		d.Protocols = nil
	}
	d.Protocols = slices.Clone(d.Protocols)
	for i := range v.d.count("device.protocol") {
		at := numbered("device.protocol", i)
		var given device.Protocol
		if !v.fill(at, &given) {
			continue
		}
		row := slices.IndexFunc(d.Protocols, func(p device.Protocol) bool {
			return p.Shape == given.Shape && p.Protocol == given.Protocol
		})
		if row < 0 {
			d.Protocols = append(d.Protocols, given)
		} else {
			v.fill(at, &d.Protocols[row])
		}
	}
}
