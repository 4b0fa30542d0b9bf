package run

import (
	"errors"
	"fmt"
	"runtime"

	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Memory holds an amount of memory, and whose it is ("this machine"). The zero value means that
// it is not known: then nothing is refused for lack of memory.
type Memory struct {
	Bytes unit.Bytes
	Of    string
}

// lacks says what is too large for the memory, nil if nothing is.
func (f Memory) lacks(t Takes) error {
	if f.Bytes == 0 || t.peak() <= f.Bytes {
		return nil
	}
	return &tooLarge{t, f}
}

// tooLarge is the error of a point that takes more memory than there is.
type tooLarge struct {
	takes Takes
	free  Memory
}

func (e *tooLarge) Error() string {
	stage, bytes := e.takes.most()
	what := "its " + stage
	if stage == "" || bytes < e.takes.Schedule {
		what = "its schedule"
	}
	return fmt.Sprintf("%s takes up to %v of memory: %s has %v left", what,
		rounded(e.takes.peak()), e.free.Of, e.free.Bytes)
}

// rounded rounds an estimate up to whole KiB, MiB or GiB.
func rounded(n unit.Bytes) unit.Bytes {
	for _, u := range []unit.Bytes{unit.GiB, unit.MiB, unit.KiB} {
		if n >= 8*u {
			return (n + u - 1) / u * u
		}
	}
	return n
}

// refusal converts the error to a refusal of its point. The stage that takes most
// memory decides which key and which hint it names.
func (e *tooLarge) refusal(p *scenarios.Point) *scenarios.Refusal {
	key, hint := "topology.ranks", "fewer ranks, or an algorithm in which a rank has fewer messages "+
		"on their way at once, need less"
	switch stage, _ := e.takes.most(); stage {
	case proofStage.Name:
		if hint = "fewer ranks or chunks need less"; e.takes.Simulation > 0 {
			hint = "check.proof = false does without; " + hint
		}
	case checkStage.Name:
		key, hint = "check.memory", "a smaller check.memory needs less, and checks less; "+
			"check.numbers = false does without"
	case "real execution":
		key, hint = "collective.bytes", "fewer bytes or ranks need less"
	}
	if p.OfProgram() && key == "collective.bytes" {
		key = "program"
	}
	return p.Refuse(key, e.Error(), hint)
}

// stages is a set of the stages that a command carries out for a point.
type stages uint8

const (
	proves stages = 1 << iota
	simulates
	logs  // what a simulation does
	draws // logs for pictures, which may be of one rank for many
	computes

	runs = proves | simulates | computes
)

// takes bounds what the stages take of what a point is carried out as, where so many threads check
// numbers.
func (m *made) takes(p *scenarios.Point, do stages, threads int) (t Takes) {
	for _, member := range m.members {
		s, teams := member.schedule, int64(member.teams)
		w, classes := workOn(s, graphOf(p)), int64(0)
		if do&simulates != 0 && s.Spec.Ranks >= foldedFrom {
			classes = classesOf(s, p)
		}
		logged := w.steps + w.transfers
		switch {
		case do&draws != 0 && drawnByClasses(s, p, w):
			logged = min(unit.MultiplyCapped(w.steps, classes)/int64(s.Spec.Ranks), sim.MostFolded)
		case do&logs != 0:
			classes = 0 // all ranks are simulated
		}
		u := Takes{Schedule: of(teams, int64(programsTake(s, p, w)))}
		if do&simulates != 0 {
			u.Simulation = of(teams, int64(simulationTakes(s, p, w, classes)))
		}
		if do&logs != 0 {
			u.Log = of(teams*logged, recordBytes)
		}
		if do&proves != 0 && p.Check.Proof {
			u.Proof = proofTakes(s, w)
		}
		if do&computes != 0 && p.Check.Numbers {
			u.Numbers = numbersTake(s, p, w, threads)
		}
		t = t.plus(u)
	}
	return t
}

// MostDrawn bounds the sub-steps that a picture shows one by one. Beyond it, where ranks form
// classes of equal ones, the picture shows one rank of each class, and repetitions once.
const MostDrawn = 1 << 24

// drawnByClasses reports whether a picture of a point shows classes.
func drawnByClasses(s *schedule.Schedule, p *scenarios.Point, w work) bool {
	return w.steps > MostDrawn && s.Group != nil && p.Device.GPU.SMs == 0 && classesOf(s, p) > 0
}

// small reports whether whatever an algorithm of ours makes of a point fits without a look, even
// where so many are carried out at once: no rank has more lanes in a channel, connections, messages
// in a step or blocks of a buffer than there are ranks, twice.
func (s *Scenario) small(p *scenarios.Point, a scenarios.Algorithm, at int) bool {
	const pairBytes = placeBytes + connectionBytes + stepBytes + 2*recordBytes
	n := unit.Bytes(p.Topology.Ranks)
	bytes := 2 * n * n * unit.Bytes(max(a.Channels, 1)) * pairBytes * unit.Bytes(at)
	if p.Check.Numbers {
		bytes += 2 * p.Check.Memory
	}
	return s.Free.Bytes == 0 || !a.FromFile() && len(a.Params) == 0 && a.Slices <= 1 &&
		bytes <= s.Free.Bytes
}

// fits says what is too large for the memory that there is.
func (s *Scenario) fits(p *scenarios.Point, m *made, do stages) error {
	if s.small(p, m.algorithm, 1) {
		return nil
	}
	return s.Free.lacks(m.takes(p, do, runtime.GOMAXPROCS(0)))
}

// asked holds points for which there is enough memory, with the schedules that were built to find
// out.
type asked map[*scenarios.Point]*made

// affordable refuses, before anything is run, the first point that takes more memory than there
// is, and says how many at once do not. What "all" and "fastest" stand for is left out when its
// turn comes; it comes alone.
func (s *Scenario) affordable(do stages, workers int) (known asked, together int, err error) {
	known, together = asked{}, workers
	for _, p := range s.Points {
		if s.small(p, p.Algorithm, workers) {
			continue
		}
		if p.Algorithm.Every || p.Algorithm.Name == fastestName {
			together = 1
			continue
		}
		m, err := s.make(p, p.Algorithm)
		if err != nil {
			continue // as the run will say
		}
		t := m.takes(p, do, runtime.GOMAXPROCS(0))
		if err := s.Free.lacks(t); err != nil {
			return nil, 0, s.refuseLarge(p, err)
		}
		known[p] = m
		together = max(1, min(together, int(s.Free.Bytes/max(t.peak(), 1))))
	}
	for _, p := range s.Programs {
		low, err := s.programFits(p, do)
		if err != nil {
			return nil, 0, err
		}
		if low != nil && len(s.Programs) == 1 { // of several, all would be held at once
			known[p.Point] = &made{program: low}
		}
	}
	return known, together, nil
}

// refuseLarge converts an error about memory to a refusal of the point, and returns other errors
// as they are.
func (s *Scenario) refuseLarge(p *scenarios.Point, err error) error {
	var large *tooLarge
	if !errors.As(err, &large) {
		return err
	}
	return large.refusal(p)
}
