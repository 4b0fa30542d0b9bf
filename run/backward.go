package run

import (
	"errors"
	"fmt"

	"collsim/collective"
	"collsim/proof"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// Gradient says what a backward pass is, and whether it is that of its forward pass.
type Gradient struct {
	Mode string // "full" or "local"
	Of   string // ID of the forward pass
	// By is "algorithm", "transpose" (the schedule run backwards), "fastest NAME" (of the backward
	// kind), or "local".
	By    string
	Scale float64 // that multiplies every element: 1/n of avg, the factor of premulsum, else 1
	Mask  bool    // of max and min: an element counts where the input equals the output
	// Law is "exact" where ⟨C x, y⟩ = ⟨x, Cᵀ y⟩ for random integers x and y, both schedules carried
	// out; of max and min with the mask on x and on Cᵀ y, which is itself held against its
	// definition. Of a local gradient it says that each rank's share is what the full gradient is
	// where no other rank's output counts. Else "mismatch", or Off.
	Law    string
	Count  int64  // on which the law was checked
	LawOff string // why not, where Law is Off
	// Passes counts the executions of the collective: two for a mask that needs the output of the
	// forward pass on ranks that do not have it, else one. Each rank begins the second when it
	// has ended the first.
	Passes int

	of   *scenarios.Point // the forward pass
	made *made            // its schedules
}

// passes returns how many times a result's collective is executed: Gradient.Passes times in a
// backward pass, else once.
func (r *Result) passes() int {
	if r.Gradient == nil {
		return 1
	}
	return r.Gradient.Passes
}

// rows returns the result, followed by that of its backward pass if there is one.
func (r *Result) rows() []*Result {
	if r.Backward == nil {
		return []*Result{r}
	}
	return []*Result{r, r.Backward}
}

// backward carries the backward pass of a result out, if the point asks for one, and returns its
// schedules.
func (r *runner) backward(m *made, forward *Result) (back *made, err error) {
	p := forward.Point
	if p.Gradient == scenarios.NoGradient {
		return nil, nil
	}
	g, err := collective.Gradient(p.Spec)
	if err != nil {
		return nil, p.Refuse("collective.gradient", err.Error(), "")
	}
	result := r.blank(p.Backward())
	forward.Backward, result.Algorithm = result, forward.Algorithm
	result.Gradient = &Gradient{Mode: p.Gradient.String(), Of: p.ID, Scale: g.Scale, Mask: g.Mask,
		Law: Off, LawOff: "check.numbers = false", Passes: 1, of: p, made: m}
	if p.Gradient == scenarios.LocalGradient {
		return nil, r.local(result)
	}
	if g.Mask && p.Spec.Kind != collective.AllReduce {
		result.Gradient.Passes = 2
	}
	back, result.Gradient.By, err = r.makeBackward(m, result)
	switch {
	case err != nil && p.Algorithm.Every:
		result.skipped = reason(err)
		return nil, nil
	case err != nil:
		return nil, p.Refuse("collective.gradient", err.Error(), "")
	}
	if err := r.carryOut(back, result); err != nil || !p.Check.Numbers {
		return back, err
	}
	r.numbers(func() { err = r.law(m, back, result) })
	if err != nil && !result.refuted(err) {
		return nil, p.Refuse("collective.gradient", err.Error(), "")
	}
	return back, nil
}

// makeBackward makes the schedules of a backward pass: by the algorithm of the forward pass where
// it does that kind; else those of the forward pass run backwards; else, where these add up or
// deliver something twice, by the fastest algorithm of that kind.
func (r *runner) makeBackward(m *made, result *Result) (back *made, by string, err error) {
	p := result.Point
	if _, err := find(p.Spec.Kind, m.algorithm.Name); err == nil && !m.algorithm.FromFile() {
		if back, err = r.s.make(p, m.algorithm); err == nil {
			p.Spec = back.members[0].schedule.Spec
			return back, "algorithm", nil
		}
	}
	if back, err = r.turnedBack(m, p); err == nil {
		return back, "transpose", nil
	}
	why := err
	p.Algorithm = scenarios.Algorithm{Name: fastestName, Channels: m.algorithm.Channels,
		Slices: m.algorithm.Slices}
	if back, err = r.choose(result); err != nil {
		result.Candidates = nil
		return nil, "", fmt.Errorf("%v has no %v to carry the gradient back, and its %v cannot be run "+
			"backwards: %w; of others: %s", m.algorithm, p.Spec.Kind, result.Point.Forward.Spec.Kind, why,
			reason(err))
	}
	return back, fastestName + " " + back.algorithm.Name, nil
}

// turnedBack returns the schedules of a forward pass run backwards.
func (r *runner) turnedBack(m *made, p *scenarios.Point) (back *made, err error) {
	back = &made{algorithm: m.algorithm}
	back.another = func(spec collective.Spec) (*schedule.Schedule, error) {
		forward := m.members[0].schedule.Spec
		forward.Count = spec.Count
		f, err := r.s.build(p, forward, m.algorithm)
		if err != nil {
			return nil, err
		}
		return turned(f.Schedule, spec)
	}
	for _, member := range m.members {
		member.schedule, err = turned(member.schedule, p.TeamSpec(member.schedule.Spec.Ranks))
		if err != nil {
			return nil, err
		}
		back.members = append(back.members, member)
	}
	back.whole = back.members[0].schedule
	p.Spec = back.whole.Spec // a schedule run backwards is in place where it was
	if p.Teams == nil {
		return back, nil
	}
	var teams []schedule.Part
	for _, ranks := range p.Teams {
		teams = append(teams, schedule.Part{Ranks: ranks, Schedule: back.of(len(ranks))})
	}
	back.whole, err = schedule.Compose(teams[0].Schedule.Name, p.Topology.Ranks, nil, teams)
	return back, err
}

// turned returns the schedule with all messages reversed, for the collective of its gradient. It
// fails for a schedule that reduces, and for one whose reverse has a violation, such as data
// delivered twice.
func turned(s *schedule.Schedule, spec collective.Spec) (*schedule.Schedule, error) {
	if s.Spec.Kind.Reduces() {
		return nil, errors.New("it adds up")
	}
	t, err := schedule.Transpose(s, spec.Op)
	if err != nil {
		return nil, err
	}
	if _, found := proof.Verify(t, proof.Options{}); len(found) > 0 {
		return nil, fmt.Errorf("it delivers something twice: %v", found[0])
	}
	return t, nil
}

// local checks a local gradient, which moves nothing and takes no time.
func (r *runner) local(result *Result) error {
	p, g := result.Point, result.Gradient
	g.By = "local"
	result.Timed, result.Engine = true, "none"
	result.Rounds = 0
	if !p.Check.Numbers {
		return nil
	}
	g.Law, g.LawOff = string(reference.NumbersExact), ""
	result.RanksAgree, result.checkedAll = true, true
	for _, team := range p.Members() {
		wrong, count, err := reference.AdjointLocal(p.TeamSpec(len(team)), uint64(p.Seed))
		if err != nil {
			return p.Refuse("collective.gradient", err.Error(), "")
		}
		if g.Count = count; wrong > 0 {
			g.Law = string(reference.NumbersMismatch)
		}
		result.Wrong += wrong
	}
	result.Numbers, result.Checked, result.Data = g.Law, g.Count, reference.Exact.String()
	result.checkedAll = true
	if p.Data.Any() {
		return r.shares(result)
	}
	return nil
}
