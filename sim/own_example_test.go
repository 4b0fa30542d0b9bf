package sim_test

import (
	"fmt"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// A schedule of one's own is built, proven and timed. Two ranks exchange 1 MB and add it: α + n·β,
// here 2 us + 1 MB / 25 GB/s. Then the same schedule meets a network with a slow link.
func Example() {
	s, err := schedule.Build(schedule.Plan{Name: "exchange",
		Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
			Ranks: 2, Count: 250_000},
		Lane: func(l *schedule.Lane) {
			l.Send(l.Rank+1, l.All())
			l.Reduce(l.Rank+1, l.All())
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, violations := proof.Verify(s, proof.Options{})
	fmt.Println(len(violations), "violations")

	g, err := topology.FullMesh(2, 25*unit.Rate(unit.GB), 2*unit.Microsecond)
	if err != nil {
		fmt.Println(err)
		return
	}
	env := sim.Env{Graph: g, Device: device.Ideal(), Slots: 8}
	r, err := sim.Run(s, env, sim.Options{})
	fmt.Println(r.Time, r.LaneEnd, err)

	err = g.Override("gpu0->gpu1", topology.Change{Share: 500_000}) // millionths
	fmt.Println(err)
	r, err = sim.Run(s, env, sim.Options{})
	fmt.Println(r.Time, r.LaneEnd, err)
	// Output:
	// 0 violations
	// 42.0 us [42.0 us 42.0 us] <nil>
	// <nil>
	// 82.0 us [80.0 us 82.0 us] <nil>
}
