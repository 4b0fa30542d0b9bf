package run

import (
	"slices"
	"strings"

	"collsim/collective"
	"collsim/formats"
	"collsim/proof"
	"collsim/scenarios"
	"collsim/schedule"
)

// Verification is a schedule's proof, or why there is none.
type Verification struct {
	File       string
	Format     string             // one of Formats, or "scenario"
	ID         string             // of the scenario's point
	Name       string             // that the file gives the schedule
	Schedule   *schedule.Schedule // nil for a file of requests, which is no schedule
	Proof      *proof.Proof       // nil if there are violations, or no schedule
	Violations []Violation
	Slots      int              // what connections were taken to hold; 0 is as many as needed
	Causal     *schedule.Causal // what a schedule without data was held to; else nil
	Sizes      string           // that the file is for, in words; may be empty
	Ranges     []SizeRange      // verdicts by size, from the smallest on; nil: one for all
	Notes      []string         // what a reader should know besides
	Made       []string         // the calls of the file and who takes part in each, where it says so
	// Calls is the number of calls that are proven right, one after another without a barrier
	// between the ranks; 2 stands for any number. If it is 1, NextCall holds the violations of a
	// second call that begins on some ranks before all have ended the first.
	Calls    int
	NextCall []Violation
}

// VerifyOptions say how a schedule from a file is proven; the zero value is the usual way.
type VerifyOptions struct {
	// Slots is the number of messages that a connection holds. 0 leaves it to the file, or is as
	// many as needed where the file does not say; −1 is as many as needed in any case. The slots
	// that a file in our text form declares always hold.
	Slots int
	// Rendezvous has every send wait for its receive.
	Rendezvous bool
	// Iterations is the number of times that the schedule is run; 0 is the usual one. For our
	// text form that is 2 if it reaches into other ranks' buffers. For other formats it is 1,
	// since a caller may put a barrier between two calls; a schedule that is right in one call is
	// tried in two as well (Verification.Calls).
	Iterations int
	NoTraffic  bool              // who sends how much to whom is not asked: proof.Proof.Traffic is nil
	Progress   func(steps int64) // see proof.Options
}

// VerifyFile proves a schedule that ReadSchedule has read; name is what violations call the file.
func VerifyFile(name string, f *formats.File, o VerifyOptions) *Verification {
	v := &Verification{File: name, Format: f.Format, Name: f.Name, Causal: f.Causal, Sizes: f.Sizes,
		Notes: f.Notes, Made: f.Calls, Violations: []Violation{}}
	if f.Schedule == nil {
		for _, x := range f.Found {
			v.Violations = append(v.Violations, placed(name, f, x))
		}
		return v
	}
	s, options := provable(f, o)
	proven, found := proof.Verify(s, options)
	for _, x := range slices.Concat(f.Found, found) {
		v.Violations = append(v.Violations, placed(name, f, x))
	}
	if len(v.Violations) == 0 {
		v.Proof = proven
	}
	if v.Schedule, v.Slots = s, s.Slots; s.Spec.Empty() && f.Causal == nil {
		v.Notes = append(v.Notes[:len(v.Notes):len(v.Notes)], "there are no elements: of what becomes "+
			"of the data nothing was proven")
	}
	if v.Slots == 0 {
		v.Slots = options.Slots
	}
	if v.Proof != nil {
		v.backToBack(name, f, s, options)
	} else if raced(found) && relaxes(s) {
		v.Notes = append(v.Notes[:len(v.Notes):len(v.Notes)], relaxedNote)
	}
	v.Ranges = sizeRanges(name, f, o, v.Violations)
	return v
}

// provable returns the schedule of a file in the form to be proven, and the options of the proof.
func provable(f *formats.File, o VerifyOptions) (*schedule.Schedule, proof.Options) {
	s := f.Schedule
	if o.Slots != 0 && f.Format != formats.Text {
		s = withSlots(s, o.Slots)
	}
	options := proof.Options{Slots: max(o.Slots, 0), Iterations: o.Iterations,
		Rendezvous: o.Rendezvous, Causal: f.Causal, Scratches: f.Scratches, Traffic: !o.NoTraffic,
		Progress: o.Progress}
	if f.Format != formats.Text && o.Iterations == 0 {
		options.Iterations = 1
	}
	return s, options
}

// relaxedNote says what MSCCL++ says of such signals, in include/mscclpp/semaphore_device.hpp.
const relaxedNote = "a relaxed signal tells that a rank has begun its call, not that its stores " +
	"have arrived: \"no memory completion guarantee\" (MSCCL++, semaphore_device.hpp, relaxedSignal)"

func raced(found []*schedule.Violation) bool {
	return slices.ContainsFunc(found, func(x *schedule.Violation) bool {
		return x.Kind == schedule.Race
	})
}

