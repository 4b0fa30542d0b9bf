package device

import (
	"slices"
	"sync"

	"collsim/unit"
)

// Bounds of figures, so that no sum of times and bytes comes near the limit of its integer.
const (
	mostRate   = int64(1_000_000 * unit.GB) // inside a device
	mostOnWire = int64(8000 * unit.GB)      // of a link
	mostBytes  = int64(1024 * unit.TiB)
	mostNumber = 65536
	mostWork   = 1 << 60
	// mostMemory is the largest rate of a link that fluid sharing supports.
	mostMemory = int64(17_500 * unit.GB)
)

// Figures lists all figures of a device, those of its messages last.
func Figures() []Figure { return slices.Clone(rows()) }

// rows makes the table once, since every run validates its device.
var rows = sync.OnceValue(func() []Figure {
	return slices.Concat(stepFigures(), gpuFigures(), messageFigures())
})

// aTime states the bounds of a time in errors.
const aTime = "a time from 0 s to 1000 s"

// stepFigures lists the costs of steps, then those of sends and calls. The table of a scenario is
// in this order.
func stepFigures() []Figure {
	figures := append(laneFigures(), sendFigures()...)
	for i := range figures {
		figures[i].Key = "device." + figures[i].Name
	}
	return append(figures, Figure{Name: "slots", Unit: InNumber, Example: "8", Key: "sim.slots",
		Most: mostNumber, Want: "a number of slots, or 0 for unlimited,",
		About: "Messages that may lie at the end of a connection unread; 0 is any number.",
		of:    func(d *Device) any { return &d.Slots }})
}

// laneFigures lists the costs of a lane's steps.
func laneFigures() []Figure {
	return []Figure{
		{Name: "overhead", Unit: InTime, Example: "1 us", Most: int64(MaxCost), Want: aTime,
			About: "Time of every step before its data moves.",
			of:    func(d *Device) any { return &d.Overhead }},
		{Name: "reduce_rate", Unit: InRate, Example: "400 GB/s", Least: 1, Most: mostRate,
			Want:  "a rate above zero",
			About: `Speed of adding one more source to a step; may be "unlimited".`,
			of:    func(d *Device) any { return &d.ReduceRate }},
		{Name: "copy_rate", Unit: InRate, Example: "1 TB/s", Least: 1, Most: mostRate,
			Want:  "a rate above zero",
			About: `Speed of a step that moves data inside the device; may be "unlimited".`,
			of:    func(d *Device) any { return &d.CopyRate }},
		{Name: "lane_rate", Unit: InRate, Example: "20 GB/s", Least: 1, Most: mostOnWire,
			Want:  "a rate above zero",
			About: `Most that one lane can send; may be "unlimited".`,
			of:    func(d *Device) any { return &d.LaneRate }},
		{Name: "channels", Unit: InNumber, Example: "16", Least: 1, Most: 64,
			Want:  "a number of channels",
			About: "Most channels of a call that does not say how many; it has what its links need.",
			of:    func(d *Device) any { return &d.Channels }},
		{Name: "multimem_efficiency", Unit: InShare, Example: "85 %", Least: 10_000,
			Most: int64(AllEfficiency), Want: "1 % to 100 %",
			About: "Part of what multimem loads and stores put on their links that is data; where none is " +
				"given, all of loads, and of stores efficiency.",
			of: func(d *Device) any { return &d.MultimemEfficiency }},
		{Name: "slot_latency", Unit: InTime, Example: "800 ns", Most: int64(MaxCost), Want: aTime,
			About: "How long after a slot is freed its sender sees it.",
			of:    func(d *Device) any { return &d.SlotLatency }},
	}
}

// sendFigures lists the figures of a lane's sends, and the cost of a call.
func sendFigures() []Figure {
	return []Figure{
		{Name: "offload", Unit: InFlag, Example: "true", Most: 1, Want: "true or false",
			About: "Whether a send is posted to a NIC or copy engine and the lane goes on.",
			of:    func(d *Device) any { return &d.Offload }},
		{Name: "queue", Unit: InNumber, Example: "16", Least: 1, Most: mostNumber,
			Want:  "a number of posts",
			About: "Posts that may be outstanding where sends are posted.",
			of:    func(d *Device) any { return &d.Queue }},
		{Name: "send_buffer", Unit: InBytes, Example: "128 KiB", Most: mostBytes,
			Want: "a number of bytes",
			About: "Bytes of a connection that a lane may leave behind when it goes on, as a socket " +
				"takes them; not with offload.",
			of: func(d *Device) any { return &d.SendBuffer }},
		{Name: "eager_limit", Unit: InBytes, Example: "64 KiB", Most: mostBytes,
			Want: "a number of bytes, or 0 for none,",
			About: "A message of more is asked for first and sent when its receive is posted " +
				"(rendezvous); 0 is never.",
			of: func(d *Device) any { return &d.EagerLimit }},
		{Name: "receives_ahead", Unit: InNumber, Example: "1", Most: mostNumber,
			Want: "a number of steps",
			About: "Steps before its own at which a receive is posted, where messages are asked for; " +
				"1 if each is posted before the send that goes with it.",
			of: func(d *Device) any { return &d.ReceivesAhead }},
		{Name: "launch", Unit: InTime, Example: "20 us", Most: int64(MaxCost), Want: aTime,
			About: "Time of the host for a launch: of a call, once on every rank; with a GPU model and a " +
				"schedule that says what is launched, of each bracket.",
			of: func(d *Device) any { return &d.Launch }},
	}
}

func messageFigures() []Figure {
	return []Figure{
		{Name: "latency", Unit: InTime, Example: "2 us", Key: "device.latency", OfMessage: true,
			Most: int64(MaxCost), Want: "a time from 0 s to 1000 s",
			About: "What a message takes on top of the latencies of its links, holding nobody.",
			of:    func(d *Device) any { return &d.Own.Latency }},
		{Name: "efficiency", Unit: InShare, Example: "50 %", Key: "device.efficiency",
			OfMessage: true, Least: int64(LeastEfficiency), Most: int64(AllEfficiency),
			Want: "0.01 % to 100 %",
			About: "Part of what a message puts on its links that is data; the rest are flags, or " +
				"what else its protocol wastes.",
			of: func(d *Device) any { return &d.Own.Efficiency }},
	}
}
