package calibrate

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// Repetitions within an experiment, if the budget allows.
const (
	rounds  = 8  // of a longer ping-pong
	burst   = 32 // messages of a stream
	copies  = 8
	sources = 8 // of a reduction
)

// A planner collects experiments, until the first error.
type planner struct {
	campaign *Campaign
	options  CampaignOptions
	err      error
}

// times returns the wanted repetitions, or fewer if the budget requires it, but at least one.
func times(wanted int, n, budget unit.Bytes) int { return max(1, min(wanted, int(budget/n))) }

// messages adds the experiments of a class with messages of n bytes.
func (p *planner) messages(class int, n unit.Bytes) {
	c := &p.options.Classes[class]
	alone := c.Pairs[:1]
	name := func(what string) string { return fmt.Sprintf("%s %v %s", c.Name, n, what) }
	link := func(o, l, bytes, by int) []float64 {
		parts := p.parts(1, o)
		at := firstOfLinks + class*perClass
		parts[at+latencyOf(by)] = float64(l)
		parts[at+by] = float64(bytes) * float64(n)
		return parts
	}
	once, more := 1, times(rounds, n, p.options.Budget)
	p.pairs(name("ping-pong"), n, alone, pingPong(once), link(4, 2, 2, byByte))
	if more > once {
		p.pairs(name(fmt.Sprintf("ping-pong × %d", more)), n, alone, pingPong(more),
			link(4*more, 2*more, 2*more, byByte))
	}
	k := times(burst, n, p.options.Budget)
	p.pairs(name(fmt.Sprintf("stream × %d", k)), n, alone, stream(k), link(k+3, 2, k+1, byByte))
	p.pairs(name(fmt.Sprintf("exchange × %d", more)), n, alone, exchange(more),
		link(2*more, more, more, byDuplex))
	if len(c.Pairs) > 1 {
		p.pairs(name(fmt.Sprintf("%d pairs × %d", len(c.Pairs), more)), n, c.Pairs, pingPong(more),
			link(4*more, 2*more, 2*more, byPairs))
		p.pairs(name(fmt.Sprintf("%d pairs exchange × %d", len(c.Pairs), more)), n, c.Pairs,
			exchange(more), link(2*more, more, more, byAll))
	}
}

// parts returns the parts of so many launches and overheads, and of no other parameter.
func (p *planner) parts(launches, overheads int) []float64 {
	parts := make([]float64, len(p.campaign.Parameters))
	parts[0], parts[1] = float64(launches), float64(overheads)
	return parts
}

// local adds copies and reductions on rank 0, of n bytes.
func (p *planner) local(n unit.Bytes) {
	k := times(copies, n, p.options.Local)
	parts := p.parts(1, k)
	parts[2] = float64(k) * float64(n)
	p.alone(fmt.Sprintf("copy %v × %d", n, k), 1, n, k, parts)

	k = times(copies, sources*n, p.options.Local)
	parts = p.parts(1, k)
	parts[2], parts[3] = float64(k)*float64(n), float64(k*(sources-1))*float64(n)
	p.alone(fmt.Sprintf("reduce %d × %v × %d", sources, n, k), sources, n, k, parts)
}

// alone adds an experiment in which rank 0 repeatedly sums so many blocks of n bytes of its input,
// and other ranks are idle.
func (p *planner) alone(name string, from int64, n unit.Bytes, times int, parts []float64) {
	ranks := p.options.Ranks
	count := int64(n) / 4
	in, out := make([]int64, ranks), make([]int64, ranks)
	in[0], out[0] = from*count, count
	p.build(name, in, out, schedule.Plan{
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

// pairs adds an experiment in which all pairs do the same, and other ranks are idle. The function
// lane has the steps of a pair's first or second rank.
func (p *planner) pairs(name string, n unit.Bytes, pairs [][2]int,
	lane func(l *schedule.Lane, peer int, first bool), parts []float64) {
	size := make([]int64, p.options.Ranks)
	peers := make([]int, p.options.Ranks)
	for _, pair := range pairs {
		for place, rank := range pair {
			size[rank], peers[rank] = int64(n)/4, pair[1-place]
		}
	}
	firsts := make([]bool, p.options.Ranks)
	for _, pair := range pairs {
		firsts[pair[0]] = true
	}
	p.build(name, size, size, schedule.Plan{
		Cuts: &[3]schedule.Cut{schedule.Input: blocks(1), schedule.Output: blocks(1),
			schedule.Scratch: blocks(1)},
		Lane: func(l *schedule.Lane) {
			if size[l.Rank] > 0 {
				lane(l, peers[l.Rank], firsts[l.Rank])
			}
		}}, parts)
}

// blocks cuts a buffer into n blocks.
func blocks(n int64) schedule.Cut {
	return schedule.Cut{{Axis: schedule.Block, Split: schedule.Even, N: n}}
}

// build adds an experiment of all ranks, given the elements of input and output of each. It is one
// schedule rather than one per pair, since not every executor runs several at once.
func (p *planner) build(name string, in, out []int64, plan schedule.Plan, parts []float64) {
	if p.err != nil {
		return
	}
	plan.Name = name
	plan.Spec = collective.Spec{Kind: collective.Custom, Op: collective.Sum, Type: dtype.Float32,
		Ranks: p.options.Ranks, Splits: [][]int64{in, out}}
	s, err := schedule.Build(plan)
	if err != nil {
		p.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	p.campaign.Experiments = append(p.campaign.Experiments,
		Experiment{Name: name, Schedule: s, Parts: parts})
}

// pingPong returns the steps of rounds of a message and its reply. Both ranks send their input each
// time.
func pingPong(rounds int) func(*schedule.Lane, int, bool) {
	return func(l *schedule.Lane, peer int, first bool) {
		for range rounds {
			if first {
				l.Send(peer, l.In(0))
			}
			l.Recv(peer, l.Out(0))
			if !first {
				l.Send(peer, l.In(0))
			}
		}
	}
}

// stream returns the steps of a burst of messages from the first rank, and a reply after the last.
func stream(messages int) func(*schedule.Lane, int, bool) {
	return func(l *schedule.Lane, peer int, first bool) {
		if first {
			for range messages {
				l.Send(peer, l.In(0))
			}
			l.Recv(peer, l.Out(0))
			return
		}
		for range messages {
			l.Recv(peer, l.Out(0))
		}
		l.Send(peer, l.In(0))
	}
}

// exchange returns the steps of rounds in which both ranks send and then receive.
func exchange(rounds int) func(*schedule.Lane, int, bool) {
	return func(l *schedule.Lane, peer int, _ bool) {
		for range rounds {
			l.Send(peer, l.In(0))
			l.Recv(peer, l.Out(0))
		}
	}
}
