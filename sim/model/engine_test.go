package model_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestSecondEngine: an engine that takes every rule from this package, and has nothing else of the
// one that is used, gives the same lane ends and totals of random schedules. It looks at every lane
// again and again, keeps all that was ever sent, and searches its lists from end to end. Lanes that
// go on before their bytes have left, rendezvous, silent puts and multimem it does not simulate.
func TestSecondEngine(t *testing.T) {
	for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
		simtest.Law(t, 600, "engines agree", func(t testing.TB, rng *rand.Rand) bool {
			s := simtest.Schedule(rng, false)
			env := simtest.Env(t, rng, s.Spec.Ranks)
			if env.Sharing = sharing; sharing == model.Fluid {
				env.Switching, env.Segment = model.CutThrough, 0
			}
			env.Device.Offload, env.Device.SendBuffer, env.Device.EagerLimit = false, 0, 0
			want, err := event.Run(s, &env, nil)
			require.NoError(t, err)
			x := newEngine(s, &env)
			x.run()
			ends := make([]unit.Time, len(x.lanes))
			for i, l := range x.lanes {
				require.True(t, l.cursor.Done())
				ends[i] = l.end.T
			}
			require.Equal(t, want.LaneEnd, ends)
			require.Equal(t, want.LinkLoad, x.load)
			return true
		})
	}
}

// engine is the state of a run.
type engine struct {
	model.Rules
	network     model.Network
	lanes       []*lane
	first       []int // of each rank's lanes
	connections map[connectionKey]*connection

	queue    []model.Request // the item is a segment (FIFO) or a message (fluid)
	segments []*segment
	messages []*message
	free     []unit.Time // of links
	load     []unit.Bytes
	fair     *model.MaxMin
}

type lane struct {
	program  *schedule.Program
	cursor   schedule.Cursor
	index    int
	end      model.Moment // of the step before
	isBusy   bool
	until    model.Moment // of the present step
	pending  int          // what must leave or come before it ends
	step     schedule.Step
	received []*connection
	sends    []*message
	posts    []model.Moment
	key      uint64
}

type connectionKey struct {
	from, to int // lanes
	class    schedule.Class
	tag      int32
}

// connection is a connection, with all that was ever sent on it.
type connection struct {
	messages []*message
	received int
	freed    []model.Moment // slots, as the sender sees it
}

// message is a message, a get's request, or its reply.
type message struct {
	number             int
	from               *lane
	bytes, onLinks     unit.Bytes
	late               unit.Time
	peers, route       int32
	key                uint64
	asked, at          model.Moment
	isHere             bool
	isRequest, isReply bool
	// fluid
	rest    model.Rest
	ends    unit.Time
	isFlow  bool
	hasRate bool
}

// segment is a segment, or the whole, of a message.
type segment struct {
	message  *message
	from, to unit.Bytes
	hop      int32
	tail     model.Moment
}

func newEngine(s *schedule.Schedule, env *model.Env) *engine {
	x := &engine{Rules: model.NewRules(s, env), network: model.NewNetwork(env.Graph),
		connections: map[connectionKey]*connection{}}
	x.free, x.load = make([]unit.Time, len(x.network.Links)), make([]unit.Bytes, len(x.network.Links))
	if env.Sharing == model.Fluid {
		x.fair = model.NewMaxMin(&x.network)
	}
	for rank := range s.Spec.Ranks {
		x.first = append(x.first, len(x.lanes))
		p := s.Program(rank)
		for i := range p.Lanes() {
			c := p.Walk(i)
			x.lanes = append(x.lanes, &lane{program: p, cursor: c, index: i,
				end: x.Begin(int32(rank), !c.Done()), key: model.LaneKey(i)})
		}
	}
	return x
}

// run goes on until nothing is left to do.
func (x *engine) run() {
	for {
		for again := true; again; {
			again = false
			for _, l := range x.lanes {
				again = x.goOn(l) || again
			}
		}
		if x.fair == nil {
			if len(x.queue) == 0 {
				return
			}
			x.serve(x.next())
		} else if !x.instant() {
			return
		}
	}
}

// next takes the request whose turn it is.
func (x *engine) next() model.Request {
	least := 0
	for i := range x.queue {
		a, b := &x.queue[i], &x.queue[least]
		if a.First != b.First && a.First < b.First || a.First == b.First &&
			(a.Second < b.Second || a.Second == b.Second && a.Third < b.Third) {
			least = i
		}
	}
	r := x.queue[least]
	x.queue = slices.Delete(x.queue, least, least+1)
	return r
}

