package extern

import (
	"fmt"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/program"
	"collsim/proof"
	"collsim/random"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// on is how long a schedule takes behind a switch, where messages wait for each other at links.
func on(s *schedule.Schedule, bandwidth unit.Rate, latency unit.Time) (unit.Time, error) {
	graph, err := topology.Switch(s.Spec.Ranks, bandwidth, latency)
	if err != nil {
		return 0, err
	}
	r, err := sim.Run(s, sim.Env{Graph: graph, Device: device.Ideal(), Slots: 8, Sharing: sim.FIFO},
		sim.Options{})
	if err != nil {
		return 0, err
	}
	return r.Time, nil
}

// TestTwiceAsSlow is a property of random schedules: where every byte and every link takes twice as
// long, all does. A byte takes 1,000 ps or 2,000: nothing is rounded.
func TestTwiceAsSlow(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	properties.Property("twice as slow", prop.ForAll(func(s random.Schedule) (bool, error) {
		fast, err := on(s.Schedule, unit.Rate(unit.GB), unit.Microsecond)
		if err != nil {
			return false, err
		}
		slow, err := on(s.Schedule, unit.Rate(unit.GB)/2, 2*unit.Microsecond)
		return slow == 2*fast, err
	}, random.Schedules()))
	properties.TestingRun(t)
}

// firstOf carries the calls of programs out by the first algorithm of the table.
func firstOf(spec collective.Spec, name string, _ []int, _ bool) (program.Chosen, error) {
	if name == "" {
		name = algos.ForKind(spec.Kind)[0].Name
	}
	a, err := algos.Find(spec.Kind, name)
	if err != nil {
		return program.Chosen{}, err
	}
	s, err := a.Build(spec, algos.Options{})
	return program.Chosen{Schedule: s, Name: name}, err
}

// TestReuse is a property of random programs: tensors that lie where others lay take no more memory,
// and not less than what is in use at once.
func TestReuse(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(2))
	properties.Property("reuse takes no more memory", prop.ForAll(func(p random.Program) string {
		apart, err := program.Lower(p.Program, program.Lowering{}, firstOf)
		require.NoError(t, err)
		together, err := program.Lower(p.Program, program.Lowering{Reuse: true}, firstOf)
		require.NoError(t, err)
		if _, found := proof.Verify(together.Schedule, proof.Options{}); len(found) > 0 {
			return found[0].Error()
		}
		if is, was := together.Memory, apart.Memory; is.Bytes > was.Bytes || is.Bytes < was.Peak {
			return fmt.Sprintf("%v, at least %v; %v without", is.Bytes, was.Peak, was.Bytes)
		}
		return ""
	}, random.Programs()))
	properties.TestingRun(t)
}

// TestBytesTakeTime is a property of random algorithms: no link carries bytes faster than it can, so
// that the time is at least what a rank's share of all bytes takes.
func TestBytesTakeTime(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(3))
	properties.Property("bytes take time", prop.ForAll(func(s random.Schedule) string {
		proven, found := proof.Verify(s.Schedule, proof.Options{})
		if len(found) > 0 {
			return found[0].Error()
		}
		took, err := on(s.Schedule, unit.Rate(unit.GB), 0)
		if err != nil {
			return err.Error()
		}
		if least := unit.Time(proven.BytesSent) * unit.Nanosecond / unit.Time(s.Spec.Ranks); took < least {
			return fmt.Sprintf("%v; all ranks together send for %v each", took, least)
		}
		return ""
	}, random.Algorithms()))
	properties.TestingRun(t)
}
