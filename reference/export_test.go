package reference

import "collsim/schedule"

// SampleOutputs computes some output elements of a schedule, and nothing but what they depend on,
// on the inputs of a check: their ranks, where they stand, and what they are.
func SampleOutputs(s *schedule.Schedule, o CheckOptions) (ranks []int, at []int64, got []float32,
	err error) {
	g := newGenerator[float32](&s.Spec, o.Data, o.Seed)
	list, got, _, err := sampleOf(s, &o, g.fill)
	for _, out := range list {
		ranks, at = append(ranks, out.rank), append(at, out.at)
	}
	return ranks, at, got, err
}
