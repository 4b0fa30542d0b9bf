package run

import (
	"math"

	"collsim/scenarios"
	"collsim/schedule"
	"collsim/topology"
)

// ways is what a look at some messages tells of the ways that all take.
type ways struct {
	hops float64 // links of one, on average
	// meet is the share of what ranks send that crosses a link with what another one sends in the
	// same row of its steps. Where some does, nobody guesses in what order.
	meet float64
	// alone: what crosses a link comes from one lane, or over one link before, as of a ring.
	alone bool
	// beside: lanes of a rank begin with the same link, as those of several channels do.
	beside bool
}

// How much is looked at.
const (
	lookedRanks = 32      // of all, for the length of ways,
	lookedSends = 64      // and of each so many sends, evenly
	lookedSteps = 1 << 14 // among the first so many;
	lookedRows  = 16      // rows of sends of all ranks, evenly as far as mostSteps go, for who meets,
	mostSteps   = 1 << 22
	mostMade    = 1 << 20 // or as far as so many messages go, of programs that ranks have of their own
	mostHops    = 1 << 24 // and of so many lanes as cross so many links, one at least
	mostLooked  = 1 << 14 // as long as there are no more than these,
	mostLinks   = 1 << 18 // and no more links: of a full mesh, on which nobody meets
)

// look looks at the ways of messages, and where all ranks are played (played is 0) also at who
// meets, if an engine's time depends on that. A network that cannot be made has ways of one link.
func (w *work) look(s *schedule.Schedule, p *scenarios.Point, played int64) {
	w.ways = ways{hops: 1}
	g, err := p.Topology.Graph()
	if err != nil || p.Teams != nil || s.Parts() != nil {
		return
	}
	lanes := max(1, int(min(w.lanes/int64(s.Spec.Ranks), lookedSends)))
	l := look{s: s, g: g, every: int(w.messages/max(w.lanes, 1)/lookedSends) | 1,
		lanes: lookedSends}
	for i := range min(s.Spec.Ranks, lookedRanks) {
		l.walk(i*s.Spec.Ranks/min(s.Spec.Ranks, lookedRanks), lookedSteps/lanes, nil)
	}
	if l.ways > 0 {
		w.hops = float64(l.links) / float64(l.ways)
	}
	mayBeAlone := w.connections <= w.lanes
	matters := mayBeAlone || sweeps(s, p, *w) || p.Sim.Sharing == scenarios.Fluid
	isFew := s.Spec.Ranks <= mostLooked && g.NumLinks() <= mostLinks
	switch {
	case played > 0 || !matters || !isFew:
	case hasOwn(s) && w.messages > mostMade: // it would take long to make all programs
		w.meet = 1
	default:
		l.every = min(int(w.messages/max(w.lanes, 1)/lookedRows),
			mostSteps/s.Spec.Ranks/lookedRows/lanes) | 1
		l.lanes = max(1, min(lookedSends, int(mostHops/max(float64(w.hops*float64(s.Spec.Ranks)), 1))))
		w.meet, w.beside = l.meet()
		w.alone = mayBeAlone && w.meet == 0 && !w.beside
	}
}

// look is how far one has got.
type look struct {
	s           *schedule.Schedule
	g           *topology.Graph
	every       int // steps, of which one is looked at; odd, as every other one may only receive
	lanes       int // of a rank, of which not more are looked at
	links, ways int
	step        schedule.Step
	route       []int32
}

// walk follows the sends of a rank, up to so many steps of a lane.
func (l *look) walk(rank, steps int, see func(lane, row int, route []int32)) {
	p := l.s.Program(rank)
	slices := int32(max(l.s.Slices, 1))
	lanes := min(p.Lanes(), l.lanes)
	for i := range lanes {
		lane, sends, left := i*p.Lanes()/lanes, 0, steps
		for at := p.Walk(lane); !at.Done() && left > 0; at.Next(slices) {
			left--
			if sends++; sends%l.every != 0 {
				continue
			}
			p.Load(&at, &l.step)
			for i := range l.step.Send {
				l.route = l.g.Route(rank, int(l.step.Send[i].Peer.Rank), l.route[:0])
				l.links, l.ways = l.links+len(l.route), l.ways+1
				if see != nil {
					see(lane, sends/l.every, l.route)
				}
			}
		}
	}
}

// meet is ways.meet, and ways.beside.
func (l *look) meet() (share float64, beside bool) {
	ranks, links := l.s.Spec.Ranks, l.g.NumLinks()
	crossed := make([]int32, links*lookedRows) // by row and link, 1 more than a rank
	met := make([]bool, ranks*lookedRows)
	sent := make([]bool, len(met))
	begins := make([]int32, links) // by link, 1 more than the lane that begins with it
	for rank := range ranks {
		l.walk(rank, lookedRows*l.every, func(lane, row int, route []int32) {
			row--
			if len(route) > 0 {
				first := &begins[route[0]]
				beside = beside || *first != 0 && *first != int32(lane+1)
				*first = int32(lane + 1)
			}
			sent[row*ranks+rank] = true
			for _, on := range route {
				by := &crossed[row*links+int(on)]
				if other := int(*by) - 1; other >= 0 && other != rank {
					met[row*ranks+rank], met[row*ranks+other] = true, true
				}
				*by = int32(rank + 1)
			}
		})
	}
	meet, of := 0, 0
	for i := range met {
		if sent[i] {
			of++
		}
		if met[i] {
			meet++
		}
	}
	return float64(meet) / float64(max(of, 1)), beside
}

// cold is how much longer what is looked up takes where there are many ranks: their state is not
// near the processor any more.
func cold(ranks int) float64 { return math.Sqrt(math.Sqrt(float64(ranks) / coldRanks)) }
