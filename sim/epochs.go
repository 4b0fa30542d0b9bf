package sim

import (
	"fmt"
	"strings"

	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// Epochs of a program. A composed schedule has global synchronization points, where all ranks wait
// for all that came before (schedule.Barriers). The parts between two such points are an epoch.
// Epochs are simulated one by one, and equal epochs once.
//
// Suppose an epoch has ended on all ranks at one time and nothing is in flight. Suppose nothing to
// come has waited for anything but that end. Then the machine is in the state in which the run
// began. The only other state is how far the hosts are ahead with their launches. That matters only
// up to the point where all launches of the next epoch have been made when it begins. So of two
// epochs of the same parts the second takes as long as the first.
//
// An epoch that ends at different times, or leaves something in flight, is joined with the next
// one. If that happens too often, the whole schedule is simulated at once.

// chain simulates a schedule epoch by epoch.
type chain struct {
	s         *schedule.Schedule
	env       *model.Env
	rules     model.Rules
	withParts bool // report when parts are executed
	parts     []schedule.Part
	forms     map[*schedule.Schedule]int // the form of each schedule: equal schedules have one form
	form      map[string]int             // by the text of a form
	simulated map[string]*epoch          // by name
	folds     symmetry.Colours[*schedule.Fold]
	now       unit.Time   // the end of the last epoch
	hosts     []unit.Time // when each rank's host has issued all launches so far
	of        []piece     // by part: the epoch that it was in
	wasted    int         // parts whose simulation was of no use
	pieces    []piece     // the epochs of the run, in order
	distinct  int         // epochs that were simulated
}

// piece is an epoch at its place in the run.
type piece struct {
	*epoch
	at    unit.Time // when it began
	first int       // its first part
}

// epoch holds the results of simulating some parts. Times count from its beginning.
type epoch struct {
	totals *model.Totals
	alone  bool          // it left the machine in the state of the beginning
	takes  unit.Time     // from its beginning to its end
	hosts  []unit.Time   // by rank: when the host had issued all, from its own beginning
	lanes  [][]unit.Time // by rank: when its lanes ended
	ends   [][]partEnd   // by part, then rank of the part
	busy   []Busy
}

// partEnd holds when the first and the last lane of a part have ended on a rank.
type partEnd struct{ first, last unit.Time }

// inEpochs simulates a schedule epoch by epoch. It returns nil if that is of no use, such as where
// one epoch has most of all parts.
func inEpochs(s *schedule.Schedule, env *model.Env, withParts bool) (*model.Totals, []Busy) {
	c := newChain(s, env, withParts)
	if c == nil {
		return nil, nil
	}
	borders := append(s.Barriers(), len(c.parts))
	if longestEpoch(borders) > len(c.parts)/2 {
		return nil, nil
	}
	for from, next, width := 0, 0, 1; from < len(c.parts); {
		to := borders[min(next+width, len(borders))-1]
		p, fresh := c.epoch(from, to)
		switch {
		case p == nil && to < len(c.parts) || p != nil && !p.alone && to < len(c.parts):
			if fresh {
				c.wasted += to - from
			}
			if width *= 2; c.wasted > len(c.parts)/wastedShare {
				return nil, nil
			}
			continue
		case p == nil || p.takes > unit.Forever-c.now:
			return nil, nil
		}
		c.add(p, from, to)
		from, next, width = to, min(next+width, len(borders)), 1
	}
	return c.finished()
}

// longestEpoch returns how many parts are in the longest epoch.
func longestEpoch(borders []int) (most int) {
	from := 0
	for _, to := range borders {
		most, from = max(most, to-from), to
	}
	return most
}

// wastedShare bounds the parts that may be simulated without use: one of so many.
const wastedShare = 8

// newChain returns nil where no part is equal to another, or where launches depend on more than the
// parts.
func newChain(s *schedule.Schedule, env *model.Env, withParts bool) *chain {
	c := &chain{s: s, env: env, rules: model.NewRules(s, env), withParts: withParts, parts: s.Parts(),
		forms: map[*schedule.Schedule]int{}, form: map[string]int{}, simulated: map[string]*epoch{},
		folds: symmetry.Colours[*schedule.Fold]{},
		hosts: make([]unit.Time, s.Spec.Ranks)}
	checked := map[int]bool{}
	for i := range c.parts {
		p := &c.parts[i]
		form := c.formOf(p.Schedule)
		switch {
		case !c.rules.HasGPU():
		case p.Launch != nil && sharesLaunch(p.Launch):
			return nil
		case p.Launch == nil && !checked[form]:
			if checked[form] = launched(p.Schedule); !checked[form] {
				return nil
			}
		}
	}
	if len(c.form)*2 > len(c.parts) || len(c.parts) == 0 {
		return nil
	}
	for rank := range c.hosts {
		c.hosts[rank] = c.rules.Begin(int32(rank), false).T
	}
	c.of = make([]piece, len(c.parts))
	return c
}

// formOf returns a number for a schedule, the same for schedules that do the same.
func (c *chain) formOf(s *schedule.Schedule) int {
	n, known := c.forms[s]
	if !known {
		text := s.Form()
		if n, known = c.form[text]; !known {
			n = len(c.form)
			c.form[text] = n
		}
		c.forms[s] = n
	}
	return n
}

// epoch returns the parts in [from, to) as an epoch, simulated now or before; nil if they cannot be
// simulated alone. fresh reports whether they were simulated now.
func (c *chain) epoch(from, to int) (p *epoch, fresh bool) {
	whole := true
	list, before, ok := c.s.Epoch(from, to, func(part int) bool {
		has, exact := c.justEnded(part)
		whole = whole && exact
		return has
	})
	if !ok || !whole {
		return nil, false
	}
	env := *c.env
	if from > 0 {
		env.Start = nil
		if !c.rules.HasGPU() { // the launch was paid at the beginning of the run
			env.Device.Launch = 0
		}
	}
	name := c.name(list, before, from == 0)
	if from > 0 && c.rules.HasGPU() {
		env.Ahead = c.ahead(c.simulated[name])
		if p = c.simulated[name+fmt.Sprint(env.Ahead)]; p != nil {
			return p, false
		}
	} else if p = c.simulated[name]; p != nil {
		return p, false
	}
	if p = c.simulate(list, before, &env); p == nil {
		return nil, true
	}
	c.distinct++
	if from == 0 && !c.rules.HasGPU() {
		for rank := range c.s.Spec.Ranks {
			p.alone = p.alone && p.takes >= c.rules.Begin(int32(rank), true).T
		}
	}
	if from > 0 && c.rules.HasGPU() {
		if c.simulated[name] == nil { // for how long its launches take
			c.simulated[name] = p
			env.Ahead = c.ahead(p)
		}
		name += fmt.Sprint(env.Ahead)
	}
	c.simulated[name] = p
	return p, true
}

// justEnded reports whether a part has ended now, on all its ranks. What waits for it may then
// begin later than at once, as events of other streams are seen later. exact is false if the part
// has ended before, but some ranks still do not see it.
func (c *chain) justEnded(part int) (has, exact bool) {
	p, seen := &c.of[part], unit.Time(0)
	now, before, streams := true, true, c.parts[part].Launch == nil
	for place, end := range p.ends[part-p.first] {
		if c.rules.HasGPU() {
			seen = c.rules.Slowed(int32(c.rankOf(part, place)), c.env.Device.GPU.EventLatency)
		}
		now = now && p.at+end.last == c.now && (!streams || end.first == end.last)
		before = before && p.at+end.last <= c.now-seen
	}
	return now, now || before
}

// rankOf returns the rank of the whole that is a given rank of a part.
func (c *chain) rankOf(part, place int) int {
	if ranks := c.parts[part].Ranks; ranks != nil {
		return ranks[place]
	}
	return place
}

// ahead returns how far each host is ahead with its launches. It is capped where everything has
// been launched when the epoch begins. like, unless nil, has the times of the epoch's launches.
func (c *chain) ahead(like *epoch) []unit.Time {
	list := make([]unit.Time, len(c.hosts))
	for rank := range list {
		list[rank] = c.now - c.hosts[rank]
		if like != nil {
			latency := c.rules.Slowed(int32(rank), c.env.Device.GPU.LaunchLatency)
			list[rank] = min(list[rank], like.hosts[rank]+latency)
		}
	}
	return list
}

// name returns a text that is the same for epochs of the same parts.
func (c *chain) name(list []schedule.Part, before int, isFirst bool) string {
	var b strings.Builder
	fmt.Fprint(&b, isFirst, before)
	for i := range list {
		p := &list[i]
		fmt.Fprint(&b, ";", c.formOf(p.Schedule), p.Ranks, p.Stream, p.After)
		if p.Fold != nil {
			fold, _ := c.folds.Number(p.Fold)
			fmt.Fprint(&b, " fold ", fold)
		}
		if p.Launch != nil {
			launch := *p.Launch
			launch.Name = ""
			b.WriteString(launch.String())
		}
	}
	return b.String()
}

// simulate runs parts as a schedule of their own. The first ones, before, stand for parts that have
// just ended. It returns nil if that fails: the simulation of the whole then gives the error.
func (c *chain) simulate(list []schedule.Part, before int, env *model.Env) *epoch {
	s, err := schedule.ComposeLike(c.s, "epoch", list)
	if err != nil {
		return nil
	}
	if rules := model.NewRules(s, env); rules.Launches() != c.rules.Launches() {
		return nil
	}
	var log *model.Log
	if c.withParts {
		log = newPartsLog(env)
	}
	totals, rest, err := event.RunOn(s, env, log)
	if err != nil {
		return nil
	}
	p := &epoch{totals: totals, takes: totals.Time, alone: rest.At <= totals.Time}
	for rank, end := range rest.Ends {
		p.alone = p.alone && end == model.Moment{T: totals.Time}
		if rest.Hosts != nil {
			begun := c.rules.Begin(int32(rank), false).T
			if env.Start == nil {
				begun = 0
			}
			if env.Ahead != nil {
				begun -= env.Ahead[rank]
			}
			p.hosts = append(p.hosts, rest.Hosts[rank]-begun)
		}
	}
	c.noteEnds(p, s, before)
	if c.withParts {
		log.Read()
		for _, b := range busyOf(log, env.Sharing) {
			if b.Part -= int32(before); b.Part >= 0 {
				p.busy = append(p.busy, b)
			}
		}
	}
	return p
}

// noteEnds sets when the lanes and parts of an epoch have ended.
func (c *chain) noteEnds(p *epoch, s *schedule.Schedule, before int) {
	places := make([]map[int]int, 0, schedule.NumParts(s)-before)
	for i := before; i < schedule.NumParts(s); i++ {
		of, part := map[int]int{}, schedule.PartOf(s, i)
		for place, rank := range part.Ranks {
			of[rank] = place
		}
		places = append(places, of)
		ends := make([]partEnd, len(part.Ranks))
		for k := range ends {
			ends[k].first = unit.Forever
		}
		p.ends = append(p.ends, ends)
	}
	at := 0
	for rank := range s.Spec.Ranks {
		program, lanes := s.Program(rank), []unit.Time(nil)
		for lane := range program.Lanes() {
			end, part := p.totals.LaneEnd[at], program.Part(lane)-before
			at++
			if part < 0 {
				continue
			}
			lanes = append(lanes, end)
			e := &p.ends[part][places[part][rank]]
			e.first, e.last = min(e.first, end), max(e.last, end)
		}
		p.lanes = append(p.lanes, lanes)
	}
}

// add puts an epoch behind those before.
func (c *chain) add(p *epoch, from, to int) {
	at := piece{p, c.now, from}
	c.pieces = append(c.pieces, at)
	for i := from; i < to; i++ {
		c.of[i] = at
	}
	c.now += p.takes
	for rank := range p.hosts {
		c.hosts[rank] += p.hosts[rank]
	}
}

// finished returns the results of all epochs together.
func (c *chain) finished() (*model.Totals, []Busy) {
	links := 0 // those of a folded schedule stand for others
	if c.s.Alike == nil {
		links = c.env.Graph.NumLinks()
	}
	t := &model.Totals{Time: c.now, LaneEnd: []unit.Time{}, LinkBusy: make([]unit.Time, links),
		LinkLoad: make([]unit.Bytes, links)}
	busy := []Busy{}
	for _, p := range c.pieces {
		q := p.totals
		t.Steps, t.Messages = t.Steps+q.Steps, t.Messages+q.Messages
		t.BytesSent, t.LinkBytes = t.BytesSent+q.BytesSent, t.LinkBytes+q.LinkBytes
		for i := range links {
			t.LinkBusy[i] += q.LinkBusy[i]
			t.LinkLoad[i] += q.LinkLoad[i]
		}
		for _, b := range p.busy {
			busy = append(busy, b.after(p.at, p.first))
		}
	}
	for i := range links {
		if c.env.Sharing == model.Fluid {
			t.LinkBusy[i] = t.LinkLoad[i].Over(c.env.Graph.Link(int32(i)).Bandwidth)
		}
	}
	for rank := range c.s.Spec.Ranks {
		for _, p := range c.pieces {
			for _, end := range p.lanes[rank] {
				t.LaneEnd = append(t.LaneEnd, p.at+end)
			}
		}
	}
	return t, busy
}
