package sim

import (
	"fmt"
	"strings"

	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/unit"
)

// A program is played stretch by stretch (schedule.Borders), and a stretch that has been played is
// not played again. Where one has ended on all ranks at one time, nothing is under way, and nothing
// that is still to come has been waiting for anything else than that end, the machine is as it was
// when the run began. All that it remembers is how far ahead the hosts are with their launches, and
// that counts up to where all launches of the stretch have been made when it begins. What follows
// then depends on nothing but the parts, so of two stretches of the same parts the second takes
// what the first did, later.
//
// Where a stretch ends at different times, or leaves something under way, it is joined with what
// follows; where that happens too often, the whole is played in one go.

// chain plays a schedule stretch by stretch.
type chain struct {
	s        *schedule.Schedule
	env      *model.Env
	rules    model.Rules
	tells    bool // when parts are carried out
	parts    []schedule.Part
	forms    map[*schedule.Schedule]int // by value
	form     map[string]int
	played   map[string]*stretch
	now      unit.Time
	hosts    []unit.Time // when each rank's host has issued what was played
	of       []piece     // of each part
	vain     int         // parts that were played in vain
	pieces   []piece     // in order
	distinct int
}

// piece is a part in a stretch, or a stretch with its first part in the whole.
type piece struct {
	*stretch
	at    unit.Time // when it began
	first int       // of the stretch
}

// stretch is what came out of playing one. Times count from its beginning.
type stretch struct {
	totals *model.Totals
	alone  bool          // the machine was as at the beginning when it had ended
	takes  unit.Time     // then
	hosts  []unit.Time   // when the hosts had issued all, from their own beginning
	lanes  [][]unit.Time // when those of each rank ended
	ends   [][]partEnd   // of each part, on each of its ranks
	busy   []Busy
}

// partEnd is when the first and the last lane of a part has ended on a rank.
type partEnd struct{ first, last unit.Time }

