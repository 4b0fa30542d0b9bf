package calibrate

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// How often experiments do what they do, where the budget lets them.
const (
	rounds  = 8  // of a longer ping-pong
	burst   = 32 // messages of a stream
	copies  = 8
	sources = 8 // of a reduction
)

// planner collects experiments. The first error ends it.
type planner struct {
	campaign *Campaign
	options  CampaignOptions
	err      error
}

// times is as often as wanted, or as the budget allows, but at least once.
func (p *planner) times(wanted int, n unit.Bytes) int {
	return max(1, min(wanted, int(p.options.Budget/n)))
}

// messages adds the experiments of a class with messages of n bytes.
func (p *planner) messages(class int, n unit.Bytes) {
	c := &p.options.Classes[class]
	alone := c.Pairs[:1]
	name := func(what string) string { return fmt.Sprintf("%s %v %s", c.Name, n, what) }
	link := func(o, l, bytes, by int) []float64 {
		parts := p.parts(1, o)
		at := firstOfLinks + class*perClass
		parts[at+byLatency] = float64(l)
		parts[at+by] = float64(bytes) * float64(n)
		return parts
	}
	once, more := 1, p.times(rounds, n)
	p.pairs(name("ping-pong"), n, alone, pingPong(once), link(4, 2, 2, byByte))
	if more > once {
		p.pairs(name(fmt.Sprintf("ping-pong × %d", more)), n, alone, pingPong(more),
			link(4*more, 2*more, 2*more, byByte))
	}
	k := p.times(burst, n)
	p.pairs(name(fmt.Sprintf("stream × %d", k)), n, alone, stream(k), link(k+3, 2, k+1, byByte))
	p.pairs(name(fmt.Sprintf("exchange × %d", more)), n, alone, exchange(more),
		link(2*more, more, more, byDuplex))
	if len(c.Pairs) > 1 {
		p.pairs(name(fmt.Sprintf("%d pairs × %d", len(c.Pairs), more)), n, c.Pairs, pingPong(more),
			link(4*more, 2*more, 2*more, byPairs))
	}
}

// parts has so many launches and overheads, and nothing else yet.
func (p *planner) parts(launches, overheads int) []float64 {
	parts := make([]float64, len(p.campaign.Parameters))
	parts[0], parts[1] = float64(launches), float64(overheads)
	return parts
}

// local adds copies and reductions on rank 0, of n bytes.
func (p *planner) local(n unit.Bytes) {
	k := p.times(copies, n)
	parts := p.parts(1, k)
	parts[2] = float64(k) * float64(n)
	p.alone(fmt.Sprintf("copy %v × %d", n, k), 1, n, k, parts)

	k = p.times(copies, sources*n)
	parts = p.parts(1, k)
	parts[2], parts[3] = float64(k)*float64(n), float64(k*(sources-1))*float64(n)
	p.alone(fmt.Sprintf("reduce %d × %v × %d", sources, n, k), sources, n, k, parts)
}

// alone adds an experiment in which rank 0 adds up so many blocks of n bytes of its input, again
// and again, and rank 1 does nothing: a schedule of one rank would be Build's own copy.
func (p *planner) alone(name string, from int64, n unit.Bytes, times int, parts []float64) {
	count := int64(n) / 4
	blocks := func(n int64) schedule.Cut {
		return schedule.Cut{{Axis: schedule.Block, Split: schedule.Even, N: n}}
	}
	p.build(name, [][]int{{0, 1}}, schedule.Plan{
		Spec: collective.Spec{Kind: collective.Custom, Op: collective.Sum, Type: dtype.Float32,
			Ranks: 2, Splits: [][]int64{{from * count, 0}, {count, 0}}},
		Cuts: &[3]schedule.Cut{schedule.Input: blocks(from), schedule.Output: blocks(1),
			schedule.Scratch: blocks(1)},
		Lane: func(l *schedule.Lane) {
			var all []schedule.Source
			for i := range int(from) {
				all = append(all, l.Local(l.In(i)))
			}
			for range times {
				if l.Rank == 0 {
					l.Combine([]schedule.Region{l.Out(0)}, nil, all...)
				}
			}
		}}, parts)
}

// pairs adds an experiment of pairs that all do the same: rank 0 and rank 1 of a send_recv.
func (p *planner) pairs(name string, n unit.Bytes, pairs [][2]int, lane func(*schedule.Lane),
	parts []float64) {
	var teams [][]int
	for _, pair := range pairs {
		teams = append(teams, pair[:])
	}
	p.build(name, teams, schedule.Plan{Lane: lane,
		Spec: collective.Spec{Kind: collective.SendRecv, Type: dtype.Float32, Ranks: 2,
			Count: int64(n) / 4}}, parts)
}

// build adds an experiment in which every team plays a plan.
func (p *planner) build(name string, teams [][]int, plan schedule.Plan, parts []float64) {
	if p.err != nil {
		return
	}
	plan.Name = name
	s, err := schedule.Build(plan)
	if err == nil {
		var all []schedule.Team
		for _, ranks := range teams {
			all = append(all, schedule.Team{Ranks: ranks, Schedule: s})
		}
		s, err = schedule.Beside(p.options.Ranks, all...)
	}
	if err != nil {
		p.err = fmt.Errorf("calibrate: %s: %w", name, err)
		return
	}
	p.campaign.Experiments = append(p.campaign.Experiments,
		Experiment{Name: name, Schedule: s, Parts: parts})
}

// pingPong is rounds of a message there and one back: both ranks' inputs, again and again.
func pingPong(rounds int) func(*schedule.Lane) {
	return func(l *schedule.Lane) {
		for range rounds {
			if l.Rank == 0 {
				l.Send(1, l.In(0))
			}
			l.Recv(1-l.Rank, l.Out(0))
			if l.Rank == 1 {
				l.Send(0, l.In(0))
			}
		}
	}
}

// stream is a burst of messages from rank 0, and one back when all are there.
func stream(messages int) func(*schedule.Lane) {
	return func(l *schedule.Lane) {
		if l.Rank == 0 {
			for range messages {
				l.Send(1, l.In(0))
			}
			l.Recv(1, l.Out(0))
			return
		}
		for range messages {
			l.Recv(0, l.Out(0))
		}
		l.Send(0, l.In(0))
	}
}

// exchange is rounds in which both ranks send, and then receive.
func exchange(rounds int) func(*schedule.Lane) {
	return func(l *schedule.Lane) {
		for range rounds {
			l.Send(1-l.Rank, l.In(0))
			l.Recv(1-l.Rank, l.Out(0))
		}
	}
}
