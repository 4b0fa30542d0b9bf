package event

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestFramedLoops: steps that are kept are what each of them is alone, whatever lies beside the
// data: so many bytes cross the links, and so long do they take.
func TestFramedLoops(t *testing.T) {
	const ranks, block = 6, 1000
	for _, framing := range []schedule.Framing{schedule.Bare, schedule.Packets, schedule.Lines} {
		for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
			for _, preset := range []string{"ring", "switch"} {
				name := fmt.Sprint(framing, sharing, preset)
				p := simtest.RingPlan(ranks, ranks*block)
				lane := p.Lane
				p.Lane = func(l *schedule.Lane) {
					l.Frame(framing)
					lane(l)
				}
				s := simtest.Build(t, p)
				g, err := simtest.Network(preset, ranks, simtest.GBs, unit.Microsecond)
				require.NoError(t, err)
				env := model.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: 8}
				kept, alone := newEngine(s, &env), newEngine(s, &env)
				kept.findSole()
				alone.keepSteps = false
				require.NoError(t, kept.run(), name)
				require.NoError(t, alone.run(), name)
				require.True(t, kept.isAhead, name)
				require.NotEmpty(t, kept.lanes[0].step.sizes, name)
				require.Equal(t, alone.finished(), kept.finished(), name)
				hops := unit.Time(map[string]int64{"ring": 1, "switch": 2}[preset])
				wire := framing.Wire(4 * block)
				each := hops*unit.Microsecond + unit.Time(wire)*unit.Nanosecond
				require.Equal(t, 2*(ranks-1)*each, kept.finished().Time, name)
			}
		}
	}
}

// TestFramed: what a step sends is of one framing, or it is not kept.
func TestFramed(t *testing.T) {
	bare, packet, line := schedule.Dest{}, schedule.Dest{Packet: true}, schedule.Dest{Line: true}
	for _, test := range []struct {
		sends []schedule.Dest
		flags messageFlags
		ok    bool
	}{
		{nil, 0, true},
		{[]schedule.Dest{bare, bare}, 0, true},
		{[]schedule.Dest{packet}, packed, true},
		{[]schedule.Dest{line, line}, lined, true},
		{[]schedule.Dest{bare, line}, 0, false},
		{[]schedule.Dest{packet, line}, 0, false},
		{[]schedule.Dest{packet, bare}, 0, false},
		{[]schedule.Dest{{Relaxed: true}}, 0, false},
		{[]schedule.Dest{{Put: true, Silent: true}}, 0, false},
	} {
		flags, ok := framed(test.sends)
		require.Equal(t, test.ok, ok, "%v", test.sends)
		require.Equal(t, test.flags, flags, "%v", test.sends)
	}
}
