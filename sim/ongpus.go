package sim

import (
	"errors"
	"slices"

	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/fold"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// The fold engine knows no GPUs. On these, a schedule whose ranks do the same is simulated as a
// folded schedule of one part (folded.go): the event engine has GPUs, and one rank of each class.

// foldedBy simulates a schedule by an engine of package fold, or on GPUs as one part.
func foldedBy(run func(*schedule.Schedule, *Env) (*model.Totals, error), s *schedule.Schedule,
	env *Env) (*model.Totals, error) {
	totals, err := run(s, env)
	var cannot *NotFolded
	if errors.As(err, &cannot) {
		if t := onePart(s, *env); t != nil {
			return t, nil
		}
	}
	return totals, err
}

// onePart simulates a schedule on GPUs by ranks that stand for others. It returns nil where that
// cannot be done.
func onePart(s *schedule.Schedule, env Env) *model.Totals {
	alike := alikeOnGPUs(s, &env)
	if alike == nil {
		return nil
	}
	whole, err := schedule.FoldWhole(s, alike)
	if err != nil || FoldedEnv(&env, alike) != nil {
		return nil
	}
	env.Orbits = model.NewOrbits(env.Graph, alike)
	totals, err := event.Run(whole, &env, nil)
	if err != nil { // which is reported of all ranks
		return nil
	}
	idle(totals, s, &env, alike)
	return ofClasses(totals, &env, alike)
}

// alikeOnGPUs returns the largest known symmetry of a schedule on GPUs; nil if there is none.
func alikeOnGPUs(s *schedule.Schedule, env *Env) *symmetry.Subgroup {
	timing := schedule.TimingOf(s)
	if timing == nil || env.Device.GPU.SMs == 0 || s.OneSided() || s.Teams() != nil ||
		schedule.Composed(s) || len(s.Tensors) > 0 || s.AnyStep(launches) {
		return nil
	}
	for _, steps := range fold.Subgroups(timing) {
		alike := symmetry.NewSubgroup(timing.Group, steps)
		folded := *env
		if FoldedEnv(&folded, alike) == nil && notAlike(s, alike, env, Options{}) == "" {
			return alike
		}
	}
	return nil
}

// launches reports whether a step begins a bracket, or computes.
func launches(step *schedule.Step) bool { return step.Launch != nil || step.Kernel != nil }

// idle has lanes without steps end when their rank begins: in a part they are launched.
func idle(t *model.Totals, s *schedule.Schedule, env *model.Env, alike *symmetry.Subgroup) {
	i := 0
	for class, rank := range alike.Reps {
		p := s.Program(int(rank))
		for lane := range p.Lanes() {
			if at := p.Walk(lane); at.Done() {
				if t.LaneEnd[i] = 0; env.Start != nil {
					t.LaneEnd[i] = env.Start[class]
				}
			}
			i++
		}
	}
	t.Time = slices.Max(t.LaneEnd)
}

// ofClasses returns the results of classes as those of all their ranks and links.
func ofClasses(t *model.Totals, env *model.Env, alike *symmetry.Subgroup) *model.Totals {
	times, links := len(alike.Elements), env.Orbits.Members(env.Graph)
	r := *t
	r.Steps *= int64(times)
	r.Messages *= int64(times)
	r.BytesSent *= unit.Bytes(times)
	r.LinkBytes *= unit.Bytes(times)
	class := func(rank int) int {
		class, _ := alike.Place(int32(rank))
		return int(class)
	}
	var used [][]int32
	var orbits []model.Orbit
	for i, of := range links {
		if t.LinkLoad[i] > 0 {
			used = append(used, of)
			orbits = append(orbits, model.Orbit{First: of[0], Links: len(of), Busy: t.LinkBusy[i],
				Load: t.LinkLoad[i]})
		}
	}
	members := func(orbit int, visit func(link int)) {
		for _, link := range used[orbit] {
			visit(int(link))
		}
	}
	f := model.NewFolded(alike.Group.Order(), env.Graph.NumLinks(), class, members)
	f.Ends, f.Lanes, f.Orbits = t.LaneEnd, len(t.LaneEnd)/len(alike.Reps), orbits
	r.Folded = f
	r.LaneEnd, r.LinkBusy, r.LinkLoad = nil, nil, nil
	return &r
}