// inStretches plays a schedule stretch by stretch, or returns nil if that does not help.
func inStretches(s *schedule.Schedule, env *model.Env, tells bool) (*model.Totals, []Busy) {
	c := newChain(s, env, tells)
	if c == nil {
		return nil, nil
	}
	borders := append(s.Barriers(), len(c.parts))
	for from, next, width := 0, 0, 1; from < len(c.parts); {
		to := borders[min(next+width, len(borders))-1]
		p, fresh := c.play(from, to)
		switch {
		case p == nil && to < len(c.parts) || p != nil && !p.alone && to < len(c.parts):
			if fresh {
				c.vain += to - from
			}
			if width *= 2; c.vain > len(c.parts)/vainShare {
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

// vainShare is of how many parts one may be played in vain.
const vainShare = 8

// newChain is nil where no part is like another, or where what is launched is not told apart.
func newChain(s *schedule.Schedule, env *model.Env, tells bool) *chain {
	c := &chain{s: s, env: env, rules: model.NewRules(s, env), tells: tells, parts: s.Parts(),
		forms: map[*schedule.Schedule]int{}, form: map[string]int{}, played: map[string]*stretch{},
		hosts: make([]unit.Time, s.Spec.Ranks)}
	checked := map[int]bool{}
	for i := range c.parts {
		p := &c.parts[i]
		form := c.formOf(p.Schedule)
		switch {
		case !c.rules.HasGPU():
		case p.Launch != nil && p.Launch.Graph != 0:
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

// launched reports whether all that a schedule does is launched, by launches of its own.
func launched(s *schedule.Schedule) bool {
	var step schedule.Step
	for rank := range s.RepresentativeRanks() {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			at := p.Walk(lane)
			if at.Done() {
				continue
			}
			if p.Load(&at, &step); step.Launch == nil {
				return false
			}
		}
	}
	return !s.AnyStep(func(step *schedule.Step) bool {
		return step.Launch != nil && step.Launch.Graph != 0
	})
}

// formOf numbers schedules by what they do.
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

// play is the parts from one up to another, played now or before; nil if they cannot be played
// alone. It tells whether they were played now.
func (c *chain) play(from, to int) (p *stretch, fresh bool) {
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
		if !c.rules.HasGPU() { // the call was launched at the beginning
			env.Device.Launch = 0
		}
	}
	name := c.name(list, before, from == 0)
	if from > 0 && c.rules.HasGPU() {
		env.Ahead = c.ahead(c.played[name])
		if p = c.played[name+fmt.Sprint(env.Ahead)]; p != nil {
			return p, false
		}
	} else if p = c.played[name]; p != nil {
		return p, false
	}
	if p = c.playNow(list, before, &env); p == nil {
		return nil, true
	}
	c.distinct++
	if from == 0 && !c.rules.HasGPU() {
		for rank := range c.s.Spec.Ranks {
			p.alone = p.alone && p.takes >= c.rules.Begin(int32(rank), true).T
		}
	}
	if from > 0 && c.rules.HasGPU() {
		if c.played[name] == nil { // for how long its launches take
			c.played[name] = p
			env.Ahead = c.ahead(p)
		}
		name += fmt.Sprint(env.Ahead)
	}
	c.played[name] = p
	return p, true
}

// justEnded reports whether a part has ended now, everywhere, so that what waits for it may begin
// later than at once: events of other streams are seen later. exact is false if it has ended
// before, but is still to be seen.
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

// rankOf is the rank that plays one of a part.
func (c *chain) rankOf(part, place int) int {
	if ranks := c.parts[part].Ranks; ranks != nil {
		return ranks[place]
	}
	return place
}

// ahead is how far the hosts are ahead, and no more than where everything has been launched when
// the stretch begins. like, unless nil, tells how long its launches take.
func (c *chain) ahead(like *stretch) []unit.Time {
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

// name is the same for stretches of the same parts.
func (c *chain) name(list []schedule.Part, before int, isFirst bool) string {
	var b strings.Builder
	fmt.Fprint(&b, isFirst, before)
	for i := range list {
		p := &list[i]
		fmt.Fprint(&b, ";", c.formOf(p.Schedule), p.Ranks, p.Stream, p.After)
		if p.Launch != nil {
			launch := *p.Launch
			launch.Name = ""
			b.WriteString(launch.String())
		}
	}
	return b.String()
}

// playNow plays parts, of which the first ones stand for others. It returns nil if that fails: the
// whole will say why.
func (c *chain) playNow(list []schedule.Part, before int, env *model.Env) *stretch {
	s, err := schedule.Compose("stretch", c.s.Spec.Ranks, c.s.Tensors, list)
	if err != nil {
		return nil
	}
	if rules := model.NewRules(s, env); rules.Launches() != c.rules.Launches() {
		return nil
	}
	var log *model.Log
	if c.tells {
		log = newPartsLog(env)
	}
	totals, rest, err := event.RunOn(s, env, log)
	if err != nil {
		return nil
	}
	p := &stretch{totals: totals, takes: totals.Time, alone: rest.At <= totals.Time}
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
	c.tell(p, s, before)
	if c.tells {
		log.Read()
		for _, b := range busyOf(log, env.Sharing) {
			if b.Part -= int32(before); b.Part >= 0 {
				p.busy = append(p.busy, b)
			}
		}
	}
	return p
}

// tell notes when lanes and parts have ended.
func (c *chain) tell(p *stretch, s *schedule.Schedule, before int) {
	places := make([]map[int]int, 0, len(s.Parts())-before)
	for _, part := range s.Parts()[before:] {
		of := map[int]int{}
		for place, rank := range part.Ranks {
			of[rank] = place
		}
		places = append(places, of)
		ends := make([]partEnd, len(part.Ranks))
		for i := range ends {
			ends[i].first = unit.Forever
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

// add puts a stretch behind those before.
func (c *chain) add(p *stretch, from, to int) {
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

// finished is what there is to tell of all stretches together.
func (c *chain) finished() (*model.Totals, []Busy) {
	wires := c.env.Graph.Links()
	t := &model.Totals{Time: c.now, LaneEnd: []unit.Time{}, LinkBusy: make([]unit.Time, len(wires)),
		LinkLoad: make([]unit.Bytes, len(wires))}
	busy := []Busy{}
	for _, p := range c.pieces {
		q := p.totals
		t.Steps, t.Messages = t.Steps+q.Steps, t.Messages+q.Messages
		t.BytesSent, t.LinkBytes = t.BytesSent+q.BytesSent, t.LinkBytes+q.LinkBytes
		for i := range wires {
			t.LinkBusy[i] += q.LinkBusy[i]
			t.LinkLoad[i] += q.LinkLoad[i]
		}
		for _, b := range p.busy {
			busy = append(busy, b.after(p.at, p.first))
		}
	}
	for i := range wires {
		if c.env.Sharing == model.Fluid {
			t.LinkBusy[i] = t.LinkLoad[i].Over(wires[i].Bandwidth)
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
