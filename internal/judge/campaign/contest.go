package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"collsim/internal/judge"
	"collsim/internal/judge/vary"
	"collsim/proof"
	"collsim/schedule"
)

// A contest compares the proof and the judge on the same schedules.
type contest struct {
	seed       uint64
	bases      *collection
	calls      []int // numbers of successive calls that each schedule is judged for
	rendezvous bool
	states     int // bound of the states of an exploration
	every      int // one of so many right schedules is explored; 0: none
}

// A result is the comparison of one schedule.
type result struct {
	index    int
	made     string // how it was made
	text     string
	skipped  bool // too large, or neither reader accepts it
	right    bool // both find it right, for some number of calls
	explored int  // completed explorations
	given    int  // abandoned explorations
	kind     string
	why      string // description of a disagreement; "" if none
}

// try makes the schedule of an index, and compares. The same index gives the same schedule.
func (c *contest) try(index int) result {
	luck := rand.New(rand.NewPCG(c.seed, uint64(index)))
	made, text := c.make(luck)
	r := c.compare(text, index)
	r.index, r.made, r.text = index, made, text
	return r
}

// make returns a schedule: a random one, or a base with some changes in its steps or its text.
func (c *contest) make(luck *rand.Rand) (made, text string) {
	if luck.IntN(4) == 0 {
		p, made := vary.Random(luck), "random"
		if luck.IntN(3) == 0 {
			made += ", " + vary.Mutate(p, luck)
		}
		return made, p.String()
	}
	from := c.bases.algorithms
	if luck.IntN(3) == 0 {
		from = c.bases.scripts
	}
	b := from[luck.IntN(len(from))]
	if luck.IntN(4) == 0 {
		return b.name + ", text", vary.Text(b.text, luck)
	}
	p, made := b.plan.Clone(), b.name
	for changes := luck.IntN(4); changes > 0; changes-- {
		for range 10 {
			if what := vary.Mutate(p, luck); what != "" {
				made += ", " + what
				break
			}
		}
	}
	return made, p.String()
}

// compare runs both on a text, and explores schedules that both find right.
func (c *contest) compare(text string, index int) (r result) {
	defer func() {
		if e := recover(); e != nil {
			r.kind, r.why = "panic", fmt.Sprint(e)
		}
	}()
	seed := uint64(index)
	p, readErr := judge.Read(text)
	if errors.Is(readErr, judge.ErrLarge) || readErr == nil && !fits(p) {
		return result{skipped: true}
	}
	s, parseErr := schedule.Parse(text)
	switch {
	case parseErr != nil && readErr != nil:
		return result{skipped: true}
	case parseErr != nil || readErr != nil:
		return c.compareRefusal(p, s, parseErr, readErr, seed)
	}
	for _, calls := range c.calls {
		if c.judge(&r, p, s, calls, index); r.why != "" {
			break
		}
	}
	return r
}

// compareRefusal handles a text that one reader refuses: the other must find it wrong.
func (c *contest) compareRefusal(p *judge.Plan, s *schedule.Schedule, parseErr, readErr error,
	seed uint64) (r result) {
	if parseErr != nil {
		if v := judge.Judge(p, judge.Options{Calls: 1, Seed: seed}); v.Finding == judge.Right {
			r.kind, r.why = "refused/right", "the library cannot read it: "+parseErr.Error()
		}
		return r
	}
	if _, found := proof.Verify(s, proof.Options{Iterations: 1}); len(found) == 0 {
		r.kind, r.why = "right/refused", "the judge cannot read it: "+readErr.Error()
	}
	return r
}

// judge compares the verdicts for a number of calls, and the facts about right schedules.
func (c *contest) judge(r *result, p *judge.Plan, s *schedule.Schedule, calls, index int) {
	proven, found := proof.Verify(s, proof.Options{Iterations: calls,
		Rendezvous: c.rendezvous})
	v := judge.Judge(p, judge.Options{Calls: calls, Rendezvous: c.rendezvous,
		Seed: uint64(index)})
	when := fmt.Sprintf(" in %d calls", calls)
	if c.rendezvous {
		when += ", rendezvous"
	}
	if mine := v.Finding == judge.Right; mine != (len(found) == 0) {
		r.kind = classOf(found) + "/" + v.Finding.String() + when
		r.why = explain(found, v)
		return
	} else if !mine {
		return
	}
	r.right = true
	reduces := strings.HasPrefix(p.Problem.Kind, "reduce") || p.Problem.Kind == "all_reduce"
	for _, fact := range []struct {
		name         string
		theirs, mine any
	}{
		{"slots", proven.MinSlots, v.Slots},
		{"messages", int(proven.Messages), v.Messages},
		{"rank order", proven.KeepsRankOrder || !reduces, v.InOrder || !reduces},
		{"same tree", proven.SameTree, v.SameTree},
	} {
		if fact.theirs != fact.mine {
			r.kind = fact.name + when
			r.why = fmt.Sprintf("%s: the proof says %v, the judge %v", fact.name, fact.theirs, fact.mine)
			return
		}
	}
	if c.every > 0 && index%c.every == 0 && !c.rendezvous {
		c.explore(r, p, calls, v.Slots)
	}
}

// explore tries all interleavings of a right schedule. With any number of slots, and with the least
// number, none may fail; with one slot less, some must deadlock.
func (c *contest) explore(r *result, p *judge.Plan, calls, least int) {
	numbers := []int{0, least}
	if least > 1 {
		numbers = append(numbers, least-1)
	}
	for _, slots := range numbers {
		x := judge.Explore(p, judge.Limits{Calls: calls, Slots: slots, States: c.states})
		if !x.Whole {
			r.given++
			return
		}
		r.explored++
		deadlock := strings.HasPrefix(x.Wrong, "deadlock")
		if few := slots > 0 && slots < least; few != deadlock || !few && x.Wrong != "" {
			r.kind = fmt.Sprintf("exploration of %d calls", calls)
			r.why = fmt.Sprintf("with %d slots of %d: %q", slots, least, x.Wrong)
			return
		}
	}
}

// classOf returns the proof's finding in the judge's words.
func classOf(found []*schedule.Violation) string {
	if len(found) == 0 {
		return judge.Right.String()
	}
	for _, k := range []struct {
		kind schedule.ViolationKind
		is   judge.Finding
	}{{schedule.Malformed, judge.Malformed}, {schedule.Deadlock, judge.Deadlock},
		{schedule.Unmatched, judge.Unmatched}, {schedule.Race, judge.Race}} {
		for _, v := range found {
			if v.Kind == k.kind {
				return k.is.String()
			}
		}
	}
	return judge.Wrong.String()
}

// explain lists the reasons of both, at most six.
func explain(found []*schedule.Violation, v *judge.Verdict) string {
	var lines []string
	for _, x := range found {
		lines = append(lines, "proof: "+strings.ReplaceAll(x.Error(), "\n", " "))
	}
	for _, why := range v.Why {
		lines = append(lines, "judge: "+why)
	}
	if len(lines) > 6 {
		lines = lines[:6]
	}
	return strings.Join(lines, "\n")
}

// shrink returns a smaller text with the same kind of disagreement.
func (c *contest) shrink(r *result) string {
	return vary.Shrink(r.text, func(text string) bool {
		return c.compare(text, r.index).kind == r.kind
	})
}
