package run

import "collsim/schedule"

// Nanoseconds that programs of ranks' own take to be written (see cost.go): of all algorithms that
// have such, on 300 to 2,500 ranks.
const (
	buildTime        = 600  // a step of a program of a rank's own,
	buildRolledTime  = 90   // or in a loop of it alone,
	buildWrittenTime = 1500 // or as it is written, loops once,
	buildSendTime    = 900  // and a message of it,
	buildListTime    = 10   // a block in a list,
	buildLaneTime    = 700  // and the lane;
	transposeTime    = 3000 // a step more, where it is another one read backwards,
	transposeRunTime = 90   // and a run of blocks of it;
	buildsToTime     = 2    // of what is not kept, so often more to count, bound and simulate it,
	buildsToProve    = 0.5
	buildsToCompute  = 1
)

// building is what it takes to write the programs of all ranks and to play them, in seconds, and
// how long those take, in nanoseconds, that are not kept and so written again when they are needed.
func building(s *schedule.Schedule, w, all work) (seconds, again float64) {
	once := float64(buildTime*float64(all.steps-all.rolled)) +
		float64(buildRolledTime*float64(all.rolled)) + float64(buildWrittenTime*float64(all.written)) +
		float64(buildSendTime*float64(all.sends)) + float64(buildListTime*float64(all.listed)) +
		float64(buildLaneTime*float64(all.lanes))
	if s.IsBackwards() {
		once += float64(transposeTime*float64(all.steps)) + float64(transposeRunTime*float64(all.strips))
	}
	again = once * max(0, 1-schedule.MaxCachedParts/max(float64(w.parts), 1))
	return 1e-9 * (once + float64(buildsToTime*again)), again
}
