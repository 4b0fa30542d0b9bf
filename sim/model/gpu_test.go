package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/unit"
)

// TestIsFree: what only begins a bracket takes no time, at the edge of a part too; all that does
// something does.
func TestIsFree(t *testing.T) {
	launch := &schedule.Launch{}
	for _, c := range []struct {
		step schedule.Step
		edge bool
		want bool
	}{
		{schedule.Step{Launch: launch}, false, true},
		{schedule.Step{}, true, true},
		{schedule.Step{}, false, false},
		{schedule.Step{Launch: launch, Kernel: schedule.Opaque(1)}, true, false},
		{schedule.Step{Launch: launch, Flush: true}, true, false},
		{schedule.Step{Launch: launch, From: make([]schedule.Source, 1)}, true, false},
		{schedule.Step{Launch: launch, To: make([]schedule.Region, 1)}, true, false},
		{schedule.Step{Launch: launch, Send: make([]schedule.Dest, 1)}, true, false},
	} {
		require.Equal(t, c.want, IsFree(&c.step, c.edge), "%+v", c)
	}
}

// TestPriority: a device of n priorities takes higher ones for n − 1, one without a number any.
func TestPriority(t *testing.T) {
	for _, c := range []struct {
		most int
		want []int32 // of 0, 1, 2 and 3
	}{{0, []int32{0, 1, 2, 3}}, {1, []int32{0, 0, 0, 0}}, {3, []int32{0, 1, 2, 2}}} {
		r := rulesOf(func(d *device.Device) { d.GPU.Priorities = c.most })
		for asked, want := range c.want {
			require.Equal(t, want, r.Priority(&schedule.Launch{Priority: int32(asked)}), "%+v", c)
		}
	}
}

// TestPaceOf: the peers of a step share its lane and its copy engine; what is copied inside the
// device crosses its memory twice and is not shared.
func TestPaceOf(t *testing.T) {
	r := rulesOf(func(d *device.Device) {
		d.LaneRate, d.CopyRate, d.GPU.CopyEngineRate = 3*gb, 5*gb, 7*gb
	})
	paces := func(p Pacer, peers int32) []int64 {
		rate, among := r.paceOf(p, peers)
		return []int64{int64(rate), int64(among)}
	}
	unlimited, g := int64(unit.Unlimited), int64(gb)
	require.Equal(t, []int64{3 * g, 4}, paces(LanePace, 4))
	require.Equal(t, []int64{7 * g, 4}, paces(EnginePace, 4))
	require.Equal(t, []int64{7 * g, 1}, paces(EnginePace, 0))
	require.Equal(t, []int64{10 * g, 1}, paces(CopyPace, 4))
	require.Equal(t, []int64{14 * g, 1}, paces(EngineCopy, 4))
	require.Equal(t, []int64{unlimited, 1}, paces(BlockPace, 4))
	r.Device.GPU.CopyEngineRate = 0 // without an end
	require.Equal(t, []int64{unlimited, 4}, paces(EnginePace, 4))
	require.Equal(t, []int64{unlimited, 1}, paces(EngineCopy, 4))
}
