package event

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestLogEnds: a log of more than is counted ends the run, and says so.
func TestLogEnds(t *testing.T) {
	s := simtest.Build(t, simtest.RingPlan(8, 1<<16))
	env := simtest.OnSwitch(t, 8, simtest.GBs, unit.Microsecond)
	e := newEngine(s, &env)
	e.startLog(model.NewLog(&env, false))
	e.log.before = mostNumber
	require.ErrorIs(t, e.run(), errTooLong)
	e = newEngine(s, &env)
	e.startLog(model.NewLog(&env, false))
	require.NoError(t, e.run())
	e.totals.Steps = mostNumber + 1 // most of which were counted
	require.ErrorIs(t, e.writeLog(model.NewLog(&env, false)), errTooLong)
}

// TestFarLinkWaits: a message that is alone on its way waits for the fifth link, and not for the
// fourth, of which the compact log tells by the same kind.
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
	g, err := simtest.Network("ring", 12, 8*simtest.GBs, unit.Microsecond)
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
	e.findUncontended()
	e.startLog(log)
	require.NoError(t, e.run())
	require.Equal(t, map[string]int{"": 43, "further link": 80}, entriesOf(&e.log))
	require.Equal(t, uint32(37), e.log.heads[slices.IndexFunc(e.log.heads, isCounted)].n)
	tells.logTo(want)
	require.NoError(t, tells.run())
	want.Read()
	readsTheSame(t, e, log, want, "far")
}

// TestStoredWaits: where switches store messages, one that is small on the wire waits for the
// second link behind a large one, of which the compact log tells.
func TestStoredWaits(t *testing.T) {
	for name, blocks := range map[string]int32{"more data": 4, "a flag behind every word": 1} {
		large := func(r schedule.Region) schedule.Region {
			r.Run = blocks
			return r
		}
		s := simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(4, 80_000), Chunks: 8,
			Group: schedule.Group{4}, Lane: func(l *schedule.Lane) {
				next, before := (l.Rank+1)%l.Ranks, (l.Rank+l.Ranks-1)%l.Ranks
				if blocks == 1 {
					l.Frame(schedule.Packets)
				}
				l.Send(next, large(l.In(0)))
				l.Frame(schedule.Bare)
				l.Send(next, l.In(4))
				l.Recv(before, large(l.Out(0)))
				l.Recv(before, l.Out(4))
			}})
		env := simtest.OnSwitch(t, 4, simtest.GBs, unit.Microsecond)
		env.Sharing, env.Switching = model.FIFO, model.StoreForward
		log, want := model.NewLog(&env, true), model.NewLog(&env, true)
		e, tells := newEngine(s, &env), newEngine(s, &env)
		e.findUncontended()
		e.startLog(log)
		require.NoError(t, e.run())
		require.Equal(t, 4, entriesOf(&e.log)["second link"], name)
		tells.logTo(want)
		require.NoError(t, tells.run())
		want.Read()
		readsTheSame(t, e, log, want, name)
	}
}

// isCounted reports whether a lane ends with sub-steps that started evenly.
func isCounted(h head) bool { return h.n > 0 }

// TestTimesFarApart: a time that is far from those before it, whether later or earlier, is read
// back, and so are those after it.
func TestTimesFarApart(t *testing.T) {
	e := &engine{log: writer{heads: make([]head, 2)}}
	var want [2][]unit.Time
	const far = 1 << 40
	for i, at := range []unit.Time{0, 5, far, 7, far + 1<<32, far - 1, unit.Forever - 1, 8, 0} {
		lane := uint32(i % 2)
		e.log.write(aStart, lane, at)
		want[lane] = append(want[lane], at)
	}
	got := e.log.inOrder()
	require.Equal(t, append(want[0], want[1]...), got.of)
	require.Equal(t, []int32{0, 5, 9}, got.lanes)
}

// TestEvenly: sub-steps that start evenly are read back where they belong, however many they are
// and whatever is written of those before and of other lanes.
func TestEvenly(t *testing.T) {
	for i := range tier.Of(2_000, 10_000) {
		rng := rand.New(rand.NewPCG(uint64(i), 37))
		const lanes = 3
		e := &engine{log: writer{heads: make([]head, lanes)}}
		var want, kinds [lanes][]uint64
		var now, every [lanes]unit.Time
		note := func(lane int32, kind entryKind, at unit.Time) {
			want[lane], kinds[lane] = append(want[lane], uint64(at)), append(kinds[lane], uint64(kind))
		}
		for range rng.IntN(60) {
			lane := int32(rng.IntN(lanes))
			if rng.IntN(4) == 0 {
				every[lane] = unit.Time(rng.IntN(3) << (16 * rng.IntN(3)))
			}
			at := now[lane] + every[lane]
			h := &e.log.heads[lane]
			now[lane] = at
			note(lane, aStart, at)
			switch {
			case rng.IntN(8) == 0:
				e.log.begin(lane, 1, at)
				for range rng.IntN(3) {
					e.log.write(aPacket, h.of, at+1)
					note(lane, aPacket, at+1)
				}
			case !h.goesOn(at):
				e.log.bare(lane, at)
			}
		}
		for lane := range int32(lanes) {
			e.log.flush(lane)
		}
		got := e.log.inOrder()
		for lane := range lanes {
			from, to := got.lanes[lane], got.lanes[lane+1]
			require.Equal(t, len(want[lane]), int(to-from), "%d", i)
			for k := range want[lane] {
				at := from + int32(k)
				require.Equal(t, want[lane][k], uint64(got.of[at]), "%d: lane %d, %d", i, lane, k)
				require.Equal(t, kinds[lane][k], uint64(got.kinds[at]), "%d: lane %d, %d", i, lane, k)
			}
		}
	}
}
