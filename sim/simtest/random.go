package simtest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/random"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// Schedule draws a schedule: random.DrawSchedule.
func Schedule(rng *rand.Rand, jumbled bool) *schedule.Schedule {
	return random.DrawSchedule(rng, jumbled).Schedule
}

// Env returns a random network and device, with coincidences of every kind: latencies that are 0 or
// equal, and few bandwidths. All of these divide 10¹² and are multiples of 40.
func Env(t testing.TB, rng *rand.Rand, ranks int) model.Env {
	t.Helper()
	rates := []unit.Rate{GBs, 2 * GBs, GBs / 2, unit.Unlimited}
	times := []unit.Time{0, 0, 100 * unit.Nanosecond, 100 * unit.Nanosecond, 250 * unit.Nanosecond}
	presets := Presets()
	g, err := Network(presets[rng.IntN(len(presets))], ranks, rates[rng.IntN(4)],
		times[rng.IntN(5)])
	require.NoError(t, err)
	for i := range g.Links() {
		if rng.IntN(3) == 0 {
			g.Links()[i].Bandwidth, g.Links()[i].Latency = rates[rng.IntN(4)], times[rng.IntN(5)]
		}
	}
	env := model.Env{Graph: g, Device: device.Ideal(), Slots: rng.IntN(5)}
	if rng.IntN(2) == 0 {
		d := &env.Device
		d.Overhead, d.ReduceRate, d.CopyRate = times[rng.IntN(5)], rates[rng.IntN(4)], rates[rng.IntN(4)]
		d.SlotLatency = times[rng.IntN(5)]
	}
	if rng.IntN(2) == 0 {
		env.Device.LaneRate = rates[rng.IntN(4)]
	}
	if rng.IntN(3) == 0 {
		env.Device.Offload, env.Device.Queue = true, 1+rng.IntN(3)
	}
	if !env.Device.Offload && rng.IntN(2) == 0 {
		env.Device.SendBuffer = []unit.Bytes{50, 100, 250, 1000, unit.MiB}[rng.IntN(5)]
	}
	if rng.IntN(3) == 0 {
		env.Device.EagerLimit = []unit.Bytes{1, 100, 500, 1000}[rng.IntN(4)]
		env.Device.ReceivesAhead = rng.IntN(3)
	}
	for range ranks {
		env.Start = append(env.Start, times[rng.IntN(5)])
	}
	switch rng.IntN(4) {
	case 0:
		env.Sharing = model.FIFO
	case 1:
		env.Sharing, env.Switching = model.FIFO, model.StoreForward
	case 2:
		env.Sharing, env.Switching = model.FIFO, model.Switching(rng.IntN(2))
		env.Segment = unit.Bytes(50 * (1 + rng.IntN(6)))
	}
	if rng.IntN(3) == 0 {
		randomMessages(rng, &env.Device, times)
	}
	return env
}

// randomMessages gives a device random costs of calls and messages, by ranges of sizes.
func randomMessages(rng *rand.Rand, d *device.Device, times []unit.Time) {
	d.Launch = times[rng.IntN(5)]
	message := func() device.Message {
		return device.Message{Latency: times[rng.IntN(5)],
			Efficiency: []unit.Share{0, 500_000, 250_000}[rng.IntN(3)]}
	}
	if d.Own = message(); d.Own.Efficiency > 0 {
		d.MultimemEfficiency = 750_000 - d.Own.Efficiency // the other one
	}
	upTo := unit.Bytes(0)
	for range rng.IntN(3) {
		d.Ranges = append(d.Ranges, device.Range{UpTo: upTo, Message: message()})
		upTo += unit.Bytes(1 + rng.IntN(1000))
	}
}
