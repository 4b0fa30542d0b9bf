package run

import (
	"errors"
	"fmt"

	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// Memory is how much of it there is, and whose that is ("this machine"). The zero value is not
// known: then nothing is refused for it.
type Memory struct {
	Bytes unit.Bytes
	Of    string
}

// placeBytes is what a simulation holds for every message that a lane may have on its way at once:
// as measured, direct all_to_all of 512 and 1024 ranks holds 1100 to 1150.
const placeBytes = 1200

// tooLarge is a schedule whose simulation takes more memory than there is.
type tooLarge struct {
	takes unit.Bytes
	free  Memory
}

func (e *tooLarge) Error() string {
	return fmt.Sprintf("its simulation takes about %v of memory: %s has %v left", e.takes, e.free.Of,
		e.free.Bytes)
}

// takes is the memory of a simulation, but for what does not grow with lanes and messages.
func (m *made) takes() (n unit.Bytes) {
	for _, member := range m.members {
		n += placeBytes * unit.Bytes(places(member.schedule)) * unit.Bytes(member.teams)
	}
	return n
}

// places is how many messages may be on their way at once: of every lane those of one step.
func places(s *schedule.Schedule) (n int64) {
	var step schedule.Step
	ranks := s.Alike()
	for rank := range ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			most := 1
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				most = max(most, len(step.Send))
			}
			n += int64(most)
		}
	}
	return n * int64(s.Spec.Ranks/ranks)
}

// small reports whether whatever an algorithm of ours makes of a point fits without a look: no
// rank has more lanes in a channel, or messages in a step, than there are ranks, twice.
func (s *Scenario) small(p *scenarios.Point) bool {
	n := unit.Bytes(p.Topology.Ranks)
	pairs := 2 * n * n * unit.Bytes(max(p.Algorithm.Channels, 1))
	return s.Free.Bytes == 0 || !p.Algorithm.FromFile() && pairs <= s.Free.Bytes/placeBytes
}

// fits says what is too large for the memory that there is.
func (s *Scenario) fits(p *scenarios.Point, m *made) error {
	if s.small(p) {
		return nil
	}
	if takes := m.takes(); takes > s.Free.Bytes {
		return &tooLarge{takes, s.Free}
	}
	return nil
}

// unaffordable refuses, before anything is run, the first point that takes more memory than there
// is, and says whether several at once might. What "all" and "fastest" stand for is left out when
// its turn comes.
func (s *Scenario) unaffordable(workers int) (together bool, err error) {
	for _, p := range s.Points {
		if s.small(p) {
			continue
		}
		together = true
		if p.Algorithm.Every || p.Algorithm.Name == fastestName {
			continue
		}
		m, err := s.make(p, p.Algorithm)
		if err != nil {
			continue // as the run will say
		}
		if err := s.fits(p, m); err != nil {
			return false, s.refuseLarge(p, err)
		}
	}
	return together && workers > 1, nil
}

// refuseLarge is what is too large as a point's refusal.
func (s *Scenario) refuseLarge(p *scenarios.Point, err error) error {
	var large *tooLarge
	if !errors.As(err, &large) {
		return err
	}
	return p.Refuse("topology.ranks", prose.Unprefixed(err), "fewer ranks, or an algorithm in which "+
		"a rank has fewer messages on their way at once, need less")
}
