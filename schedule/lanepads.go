package schedule

import "math"

// Pads are the signal pads of a channel of symmetric memory. There is one for each pair of this
// lane and a lane of another rank. A pad holds one signal and is reset when that is awaited. Pads
// of different channels are different pads.
type Pads struct {
	lane    *Lane
	channel int32
}

// Pads returns the pads of a channel: connections of class Pad with that tag.
func (l *Lane) Pads(channel int) Pads {
	if channel < 0 || channel > math.MaxInt32 {
		l.misuse("pads of channel %d: 0 to %d are expected", channel, math.MaxInt32)
		channel = 0
	}
	return Pads{l, int32(channel)}
}

// Signal sets the pad of a rank.
func (p Pads) Signal(to int) { p.lane.append(Step{Send: []Dest{{Peer: p.peer(to)}}}) }

// Wait awaits the signal of a rank.
func (p Pads) Wait(from int) {
	p.lane.append(Step{From: []Source{{Kind: Message, Peer: p.peer(from)}}})
}

// Barrier signals to all other ranks and then awaits all their signals.
func (p Pads) Barrier() {
	l := p.lane
	for i := 1; i < l.Ranks; i++ {
		p.Signal(l.Rank + i)
	}
	for i := 1; i < l.Ranks; i++ {
		p.Wait(l.Rank - i)
	}
}

// peer returns the pad of a rank.
func (p Pads) peer(rank int) Peer {
	other := p.lane.peer(rank, Pad)
	other.Tag = p.channel
	return other
}

// Signal sets the signal pad of a rank, of channel 0.
func (l *Lane) Signal(to int) { l.Pads(0).Signal(to) }

// Wait awaits the signal of a rank, on channel 0.
func (l *Lane) Wait(from int) { l.Pads(0).Wait(from) }

// Barrier adds a barrier of all ranks on channel 0.
func (l *Lane) Barrier() { l.Pads(0).Barrier() }

// LoadReduce returns a region of all ranks as a source, which the switch combines (multimem
// load-reduce).
func (l *Lane) LoadReduce(r Region) Source { return l.LoadReduceOf(allOf(l.Ranks), r) }

// LoadReduceOf returns a region of some ranks, each named once, as a source that the switch
// combines.
func (l *Lane) LoadReduceOf(team []int32, r Region) Source {
	return Source{Kind: Multimem, Region: r, Team: team}
}

// Multicast stores the combined sources into a region of all ranks, which the switch copies to them
// (multimem store). It is silent: the lane's next signal to a rank says that it has landed there.
func (l *Lane) Multicast(at Region, sources ...Source) {
	l.MulticastTo(allOf(l.Ranks), at, sources...)
}

// MulticastTo multicasts into a region of some ranks, each named once.
func (l *Lane) MulticastTo(team []int32, at Region, sources ...Source) {
	l.flushPending()
	s := l.step(nil, sources)
	s.Send = []Dest{{Team: team, Region: at}}
	l.append(s)
}

// ReduceToAll has the switches add up a region of some ranks, each named once, and store the sum in
// a region of every one of them (SHARP's aggregation). It ends when all have it.
func (l *Lane) ReduceToAll(team []int32, at, r Region) {
	l.flushPending()
	s := l.step(nil, []Source{l.LoadReduceOf(team, r)})
	s.Send = []Dest{{Team: team, Region: at, Fused: true}}
	l.append(s)
}

// allOf returns all of a number of ranks, as the team of a multimem.
func allOf(ranks int) []int32 {
	team := make([]int32, ranks)
	for i := range team {
		team[i] = int32(i)
	}
	return team
}
