package event

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestTapeEnds: a log of more than is counted ends the run, and says so.
func TestTapeEnds(t *testing.T) {
	s := simtest.Build(t, simtest.RingPlan(8, 1<<16))
	env := simtest.OnSwitch(t, 8, simtest.GBs, unit.Microsecond)
	e := newEngine(s, &env)
	e.startTape(model.NewLog(&env, false))
	e.tape.before = mostNumber
	require.ErrorIs(t, e.run(), errTooLong)
}

// TestFarLinkWaits: a message that is alone on its way waits for the fifth link, and not for the
// fourth, of which the tape tells by the same kind.
func TestFarLinkWaits(t *testing.T) {
	s := simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(12, 40_000), Chunks: 40,
		Lane: func(l *schedule.Lane) {
			for i := range 40 {
				switch l.Rank {
				case 0:
					l.Send(5, l.In(i))
				case 5:
					l.Recv(0, l.Out(i))
				}
			}
		}})
	g, err := topology.New("ring", 12, 8*simtest.GBs, unit.Microsecond)
	require.NoError(t, err)
	env := model.Env{Graph: g, Device: device.Ideal(), Sharing: model.FIFO}
	env.Device.LaneRate = 2 * simtest.GBs
	rates := map[string]unit.Rate{"gpu3->gpu4": 4 * simtest.GBs, "gpu4->gpu5": simtest.GBs}
	for i := range g.Links() {
		if l := &g.Links()[i]; rates[l.Name] > 0 {
			l.Bandwidth = rates[l.Name]
		}
	}
	log, want := model.NewLog(&env, true), model.NewLog(&env, true)
	e, tells := newEngine(s, &env), newEngine(s, &env)
	e.findSole()
	e.startTape(log)
	require.NoError(t, e.run())
	require.Equal(t, map[string]int{"": 80, "further link": 80}, entriesOf(&e.tape))
	tells.logTo(want)
	require.NoError(t, tells.run())
	want.Read()
	readsTheSame(t, e, log, want, "far")
}

// TestTimesFarApart: a time that is far from those before it, whether later or earlier, is read
// back, and so are those after it.
func TestTimesFarApart(t *testing.T) {
	e := &engine{tape: tape{heads: make([]head, 2)}}
	var want [2][]unit.Time
	const far = 1 << 40
	for i, at := range []unit.Time{0, 5, far, 7, far + 1<<32, far - 1, unit.Forever - 1, 8, 0} {
		lane := uint32(i % 2)
		e.write(aStart, lane, at)
		want[lane] = append(want[lane], at)
	}
	got := e.tape.inOrder()
	require.Equal(t, append(want[0], want[1]...), got.of)
	require.Equal(t, []int32{0, 5, 9}, got.lanes)
}
