package synth

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// mostParts bounds the parts of a block.
const mostParts = 64

// A parcel is parts of the block of a pair of ranks that go the same way.
type parcel struct {
	from, to     int
	first, parts int   // of the block
	via          []int // the ranks on the way, both ends included
	slots        []int // where the ranks between store it: the first block of scratch
}

// An exchange is the parcels of an all_to_all.
type exchange struct {
	ranks, parts int
	parcels      []parcel
	slots        []int     // by rank: blocks of scratch
	hops         int       // the most of a parcel
	latency      unit.Time // the largest of a hop
	// most is the largest number of parts that one rank sends to another, and each the bytes a
	// second of a part if all are sent at once.
	most int
	each unit.Rate
}

// newExchanges finds ways for all parcels: the fastest for each alone, and for all together.
func newExchanges(n *network, parts int) (list []*exchange, err error) {
	if len(n.hops) == 0 {
		return nil, errors.New("no rank reaches another over links without a third between")
	}
	for _, r := range newRouter(n, parts).route() {
		list = append(list, newExchange(n, parts, r))
	}
	if list == nil {
		return nil, errors.New("some rank cannot be reached")
	}
	return list, nil
}

// newExchange puts the parts of a pair that go the same way together.
func newExchange(n *network, parts int, r routing) *exchange {
	e := &exchange{ranks: n.ranks, parts: parts, slots: make([]int, n.ranks), each: r.each,
		latency: n.latency()}
	sent := make([]int, len(n.hops))
	for pair, list := range r.paths {
		slices.SortStableFunc(list, slices.Compare[path])
		for i := 0; i < len(list); {
			p := parcel{from: pair / n.ranks, to: pair % n.ranks, first: i}
			p.via = append(p.via, p.from)
			way := list[i]
			for _, h := range way {
				p.via = append(p.via, n.hops[h].to)
			}
			for ; i < len(list) && slices.Equal(list[i], list[p.first]); i++ {
				p.parts++
			}
			for _, h := range way {
				sent[h] += p.parts
			}
			for _, rank := range p.via[1 : len(p.via)-1] {
				p.slots = append(p.slots, e.slots[rank])
				e.slots[rank] += p.parts
			}
			e.hops = max(e.hops, len(p.via)-1)
			e.parcels = append(e.parcels, p)
		}
	}
	e.most = slices.Max(sent)
	return e
}

// time returns about how long the exchange takes, of blocks of so many bytes: the parts on the
// busiest link, and the way of the last of them.
func (e *exchange) time(bytes unit.Bytes, overhead unit.Time) unit.Time {
	part := bytes / unit.Bytes(e.parts)
	return part.Over(max(1, e.each)) + unit.Time(e.hops)*(overhead+e.latency)
}

// A leg is one hop of a parcel.
type leg struct {
	*parcel
	hop int
}

// legs lists what goes from each rank to each other (from·ranks + to), in the order in which it
// goes: first hops first, and of these the ones with the longest way to go. So nothing that is
// passed on holds up what is under way, and ranks that wait for one another all come on.
func (e *exchange) legs() [][]leg {
	lists := make([][]leg, e.ranks*e.ranks)
	for i := range e.parcels {
		p := &e.parcels[i]
		for hop := range len(p.via) - 1 {
			at := p.via[hop]*e.ranks + p.via[hop+1]
			lists[at] = append(lists[at], leg{p, hop})
		}
	}
	for _, list := range lists {
		slices.SortStableFunc(list, func(a, b leg) int {
			return cmp.Or(cmp.Compare(a.hop, b.hop), cmp.Compare(len(b.via), len(a.via)))
		})
	}
	return lists
}

// cuts cuts every block into parts. Scratch holds, in place, a copy of the input, and then what is
// passed on, of the length of the parts.
func (e *exchange) cuts(spec collective.Spec, channels int) (cuts [3]schedule.Cut, longest int64) {
	count := spec.Count
	size := func(i int) int64 {
		return part(count, int64(e.parts), int64(i)) -
			part(count, int64(e.parts), int64(i-1))
	}
	var all []int64
	for block := range e.ranks {
		for i := range e.parts {
			all = append(all, int64(block)*count+part(count, int64(e.parts), int64(i)))
		}
	}
	rows := make([][]int64, e.ranks)
	for rank := range rows {
		if spec.InPlace {
			rows[rank] = slices.Clone(all)
		}
	}
	end := func(rank int) int64 {
		if n := len(rows[rank]); n > 0 {
			return rows[rank][n-1]
		}
		return 0
	}
	for _, p := range e.parcels {
		for _, rank := range p.via[1 : len(p.via)-1] {
			for i := range p.parts {
				rows[rank] = append(rows[rank], end(rank)+size(p.first+i))
			}
		}
	}
	blocks := 0
	for _, row := range rows {
		blocks = max(blocks, (len(row)+e.parts-1)/e.parts*e.parts)
	}
	for rank := range rows { // as many blocks on all ranks
		for len(rows[rank]) < blocks {
			rows[rank] = append(rows[rank], end(rank)+size(len(rows[rank])%e.parts))
		}
		longest = max(longest, end(rank))
	}
	cut := fine(table(all), channels, 1)
	if blocks == 0 { // nothing is passed on
		return [3]schedule.Cut{cut, cut}, 0
	}
	return [3]schedule.Cut{cut, cut, fine(table(rows...), channels, 1)}, longest
}