// goOn carries out a lane's next step, if it can start.
func (x *engine) goOn(l *lane) bool {
	if l.isBusy || l.cursor.Done() {
		return false
	}
	l.program.Load(&l.cursor, &l.step)
	start, ok := x.start(l)
	if !ok {
		return false
	}
	rank := int32(l.program.Rank())
	n, known := x.Size(l.spot(), &l.step)
	l.received, l.sends, l.isBusy = nil, nil, true
	for i := range l.step.From {
		if f := &l.step.From[i]; f.Kind == schedule.Message {
			p := x.connect(l, &f.Peer, false)
			if !known {
				n = max(n, p.messages[p.received].bytes)
			}
			p.received++
			l.received = append(l.received, p)
		}
	}
	l.until = start.Plus(x.Cost(rank, &l.step, n))
	for i := range l.step.Send {
		d := &l.step.Send[i]
		p, m := x.connect(l, &d.Peer, true), &message{from: l, bytes: n, peers: int32(len(l.step.Send))}
		f := x.Device.Of(n)
		m.late, m.onLinks = f.Latency, model.OnLinks(f, n, d.Framing())
		m.route = x.network.Route(rank, d.Peer.Rank)
		p.messages = append(p.messages, m)
		l.sends = append(l.sends, m)
	}
	l.pending = 1
	for i := range l.step.From {
		if f := &l.step.From[i]; f.Kind == schedule.Get {
			owner := l.spot()
			owner.Rank = int(f.Peer.Rank)
			l.pending++
			x.post(&message{from: l, bytes: x.SizeOf(owner, &f.Region), isRequest: true,
				route: x.network.Route(rank, f.Peer.Rank)}, l.until)
		}
	}
	x.oneDone(l, l.until)
	return true
}

// start is S, and whether all that it depends on is known.
func (x *engine) start(l *lane) (at model.Moment, ok bool) {
	at = l.end
	for i := range l.step.From {
		if f := &l.step.From[i]; f.Kind == schedule.Message {
			p := x.connect(l, &f.Peer, false)
			if p.received == len(p.messages) || !p.messages[p.received].isHere {
				return at, false
			}
			at = model.Later(at, p.messages[p.received].at)
		}
	}
	for i := range l.step.Send {
		d := &l.step.Send[i]
		p, slots := x.connect(l, &d.Peer, true), int(x.Slots(d.Peer.Class))
		if before := len(p.messages) - slots; slots > 0 && before >= 0 {
			if before >= len(p.freed) {
				return at, false
			}
			at = model.Later(at, p.freed[before])
		}
	}
	for _, v := range l.step.Await {
		if l.cursor.Slice() > 0 || v.Value <= 0 {
			continue
		}
		posts := x.lanes[x.first[l.program.Rank()]+int(v.Lane)].posts
		if len(posts) < int(v.Value) {
			return at, false
		}
		at = model.Later(at, posts[v.Value-1])
	}
	return at, true
}

func (l *lane) spot() schedule.Spot {
	return schedule.Spot{Rank: l.program.Rank(), Channel: l.program.Channel(l.index),
		Slice: int(l.cursor.Slice())}
}

func (x *engine) connect(l *lane, p *schedule.Peer, out bool) *connection {
	k := connectionKey{from: x.first[p.Rank] + int(p.Lane), to: x.first[l.program.Rank()] + l.index,
		class: p.Class, tag: p.Tag}
	if out {
		k.from, k.to = k.to, k.from
	}
	if x.connections[k] == nil {
		x.connections[k] = &connection{}
	}
	return x.connections[k]
}

// oneDone tells a step that one of the things that it waits for after D is over.
func (x *engine) oneDone(l *lane, at model.Moment) {
	l.until = model.Later(l.until, at)
	if l.pending--; l.pending > 0 {
		return
	}
	if sends := l.sends; sends != nil { // they had to wait for gets
		l.sends, l.pending = nil, len(sends)
		d := l.until
		for _, m := range sends {
			x.post(m, d)
		}
		return
	}
	l.end, l.isBusy = l.until, false
	for _, p := range l.received {
		p.freed = append(p.freed, x.Freed(l.end))
	}
	if l.step.Post && l.cursor.Last(int32(x.Schedule.Slices)) {
		l.posts = append(l.posts, l.end)
	}
	l.cursor.Next(int32(x.Schedule.Slices))
}