// withSlots returns a schedule whose connections hold another number of messages; below 1 they
// hold as many as needed.
func withSlots(s *schedule.Schedule, slots int) *schedule.Schedule {
	other := *s
	other.Slots = max(slots, 0)
	return &other
}

// backToBack proves two calls of what is right in one, where they could meet.
func (v *Verification) backToBack(name string, f *formats.File, s *schedule.Schedule,
	o proof.Options) {
	v.Calls = max(v.Proof.Iterations, 1)
	if v.Calls > 1 || !s.OneSided() {
		v.Calls = 2
		return
	}
	o.Iterations = 1 + max(o.Scratches, 1) // the last call meets what the first has left
	o.Traffic = false
	_, found := proof.Verify(s, o)
	if len(found) == 0 {
		v.Calls = 2
	}
	for _, x := range found {
		v.NextCall = append(v.NextCall, placed(name, f, x))
	}
}

// relaxes reports whether a schedule has relaxed signals.
func relaxes(s *schedule.Schedule) bool {
	return s.AnyStep(func(step *schedule.Step) bool {
		return slices.ContainsFunc(step.Send, func(d schedule.Dest) bool { return d.Relaxed })
	})
}

// Verify proves the schedules of all points; for "fastest", those of all algorithms that it may
// turn out to be. What "all" stands for and cannot do it is left out, and so are sizes that a file
// cannot do where it has others. slots takes the place of sim.slots if it is not negative.
func (s *Scenario) Verify(slots int) (list []*Verification, err error) {
	for _, p := range s.Points {
		some, err := s.VerifyPoint(p, slots)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// VerifyPoint proves the schedules of one point of the scenario, as Verify does for all.
func (s *Scenario) VerifyPoint(p *scenarios.Point, slots int) (list []*Verification, err error) {
	defer func() { err = s.located(err) }()
	for _, a := range standsFor(p) {
		m, err := s.make(p, a)
		if leavesOut(err) && (s.mayLeaveOut(p) || a.Name != p.Algorithm.Name) {
			continue
		}
		if err != nil {
			return nil, p.Refuse("collective.algorithm", reason(err), "")
		}
		if err := s.fits(p, m, proves); err != nil {
			return nil, s.refuseLarge(p, err)
		}
		v := m.verify(s.nameOf(p), p, slots, nil)
		v.File, v.Format, v.ID = s.File, "scenario", p.ID
		if a.Name != p.Algorithm.Name {
			v.ID += ", " + a.String()
		}
		list = append(list, v)
	}
	return list, nil
}

// verify proves what a point is carried out as; file is what holds it.
func (m *made) verify(file string, p *scenarios.Point, slots int,
	progress func(steps int64)) *Verification {
	f := m.file
	if f == nil {
		f = &formats.File{Format: formats.Text, Name: m.whole.Name, Schedule: m.whole}
	}
	o := VerifyOptions{Slots: slots, NoTraffic: true, Progress: progress}
	if slots < 0 { // as in the scenario
		o.Slots = p.Sim.Slots
		if m.file != nil && m.file.Schedule.Slots > 0 {
			o.Slots = 0 // the file's own
		}
	} else if slots == 0 {
		o.Slots = -1
	}
	return VerifyFile(file, f, o)
}

// nameOf returns the name of the file that holds a point's schedule.
func (s *Scenario) nameOf(p *scenarios.Point) string {
	if src := s.files[p.Algorithm.String()]; src != nil && p.Algorithm.FromFile() {
		return src.name
	}
	return s.File
}

// ProofFits says what a proof of a schedule takes where that is more memory than there is.
func ProofFits(s *schedule.Schedule, free Memory) error {
	if s == nil || free.Bytes == 0 {
		return nil
	}
	return free.lacks(Takes{Proof: proofTakes(s, workOf(s))})
}

// Good reports whether nothing is wrong.
func (v *Verification) Good() bool { return len(v.Violations) == 0 }

// Proven describes what the proof shows, besides that there are no deadlocks and races. REQUIRES:
// there is a proof.
func (v *Verification) Proven() string {
	size := v.Schedule.Contents()
	if size.Tensors == 0 || size.Kernels+size.Collectives == 0 {
		return Proven(&v.Schedule.Spec, v.Causal)
	}
	text := "every result as defined"
	if open := v.Proof.Undefined; len(open) > 0 {
		text += " but " + strings.Join(open, ", ") + ", which nothing defines"
	}
	return text
}

// Proven describes what a proof of a collective shows, besides that there are no deadlocks and
// races.
func Proven(spec *collective.Spec, causal *schedule.Causal) string {
	kind := spec.Kind
	switch {
	case spec.Empty() && causal == nil:
		return "of the data nothing, there are no elements"
	case causal != nil && causal.Kind != collective.Custom:
		return "every rank has heard from all it needs"
	case kind == collective.Custom:
		return "every message received, nothing read that nobody wrote"
	case kind == collective.Barrier:
		return "nobody leaves before all have come"
	}
	return "every input once"
}
