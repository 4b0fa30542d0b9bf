package fold

import (
	"errors"
	"math"

	"collsim/schedule"
	"collsim/sim/model"
)

// RunEither simulates a schedule with Run if its ranks are alike, and otherwise with RunUneven if
// that is able to. Errors are those of Run.
func RunEither(s *schedule.Schedule, env *model.Env) (*model.Totals, error) {
	return runEither(s, env, func() (*model.Totals, error) { return Run(s, env) })
}

func runEither(s *schedule.Schedule, env *model.Env,
	run func() (*model.Totals, error)) (*model.Totals, error) {
	isUneven := isChanged(s, env)
	if isUneven { // Run would look at all routes
		if totals, err := RunUneven(s, env); err == nil {
			return totals, nil
		}
	}
	totals, err := run()
	var cannot *NotFolded
	if !isUneven && errors.As(err, &cannot) && !cannot.IsLong {
		if uneven, err := RunUneven(s, env); err == nil {
			return uneven, nil
		}
	}
	return totals, err
}

// isChanged reports whether some links differ from those that the network was made with, but no
// more of them than RunUneven handles.
func isChanged(s *schedule.Schedule, env *model.Env) bool {
	changes := len(env.Graph.Changes())
	return changes > 0 && changes <= mostUnevenRamps(int32(s.Spec.Ranks))
}

// RunBriefly simulates as RunEither does, but gives up where simulating all ranks may be quicker.
// Where few ranks are alike, it may take long until a steady state repeats itself.
func RunBriefly(s *schedule.Schedule, env *model.Env) (*model.Totals, error) {
	return runEither(s, env, func() (*model.Totals, error) { return simulateAtMost(s, env, Brief(s)) })
}

// A sub-step takes some hundred times as long here as one that is swept, if lanes keep their peers,
// and for long enough: to find the way to a peer takes as long. So few are no matter.
const (
	sweptMeanwhile = 1024
	fewSteps       = 1 << 14
	keptFor        = 16 // steps of a lane
)

// Brief returns the largest number of sub-steps that RunBriefly simulates of a schedule with a
// group; math.MaxInt64 where it sets no limit.
func Brief(s *schedule.Schedule) int64 {
	if s.Teams() != nil || schedule.Composed(s) {
		return math.MaxInt64
	}
	var step schedule.Step
	p, all, isQuick := s.Program(0), int64(0), true
	for lane := range p.Lanes() {
		isQuick = isQuick && p.Written(lane, &step, func(times int64, isSame bool) bool {
			all += times * int64(p.Slices(lane))
			return isSame || len(step.Send) == 0
		})
	}
	if !isQuick || all < keptFor*int64(p.Lanes()) {
		return math.MaxInt64
	}
	return max(all*int64(s.Spec.Ranks)/sweptMeanwhile, fewSteps)
}
