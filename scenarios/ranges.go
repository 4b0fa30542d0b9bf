package scenarios

import (
	"strconv"

	"collsim/device"
	"collsim/unit"
)

// notKnown stands in a preset in place of a figure that a calibration could not find. The user of
// the preset has to give the figure.
const notKnown = "not known"

// wholeLists returns the arrays of tables that --set and other files replace as a whole, with an
// entry of each. Ranges are one figure of the device, by size; links and ranks are the differences
// of a network today.
func wholeLists() map[string]string {
	return map[string]string{
		"device.range":    `{ up_to = "64 KiB", latency = "2 us" }`,
		"topology.link":   `{ match = "gpu3 <-> *", bandwidth = "50 %" }`,
		"device.protocol": `{ shape = "ring", protocol = "ll", nvlink = "700 ns" }`,
		variantAxis:       `{ name = "eight nodes", set = { "topology.nodes" = 8 } }`,
		"fault":           `{ rank = 3, does = "stops", at = "3 us" }`,
		"topology.rank":   `{ match = "3", start = "200 us" }`,
	}
}

// isWhole reports whether a path is that of such a list.
func isWhole(path string) bool { return wholeLists()[path] != "" }

// messageKeys returns the figures of messages, in [device] and by size in [[device.range]].
func messageKeys() []Key {
	keys := []Key{{Path: "device.range.up_to", kind: aSize, max: maxBytes, Example: `"64 KiB"`,
		Sweep: true, Doc: "The longest message that is meant; more than that of the entry before.",
		must: "the longest message that is meant is expected",
		to:   set(func(r *device.Range, n unit.Bytes) { r.UpTo = n })}}
	var ranged []Key
	for _, f := range device.Figures() {
		if !f.OfMessage {
			continue
		}
		keys = append(keys, figureKey(f, f.Key, "the preset's"))
		k := figureKey(f, "device.range."+f.Name, "device's")
		k.to = func(target, value any) {
			r := target.(*device.Range)
			d := device.Device{Own: r.Message}
			assign(f, &d, value)
			r.Message = d.Own
		}
		ranged = append(ranged, k)
	}
	return append(keys, ranged...)
}

// messages reads the costs of messages by protocol and by ranges of sizes.
func (v *view) messages(d *device.Device) {
	if d.Own.Efficiency == device.AllEfficiency {
		d.Own.Efficiency = 0 // as a device has it that wastes nothing
	}
	v.protocols(d)
	n := v.d.count("device.range")
	if n > 0 {
		d.Ranges = nil
	}
	for i := range n {
		at := numbered("device.range", i)
		r := device.Range{Message: d.Own}
		ok := v.fill(at, &r)
		switch last := len(d.Ranges) - 1; {
		case !ok:
		case last >= 0 && r.UpTo <= d.Ranges[last].UpTo:
			v.fail(at+".up_to", problem{"more than the " + d.Ranges[last].UpTo.String() + " of entry " +
				strconv.Itoa(i-1) + " is expected: entries stand by size", ""})
		case !v.has(at+".latency") && !v.has(at+".efficiency"):
			v.fail(at+".up_to", problem{"nothing is said of these messages; latency or efficiency is " +
				"expected", ""})
		default:
			if r.Efficiency == device.AllEfficiency {
				r.Efficiency = 0
			}
			d.Ranges = append(d.Ranges, r)
		}
	}
}
