package schedule

import "math"

// Pads are the signal pads of a channel of symmetric memory: a pad for each pair of this lane and
// one of another rank, which holds one signal and resets itself when that is awaited. Pads of
// different channels are different pads.
type Pads struct {
	lane    *Lane
	channel int32
}

// Pads are those of a channel, which are connections of that tag.
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

func (p Pads) peer(rank int) Peer {
	other := p.lane.peer(rank, Pad)
	other.Tag = p.channel
	return other
}

// Signal sets the signal pad of a rank, of channel 0.
func (l *Lane) Signal(to int) { l.Pads(0).Signal(to) }

// Wait awaits the signal of a rank, on channel 0.
func (l *Lane) Wait(from int) { l.Pads(0).Wait(from) }

// Barrier is that of all ranks on channel 0.
func (l *Lane) Barrier() { l.Pads(0).Barrier() }

// LoadReduce is a region of all ranks as a source: the switch combines them on the way (multimem).
func (l *Lane) LoadReduce(r Region) Source { return l.LoadReduceOf(l.all(), r) }

// LoadReduceOf is LoadReduce of some ranks, each named once.
func (l *Lane) LoadReduceOf(team []int32, r Region) Source {
	return Source{Kind: Multimem, Region: r, Team: team}
}

// Multicast stores what sources combine to into a region of all ranks: the switch copies it
// (multimem). It is silent: the lane's next signal to a rank says that it has landed there.
func (l *Lane) Multicast(at Region, sources ...Source) {
	l.MulticastTo(l.all(), at, sources...)
}

// MulticastTo is Multicast into a region of some ranks, each named once.
func (l *Lane) MulticastTo(team []int32, at Region, sources ...Source) {
	l.flushPending()
	s := l.step(nil, sources)
	s.Send = []Dest{{Team: team, Region: at}}
	l.append(s)
}

// all are the ranks, as the team of a multimem.
func (l *Lane) all() []int32 {
	team := make([]int32, l.Ranks)
	for i := range team {
		team[i] = int32(i)
	}
	return team
}
