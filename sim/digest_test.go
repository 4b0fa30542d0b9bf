package sim_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestDigests holds all that runs tell, lane ends, counts, traces and critical paths, to what they
// told when testdata/digests was written: a change of one picosecond anywhere changes a digest.
// Where another test fails, that one says what is wrong; where these alone fail, a rule has changed
// that has no test.
//
//	random from=N to=N   random schedules on random networks and devices, by seed
//	algorithms           all algorithms of a kind on 2 to 8 ranks, on four devices and with both
//	                     ways of sharing; by=turns: with one of these eight
//
// The long tier has further ones in testdata/digests-long: with -tags long, -rewrite writes both.
func TestDigests(t *testing.T) {
	datadriven.RunTest(t, "testdata/digests", digested)
	if tier.Long {
		datadriven.RunTest(t, "testdata/digests-long", digested)
	}
}

// digested is what a command prints.
func digested(t *testing.T, d *datadriven.TestData) string {
	sum := digest{Hash: sha256.New(), byTurns: d.HasArg("by")}
	switch d.Cmd {
	case "random":
		var from, to uint64
		d.ScanArgs(t, "from", &from)
		d.ScanArgs(t, "to", &to)
		for seed := from; seed < to; seed++ {
			sum.random(t, rand.New(rand.NewPCG(seed, 7)))
		}
	case "algorithms":
		for _, kind := range collective.Kinds() {
			for _, a := range algos.ForKind(kind) {
				sum.algorithm(t, kind, a)
			}
		}
	default:
		d.Fatalf(t, "no command %q", d.Cmd)
	}
	return fmt.Sprintf("%d runs, %d refused: %x\n", sum.runs, sum.refused, sum.Sum(nil)[:12])
}

// digest is a hash of runs.
type digest struct {
	hash.Hash
	byTurns             bool
	turn, runs, refused int
}

// random adds a schedule without sense.
func (d *digest) random(t testing.TB, rng *rand.Rand) {
	s := simtest.Schedule(rng, true)
	env := simtest.Env(t, rng, s.Spec.Ranks)
	d.run(simtest.Extended(t, rng, s, env.Graph), env)
}

// algorithm adds an algorithm in several sizes on several devices.
func (d *digest) algorithm(t testing.TB, kind collective.Kind, a algos.Algorithm) {
	for ranks := 2; ranks <= 8; ranks++ {
		s, err := a.Build(specOf(kind, ranks), algos.Options{Slices: 1 + ranks%3})
		if err != nil { // it needs another number of ranks
			continue
		}
		d.turn++
		for _, sharing := range []sim.Sharing{sim.Fluid, sim.FIFO} {
			for i := range 4 {
				if d.byTurns && 4*int(sharing)+i != d.turn%8 {
					continue
				}
				g, err := topology.Switch(ranks, 3e9, 700*unit.Nanosecond)
				require.NoError(t, err)
				env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: 8}
				dev := &env.Device
				if i > 0 {
					dev.Overhead, dev.ReduceRate, dev.LaneRate = 40*unit.Nanosecond, 5e9, 2e9
					dev.SlotLatency = 90 * unit.Nanosecond
				}
				switch i {
				case 1:
					dev.Offload, dev.Queue = true, 2
				case 2:
					dev.SendBuffer, dev.EagerLimit, dev.ReceivesAhead = 500, 300, 1
				}
				d.run(s, env)
			}
		}
	}
}

// run adds a run.
func (d *digest) run(s *schedule.Schedule, env sim.Env) {
	d.runs++
	r, err := sim.Run(s, env, sim.Options{Trace: true, Critical: true})
	if err != nil {
		d.refused++
		fmt.Fprintf(d, "%v\n", err)
		return
	}
	d.add(r.Time, r.Steps, r.Messages, r.BytesSent, r.LinkBytes)
	for _, list := range [][]unit.Time{r.LaneEnd, r.LinkBusy} {
		d.add(list)
	}
	d.add(r.LinkLoad, r.Trace.End)
	for _, v := range r.Trace.Tracks {
		d.add(v.Rank, v.Lane)
	}
	for _, v := range r.Trace.Intervals {
		d.add(v.Track, v.Kind, v.Verb, v.Chunk, v.Slice, v.Round, v.Peer, v.Bytes, v.Ready, v.Start,
			v.Done, v.End)
	}
	for _, v := range r.Trace.Messages {
		d.add(v.From, v.To, v.Sent, v.Arrived, v.Bytes, v.FromStep, v.ToStep)
	}
	for _, c := range r.Trace.Counters {
		fmt.Fprintln(d, c.Name)
		d.add(c.Samples)
	}
	for _, p := range r.Critical {
		d.add(p.What, p.Link, p.Rank, p.Lane, p.Step, p.From, p.To)
	}
}

// add adds numbers, and lists of them.
func (d *digest) add(values ...any) {
	for _, v := range values {
		if err := binary.Write(d, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}