// makeExchange makes an all_to_all.
func makeExchange(spec collective.Spec, o algos.Options, param func(string) string) (
	*schedule.Schedule, algos.Pick, error) {
	parts, err := whole("parts", param("parts"), mostParts)
	if err == nil {
		err = fits(spec)
	}
	if err != nil {
		return nil, algos.Pick{}, err
	}
	if spec.Ranks == 1 || spec.Empty() {
		return withoutData(spec)
	}
	list, err := algos.Once(o.Network, fmt.Sprintln("exchange", parts), func() ([]*exchange, error) {
		return newExchanges(newNetwork(o.Network.Graph), parts)
	})
	if err != nil {
		return nil, algos.Pick{}, err
	}
	block := spec.Bytes() / unit.Bytes(spec.Ranks)
	e := slices.MinFunc(list, func(a, b *exchange) int {
		return cmp.Compare(a.time(block, o.Network.Step), b.time(block, o.Network.Step))
	})
	channels := o.Channels
	if channels == 0 {
		channels = lanesFor(e.each, e.most, o.Network.LaneRate)
	}
	s, err := schedule.Build(e.plan(spec, channels))
	pick := algos.Pick{What: fmt.Sprintf("paths: %d parts of a block, at most %d hops", parts, e.hops)}
	return s, pick, err
}

// plan plans the exchange. Lane q of a rank sends to rank q, and lane ranks + q receives from it;
// the lane of its own number copies the own block, or in place the whole input to scratch, for
// which all others wait.
func (e *exchange) plan(spec collective.Spec, channels int) schedule.Plan {
	cuts, scratch := e.cuts(spec, channels)
	legs := e.legs()
	p := schedule.Plan{Name: Name, Spec: spec, Cuts: &cuts, Lanes: 2 * e.ranks, Channels: channels,
		Scratch: int((scratch + spec.Count - 1) / spec.Count)}
	p.Lane = func(l *schedule.Lane) {
		peer := l.Index % e.ranks
		switch {
		case l.Index == l.Rank && spec.InPlace:
			l.Copy(l.Scratch(0).Blocks(e.ranks*e.parts), l.In(0).Blocks(e.ranks*e.parts))
			l.Post()
		case l.Index == l.Rank:
			l.Copy(l.Out(l.Rank*e.parts).Blocks(e.parts), l.In(l.Rank*e.parts).Blocks(e.parts))
		case l.Index < e.ranks:
			e.send(l, peer, legs, spec.InPlace)
		case peer != l.Rank:
			e.receive(l, peer, legs[peer*e.ranks+l.Rank], spec.InPlace)
		}
	}
	return p
}

// send writes a lane that sends to a rank: of this rank's own block, and what others have sent here
// to be passed on.
func (e *exchange) send(l *schedule.Lane, to int, legs [][]leg, inPlace bool) {
	for i, g := range legs[l.Rank*e.ranks+to] {
		source := l.In(g.to*e.parts + g.first)
		switch {
		case g.hop > 0:
			source = e.slot(l, g, g.hop, inPlace)
			before := g.via[g.hop-1]
			posts := slices.Index(legs[before*e.ranks+l.Rank], leg{g.parcel, g.hop - 1}) + 1
			l.After(e.ranks+before, posts)
		case inPlace:
			source = l.Scratch(g.to*e.parts + g.first)
		}
		if i == 0 && inPlace {
			l.After(l.Rank, 1)
		}
		l.Facing(e.ranks + l.Rank)
		l.Send(to, source.Blocks(g.parts))
	}
}

// receive writes a lane that receives from a rank, and posts after each message.
func (e *exchange) receive(l *schedule.Lane, from int, legs []leg, inPlace bool) {
	for i, g := range legs {
		into := l.Out(g.from*e.parts + g.first)
		if g.hop+1 < len(g.via)-1 {
			into = e.slot(l, g, g.hop+1, inPlace)
		}
		if i == 0 && inPlace {
			l.After(l.Rank, 1)
		}
		l.Facing(l.Rank)
		l.Recv(from, into.Blocks(g.parts))
		l.Post()
	}
}

// slot returns where the hop-th rank on the way of a parcel stores it.
func (e *exchange) slot(l *schedule.Lane, g leg, hop int, inPlace bool) schedule.Region {
	first := g.slots[hop-1]
	if inPlace {
		first += e.ranks * e.parts
	}
	return l.Scratch(first)
}
