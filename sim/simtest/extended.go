package simtest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/topology"
	"collsim/unit"
)

// Extended adds to a random schedule what schedule.Lane cannot write: tags, packets, silent puts
// and kernels, and multimem operations: on the switches of Aggregation, or on a single one, which
// it enables for multimem.
func Extended(t testing.TB, rng *rand.Rand, s *schedule.Schedule,
	g *topology.Graph) *schedule.Schedule {
	t.Helper()
	ranks, multimem := int32(s.Spec.Ranks), g.Preset == "switch" || g.Computes()
	for i := range g.Nodes() {
		if n := &g.Nodes()[i]; g.Preset == "switch" {
			n.Multicast, n.Reduce = n.Switch, n.Switch
		}
	}
	salt := rng.Int32N(1 << 20)
	tag := func(from, to int32, p *schedule.Peer, lane int32) { // the same at both ends
		h := flat.Spread(uint64(salt) + uint64(from)<<8 + uint64(to)<<16 + uint64(lane)<<24 +
			uint64(p.Class)<<40)
		p.Tag = []int32{0, 0, 1, 77}[h%4]
	}
	return Rewritten(t, s, func(rank, lane int, step schedule.Step, add func(schedule.Step)) {
		me := int32(rank)
		for i := range step.From {
			if p := &step.From[i].Peer; step.From[i].Kind == schedule.Message {
				tag(p.Rank, me, p, p.Lane+int32(lane)<<4)
			}
		}
		for i := range step.Send {
			d := &step.Send[i]
			tag(me, d.Peer.Rank, &d.Peer, int32(lane)+d.Peer.Lane<<4)
			if d.Packet = step.Moves() && rng.IntN(2) == 0; !d.Packet {
				d.Line = step.Moves() && d.Message() && !d.Put && rng.IntN(2) == 0
			}
			d.Relaxed = d.Relaxed || rng.IntN(5) == 0
		}
		add(step)
		if rng.IntN(4) == 0 {
			add(extra(rng, ranks, me, multimem))
		}
	})
}

// extra returns a random step that no other step waits for.
func extra(rng *rand.Rand, ranks, me int32, multimem bool) schedule.Step {
	at := schedule.Region{First: rng.Int32N(80), Run: 1 + rng.Int32N(20), Times: 1}
	out := at
	out.Buffer = schedule.Output
	team := []int32{}
	for _, r := range rng.Perm(int(ranks))[:1+rng.IntN(int(ranks))] {
		team = append(team, int32(r))
	}
	load := schedule.Source{Kind: schedule.Multimem, Region: at, Team: team}
	store := schedule.Dest{Region: out, Team: team, Packet: rng.IntN(4) == 0}
	kinds := 2
	if multimem {
		kinds = 6
	}
	switch rng.IntN(kinds) {
	case 0:
		return schedule.Step{Kernel: schedule.Opaque([]unit.Time{1, 100_000, 250_000}[rng.IntN(3)])}
	case 1:
		peer := (me + 1 + rng.Int32N(ranks-1)) % ranks
		put := schedule.Dest{Peer: schedule.Peer{Rank: peer, Class: schedule.Puts}, Put: true,
			Silent: true, Region: out}
		puts := []schedule.Dest{put}
		for range rng.IntN(3) { // more of them, to the same rank or another
			if rng.IntN(2) == 0 {
				put.Peer.Rank = (me + 1 + rng.Int32N(ranks-1)) % ranks
			}
			puts = append(puts, put)
		}
		return schedule.Step{From: []schedule.Source{{Region: at}}, Send: puts}
	case 2:
		return schedule.Step{From: []schedule.Source{load}, To: []schedule.Region{out}}
	case 3:
		return schedule.Step{From: []schedule.Source{{Region: at}}, Send: []schedule.Dest{store}}
	case 4:
		return schedule.Step{From: []schedule.Source{load, {Region: at}}, Send: []schedule.Dest{store}}
	}
	return schedule.Step{From: []schedule.Source{load}, Send: []schedule.Dest{store}}
}

// Fused returns a copy of a schedule in which about half of the steps that only load a multimem and
// store it leave both to the switches.
func Fused(t testing.TB, s *schedule.Schedule) *schedule.Schedule {
	t.Helper()
	return Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
		if len(step.From) == 1 && step.From[0].Kind == schedule.Multimem && len(step.Send) == 1 &&
			!step.Send[0].Packet && step.From[0].Region.First%2 == 0 {
			step.Send[0].Fused = true
		}
		add(step)
	})
}

// within replaces a region that wraps around the end of its buffer by a list of blocks.
func within(s *schedule.Schedule, r *schedule.Region) {
	n := int32(s.Blocks(r.Buffer))
	if r.List != nil || r.Times != 1 || r.First+r.Run <= n {
		return
	}
	for i := range r.Run {
		r.List = append(r.List, (r.First+i)%n)
	}
}

// Rewritten returns a copy of a schedule in which the function step replaces each step by the steps
// that it adds.
func Rewritten(t testing.TB, s *schedule.Schedule,
	step func(rank, lane int, step schedule.Step, add func(schedule.Step))) *schedule.Schedule {
	t.Helper()
	lanes := make([]int, s.Spec.Ranks)
	for rank := range lanes {
		lanes[rank] = s.Program(rank).Lanes()
	}
	head := schedule.Schedule{Name: s.Name, Spec: s.Spec, Cuts: s.Cuts, Memory: s.Memory,
		Slots: s.Slots, Slices: s.Slices}
	written := make([][][]schedule.Step, len(lanes)) // ordered, as step may be random
	for rank := range lanes {
		p := s.Program(rank)
		for lane := range lanes[rank] {
			var steps []schedule.Step
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				var one schedule.Step
				p.Load(&c, &one)
				for i := range one.From {
					within(s, &one.From[i].Region)
				}
				for i := range one.To {
					within(s, &one.To[i])
				}
				for i := range one.Send {
					within(s, &one.Send[i].Region)
				}
				step(rank, lane, one, func(s schedule.Step) { steps = append(steps, s) })
			}
			written[rank] = append(written[rank], steps)
		}
	}
	made, err := schedule.Assemble(head, lanes, func(rank, lane int, add func(schedule.Step)) {
		for _, s := range written[rank][lane] {
			add(s)
		}
	})
	require.NoError(t, err)
	return made
}
