package proof

import (
	"collsim/schedule"
	"collsim/unit"
)

// verifyTeams proves a schedule of teams that run concurrently. Teams that share a schedule share
// its proof. Sums and maxima over the teams make the proof of the whole.
func verifyTeams(s *schedule.Schedule, o Options) (*Proof, []*schedule.Violation) {
	all := Proof{KeepsRankOrder: true, SameTree: true}
	o.Progress = nil // of teams of several schedules, it would count anew for each
	proofs := map[*schedule.Schedule]*Proof{}
	for _, t := range s.Teams() {
		p := proofs[t.Schedule]
		if p == nil {
			var found []*schedule.Violation
			if p, found = verify(t.Schedule, o, t.Ranks); p == nil {
				return nil, found
			}
			proofs[t.Schedule] = p
			all.Walked += p.Walked
		}
		all.Rounds, all.MinSlots = max(all.Rounds, p.Rounds), max(all.MinSlots, p.MinSlots)
		all.Steps, all.Messages = all.Steps+p.Steps, all.Messages+p.Messages
		all.BytesSent = unit.AddCapped(all.BytesSent, p.BytesSent)
		for _, f := range p.Traffic {
			if f.From >= 0 {
				f.From = t.Ranks[f.From]
			}
			if f.To >= 0 {
				f.To = t.Ranks[f.To]
			}
			all.Traffic = append(all.Traffic, f)
		}
		all.InFlight = max(all.InFlight, p.InFlight)
		all.KeepsRankOrder = all.KeepsRankOrder && p.KeepsRankOrder
		all.SameTree = all.SameTree && p.SameTree
		all.Iterations = max(all.Iterations, p.Iterations)
	}
	sortFlows(all.Traffic)
	return &all, nil
}
