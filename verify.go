package collsim

import (
	"errors"
	"fmt"
	"strings"

	"collsim/collective"
	"collsim/scenarios"
	"collsim/schedule"
)

// Verification is a schedule's proof, or why there is none.
type Verification struct {
	File       string
	Format     string // "schedule" or "scenario"
	ID         string // of the scenario's point
	Schedule   *schedule.Schedule
	Proof      *schedule.Proof // nil if there are violations
	Violations []Violation
}

// VerifySchedule reads a schedule in its text form and proves it. slots is what a connection holds
// that does not declare its own; 0 is as many as it needs. What cannot be read is a
// *scenarios.Error with its line.
func VerifySchedule(file string, text []byte, slots int) (*Verification, error) {
	s, err := schedule.Parse(string(text))
	var wrong *schedule.ParseError
	if errors.As(err, &wrong) {
		return nil, &scenarios.Error{File: file, Line: wrong.Line, Text: wrong.Text}
	}
	if err != nil {
		return nil, &scenarios.Error{File: file, Text: unprefixed(err)}
	}
	return verify(file, "schedule", s, slots), nil
}

// Verify proves the schedules of all points; for "fastest", those of all algorithms that it may
// turn out to be. What "all" stands for and cannot do it is left out. slots takes the place of
// sim.slots if it is not negative.
func (s *Scenario) Verify(slots int) ([]*Verification, error) {
	var list []*Verification
	for _, p := range s.Points {
		n := slots
		if n < 0 {
			n = p.Sim.Slots
		}
		for _, a := range standsFor(p) {
			m, err := s.make(p, a)
			if leavesOut(err) && (p.Algorithm.Every || a.Name != p.Algorithm.Name) {
				continue
			}
			if err != nil {
				return nil, p.Error("collective.algorithm", unprefixed(err), "")
			}
			v := verify(s.File, "scenario", m.whole, n)
			v.ID = p.ID
			if a.Name != p.Algorithm.Name {
				v.ID += ", " + a.String()
			}
			list = append(list, v)
		}
	}
	return list, nil
}

func verify(file, format string, s *schedule.Schedule, slots int) *Verification {
	proof, found := schedule.Verify(s, schedule.VerifyOptions{Slots: max(slots, 0)})
	return &Verification{File: file, Format: format, Schedule: s, Proof: proof,
		Violations: violations(found)}
}

// Good reports whether the schedule is proven.
func (v *Verification) Good() bool { return len(v.Violations) == 0 }

// Text is a few lines that say what is proven of the schedule, or every violation.
func (v *Verification) Text() string {
	var b strings.Builder
	spec := v.Schedule.Spec
	name := v.File
	if v.ID != "" {
		name += ": " + v.ID
	}
	if !v.Good() {
		for _, violation := range v.Violations {
			fmt.Fprintf(&b, "%s: %v\n", name, violation)
		}
		return b.String()
	}
	problem, every := spec.Kind.String(), "every input once"
	if spec.Op != 0 {
		problem += " " + spec.Op.String()
	}
	problem += " on " + plural(spec.Ranks, "rank")
	if spec.Kind == collective.Barrier {
		every = "nobody leaves before all have come"
	} else {
		problem += fmt.Sprintf(", %v of %v", spec.Bytes(), spec.Type)
	}
	fmt.Fprintf(&b, "%s: proved\n  problem  %s\n", name, problem)
	fmt.Fprintf(&b, "  proof    %s, no deadlock (FIFO depth %d), no race\n", every,
		v.Proof.MinSlots)
	fmt.Fprintf(&b, "  moves    %s, %s, %d bytes sent\n", plural(v.Proof.Rounds, "round"),
		plural(v.Proof.Messages, "message"), v.Proof.BytesSent)
	if spec.Kind.Reduces() {
		order, tree := "not in rank order: the operator must commute", ""
		if v.Proof.KeepsRankOrder {
			order = "in rank order"
		}
		if !v.Proof.SameTree {
			tree = "; ranks add in different orders: bits may differ"
		}
		fmt.Fprintf(&b, "  sums     %s%s\n", order, tree)
	}
	return b.String()
}

func plural[T int | int64](n T, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// jsonVerification is a contract as jsonReport is.
type jsonVerification struct {
	File       string      `json:"file"`
	Format     string      `json:"format"`
	ID         any         `json:"id"`
	Kind       string      `json:"kind"`
	Ranks      int         `json:"ranks"`
	OK         bool        `json:"ok"`
	Violations []Violation `json:"violations"`
	MinSlots   any         `json:"min_slots"` // here and below: null without a proof
	Rounds     any         `json:"rounds"`
	Messages   any         `json:"messages"`
	BytesSent  any         `json:"bytes_sent"`
	RankOrder  any         `json:"keeps_rank_order"`
	SameTree   any         `json:"same_tree"`
}

// VerificationJSON writes verifications: an object for one, an array of them for several.
func VerificationJSON(list ...*Verification) ([]byte, error) {
	all := make([]jsonVerification, len(list))
	for i, v := range list {
		j := jsonVerification{File: v.File, Format: v.Format, ID: known(v.ID != "", v.ID),
			Kind: v.Schedule.Spec.Kind.String(), Ranks: v.Schedule.Spec.Ranks, OK: v.Good(),
			Violations: v.Violations}
		if p := v.Proof; p != nil {
			j.MinSlots, j.Rounds, j.Messages = p.MinSlots, p.Rounds, p.Messages
			j.BytesSent, j.RankOrder, j.SameTree = p.BytesSent, p.KeepsRankOrder, p.SameTree
		}
		all[i] = j
	}
	if len(all) == 1 {
		return encode(all[0], "  ")
	}
	return encode(all, "  ")
}
