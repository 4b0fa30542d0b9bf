package schedule

import (
	"fmt"

	"collsim/collective"
	"collsim/symmetry"
)

// ComposeFolded does what Compose does, for ranks that stand for others. Rank i of the whole is
// alike.Reps[i] of all; what it does, every rank does that a translation takes it to. Ranks of
// parts are those of the whole. A part that also has other ranks has a Fold (FoldTeam). Peers in
// steps are ranks of the whole. Tags of connections, modulo the number of translations, are the
// numbers of those across which they lead, as seen from the sender. The result has no text.
//
// REQUIRES: Fold.Fits, of each part that has steps.
func ComposeFolded(name string, alike *symmetry.Subgroup, tensors []Tensor, parts []Part) (
	*Schedule, error) {
	c, err := startComposing(name, len(alike.Reps), tensors)
	if err != nil {
		return nil, err
	}
	c.s.Alike = alike
	return c.composed(parts)
}

// FoldWhole returns a schedule as a folded one of one part, which all ranks execute and launch at
// once. The translations must make no difference to time (TimingOf). It is for simulations: what a
// rank reads need not be what another one does, translated.
//
// REQUIRES: no teams, no parts, no tensors.
func FoldWhole(s *Schedule, alike *symmetry.Subgroup) (*Schedule, error) {
	all := make([]int, s.Spec.Ranks)
	for rank := range all {
		all[rank] = rank
	}
	ranks, f, err := FoldTeam(alike, all)
	if err != nil {
		return nil, err
	}
	var tensors []Tensor
	var memory []Place
	for b, n := range []int64{s.Len(Input, 0), s.Len(Output, 0), s.Memory} {
		memory = append(memory, Place{Tensor: FirstTensor + Buffer(b)})
		tensors = append(tensors, Tensor{Name: "of_" + Buffer(b).String(), Type: s.Spec.Type,
			Shape: collective.Shape{n}})
	}
	whole := Part{Name: "all", Schedule: s, Ranks: ranks, Fold: f, Memory: memory,
		Launch: &Launch{Name: "all"}}
	return ComposeFolded("all", alike, tensors, []Part{whole})
}

// ComposeLike composes further parts of a composed schedule: of its ranks, on its tensors.
func ComposeLike(s *Schedule, name string, parts []Part) (*Schedule, error) {
	if s.Alike != nil {
		return ComposeFolded(name, s.Alike, s.Tensors, parts)
	}
	return Compose(name, s.Spec.Ranks, s.Tensors, parts)
}

// Fits explains why a schedule cannot be folded so; empty if it can. Its group must have the
// translations, all its blocks must be of one size, and nobody may access another rank's memory.
func (f *Fold) Fits(s *Schedule) string {
	switch {
	case len(f.Across) != s.Spec.Ranks:
		return fmt.Sprintf("%d ranks are to execute a schedule of %d", len(f.Across), s.Spec.Ranks)
	case s.Group == nil:
		return "it declares no group"
	case !s.SameSizes():
		return "its blocks are not of one size"
	case s.OneSided():
		return "it accesses the memory of other ranks"
	}
	for _, move := range f.moves {
		for seat, to := range move {
			if s.Group.Add(int32(seat), move[0]) != to {
				return "its group does not have the translations of the whole"
			}
		}
	}
	return ""
}

// NotFolded is the error of what cannot be folded.
type NotFolded struct{ Why string }

// Error returns the reason.
func (e *NotFolded) Error() string { return e.Why }
