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
		"topology.rank":   `{ match = "3", start = "200 us" }`,
	}
}

// isWhole reports whether a path is that of such a list.
func isWhole(path string) bool { return wholeLists()[path] != "" }

// messageKeys returns the figures of messages, in [device] and by size in [[device.range]].
func messageKeys() []Key {
	keys := []Key{{Path: "device.range.up_to", kind: aSize, max: maxBytes, Example: `"64 KiB"`,
		Sweep: true, Doc: "The longest message that is meant; more than that of the entry before."}}
	figures := device.Figures()
	for _, table := range []string{"device", "device.range"} {
		otherwise := "the preset's"
		if table != "device" {
			otherwise = "device's"
		}
		for _, f := range figures {
			if f.OfMessage {
				keys = append(keys, figureKey(f, table+"."+f.Name, otherwise))
			}
		}
	}
	return keys
}

// messages reads what a call and its messages cost, by ranges of sizes.
func (v *view) messages(d *device.Device) (ok bool) {
	d.Launch, _ = fetchOr(v, "device.launch", d.Launch)
	d.Own, ok = v.message("device", d.Own)
	ok = v.protocols(d) && ok
	n := v.d.count("device.range")
	if n > 0 {
		d.Ranges = nil
	}
	for i := range n {
		at := numbered("device.range", i)
		upTo, ok1 := need[unit.Bytes](v, at+".up_to", "the longest message that is meant is expected")
		figures, ok2 := v.message(at, d.Own)
		switch last := len(d.Ranges) - 1; {
		case !ok1 || !ok2:
			ok = false
		case last >= 0 && upTo <= d.Ranges[last].UpTo:
			v.fail(at+".up_to", problem{"more than the " + d.Ranges[last].UpTo.String() + " of entry " +
				strconv.Itoa(i-1) + " is expected: entries stand by size", ""})
			ok = false
		case !v.has(at+".latency") && !v.has(at+".efficiency"):
			v.fail(at+".up_to", problem{"nothing is said of these messages; latency or efficiency is " +
				"expected", ""})
			ok = false
		default:
			d.Ranges = append(d.Ranges, device.Range{UpTo: upTo, Message: figures})
		}
	}
	return ok
}

// message reads the figures of messages that stand in a table.
func (v *view) message(table string, otherwise device.Message) (m device.Message, ok bool) {
	m.Latency, ok = fetchOr(v, table+".latency", otherwise.Latency)
	var ok2 bool
	m.Efficiency, ok2 = fetchOr(v, table+".efficiency", otherwise.Efficiency)
	if m.Efficiency == device.AllEfficiency {
		m.Efficiency = 0 // as a device has it that wastes nothing
	}
	return m, ok && ok2
}
