package fold

import (
	"math/bits"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// Where no group takes ranks to each other, as in a tree, a schedule may have classes of parts of
// ranks (schedule.Classes): parts of a class have peers of the same classes, which do the same to
// them. One part plays for all of its class, on a network of its own: two links for each class, up
// and down. Messages of one step to peers of one class are one flow, which counts on the sender's
// link as often as they are, and on the receiver's as often as that has such a peer.
//
// On a switch every rank has its links for itself, so all that parts of a class could differ in is
// what other parts of their ranks put on these. That is looked at in the end: where no two parts of
// a rank have had a link at one time, this was the run, as max-min rates have but one solution and
// it is the same for all of a class. Otherwise the engine refuses.
type quotient struct {
	rules   model.Rules
	classes *schedule.Classes
	lanes   int // of each rank
	network model.Network
	fair    *model.Drain
	queue   flat.Heap[unit.Time] // flows to begin

	tasks []task
	flows []flow
	last  []int32 // by class, then lane: its latest task so far, −1 for none
	posts [][]int32
	sent  []int32 // by handle of a message: its flow
	told  []told  // by handle
	// How many flows there are, by the classes of both ends, and the peers' lane and tag.
	carried map[[4]int32]int32

	totals model.Totals
	links  []spoke
	ends   []unit.Time // by class, then lane
	why    string
}

// mostTasks bounds what is kept.
const mostTasks = 1 << 20

// task is a sub-step of a class's lane.
type task struct {
	class, lane int32
	waits       int32     // what is not known yet of what it waits for
	at          unit.Time // S, as far as that is known; then E
	cost        unit.Time
	leaving     int32   // flows that have not left
	flows       []int32 // that it sends
	next        []int32 // tasks that wait for its end
}

// flow is all messages of a step to peers of a class.
type flow struct {
	from, to       int32 // the task; the class of the peers
	lane, tag      int32 // of the peers
	peers          int32 // of the step
	outs, ins      int32 // how many the step sends; how many a peer receives
	handle         int32 // of the one that is received by the peer that stands for its class
	route          int32
	bytes          unit.Bytes
	begins, leaves unit.Time
	next           []int32 // tasks that receive it
}

// told is who has received a message.
type told struct{ task, times int32 }

// spoke is a link of a class.
type spoke struct {
	load unit.Bytes
	busy []span // when it had flows
}

// span is a stretch of time.
type span struct{ from, to unit.Time }

// playClasses is the run of a schedule whose ranks have roles.
func playClasses(s *schedule.Schedule, env *model.Env) (*model.Totals, error) {
	if why := playsClasses(s, env); why != "" {
		return nil, &NotFolded{why}
	}
	c := schedule.ClassesOf(s)
	if c == nil {
		return nil, &NotFolded{"ranks have roles of which too many are different"}
	}
	q := &quotient{rules: model.NewRules(s, env), classes: c, lanes: c.Lanes(0),
		carried: map[[4]int32]int32{}}
	for class := range c.Reps {
		if c.Lanes(class) != q.lanes {
			return nil, &NotFolded{"ranks have different numbers of lanes"}
		}
	}
	q.last, q.posts = make([]int32, len(c.Reps)*q.lanes), make([][]int32, len(c.Reps)*q.lanes)
	for i := range q.last {
		q.last[i] = -1
	}
	_, err := schedule.ExecuteClasses(c, q.rules.DefaultSlots(), schedule.Hooks{Step: q.add})
	if err != nil && q.why == "" { // sim/event says of which rank
		q.why = "a step waits for ever, or a message is never received"
	}
	if q.why == "" {
		q.join()
	}
	if q.why == "" {
		q.run()
	}
	if q.why != "" {
		return nil, &NotFolded{q.why}
	}
	return q.finished()
}

// playsClasses says why a schedule with roles is none that is played by classes.
func playsClasses(s *schedule.Schedule, env *model.Env) string {
	if env.Sharing != model.Fluid {
		return "the schedule declares no group, and under fifo peers of a rank have an order"
	}
	if env.Start != nil || env.Slowdown != nil {
		return "the schedule declares no group, and ranks have starts or slowdowns"
	}
	if !env.Graph.IsStar() {
		return "the schedule declares no group, and the network is no switch with links that are alike"
	}
	if env.Device.HasMessage() {
		return "the device is none that it knows"
	}
	return ""
}

// add takes a sub-step of a class.
func (q *quotient) add(v *schedule.Visit) error {
	class, s := v.Rank, v.Step
	at, i := int(class)*q.lanes+int(v.Lane), int32(len(q.tasks))
	rank := q.classes.Rank(class)
	n, known := q.rules.Size(schedule.Spot{Rank: int(rank), Channel: int(v.Channel),
		Slice: int(v.Slice)}, s)
	if !known {
		q.why = "a step does not say what it moves"
	}
	t := task{class: class, lane: v.Lane, waits: 1, at: q.rules.Begin(rank, true).T,
		cost: q.rules.Cost(rank, s, n)}
	if before := q.last[at]; before >= 0 {
		q.tasks[before].next = append(q.tasks[before].next, i)
		t.waits++
	}
	for k := range s.From {
		if s.From[k].Kind != schedule.Message {
			continue
		}
		h := v.In[k]
		if q.told[h].task >= 0 && q.told[h].task != i {
			q.why = "a message is received in several steps"
		}
		q.told[h] = told{i, q.told[h].times + 1}
	}
	if v.Slice == 0 {
		for _, e := range s.Await {
			if e.Value > 0 {
				on := q.posts[int(class)*q.lanes+int(e.Lane)][e.Value-1]
				q.tasks[on].next = append(q.tasks[on].next, i)
				t.waits++
			}
		}
	}
	for k := range s.Send {
		t.flows = q.send(t.flows, i, v, k, n)
	}
	q.tasks, q.last[at] = append(q.tasks, t), i
	if s.Post && v.Last {
		q.posts[at] = append(q.posts[at], i)
	}
	size := int64(q.classes.Size[class])
	q.totals.Steps += size
	q.totals.Messages += size * int64(len(s.Send))
	q.totals.BytesSent += n * unit.Bytes(size*int64(len(s.Send)))
	if len(q.tasks) > mostTasks {
		q.why = "classes have too many steps"
	}
	if q.why != "" {
		return &NotFolded{q.why}
	}
	return nil
}

// send adds a message of task i to one of its flows.
func (q *quotient) send(flows []int32, i int32, v *schedule.Visit, k int, n unit.Bytes) []int32 {
	d := &v.Step.Send[k]
	to := q.classes.ClassOf(&d.Peer)
	f := int32(-1)
	for _, at := range flows {
		if x := &q.flows[at]; x.to == to && x.lane == d.Peer.Lane && x.tag == d.Peer.Tag {
			f = at
		}
	}
	if f < 0 {
		f = int32(len(q.flows))
		q.flows = append(q.flows, flow{from: i, to: to, lane: d.Peer.Lane, tag: d.Peer.Tag,
			peers: int32(len(v.Step.Send)), bytes: n, handle: -1})
		flows = append(flows, f)
		connection := [4]int32{v.Rank, to, d.Peer.Lane, d.Peer.Tag}
		q.carried[connection]++
		if most := q.rules.Slots(schedule.FIFO); most > 0 && q.carried[connection] > most {
			q.why = "a connection carries more messages than it has slots"
		}
	}
	q.flows[f].outs++
	for int(v.Out[k]) >= len(q.sent) {
		q.sent, q.told = append(q.sent, -1), append(q.told, told{task: -1})
	}
	q.sent[v.Out[k]] = f
	if d.Peer.Class != schedule.FIFO || d.Framing() != schedule.Bare || d.Relaxed {
		q.why = "a message is none that it knows"
	}
	return flows
}

// join has tasks wait for what they receive, and finds the links of all flows.
func (q *quotient) join() {
	c := q.classes
	for h, f := range q.sent {
		x, t := &q.flows[f], q.told[h]
		if t.times == 0 {
			continue
		}
		if x.handle >= 0 {
			q.why = "messages of a step are received in several ways"
		}
		x.handle, x.ins = int32(h), t.times
		x.next = append(x.next, t.task)
		q.tasks[t.task].waits++
	}
	link := q.rules.Graph.Link(0)
	for range 2 * len(c.Reps) {
		q.network.Links = append(q.network.Links,
			model.Link{Bandwidth: link.Bandwidth, Latency: link.Latency})
	}
	q.links = make([]spoke, len(q.network.Links))
	for i := range q.flows {
		x := &q.flows[i]
		from := q.tasks[x.from].class
		if int64(x.outs)*int64(c.Size[from]) != int64(x.ins)*int64(c.Size[x.to]) {
			q.why = "messages of a step are received in several ways"
		}
		x.route = q.addRoute(from, x)
	}
}

// addRoute adds the links that a flow of a class crosses, as often as it does.
func (q *quotient) addRoute(from int32, x *flow) int32 {
	n := &q.network
	up, down := 2*from, 2*x.to+1
	r := model.Route{From: int32(len(n.Hops)), Tree: -1, Slowest: n.Links[up].Bandwidth,
		Latency: min(n.Links[up].Latency+n.Links[down].Latency, unit.Forever)}
	for range x.outs {
		n.Hops = append(n.Hops, up)
	}
	for range x.ins {
		n.Hops = append(n.Hops, down)
	}
	r.To = int32(len(n.Hops))
	n.Routes = append(n.Routes, r)
	return int32(len(n.Routes) - 1)
}

// run goes from instant to instant.
func (q *quotient) run() {
	q.fair = model.NewDrain(&q.network)
	q.fair.Grow(len(q.flows))
	q.ends = make([]unit.Time, len(q.last))
	for i := range q.ends {
		q.ends[i] = q.rules.Begin(0, false).T
	}
	for i := range q.tasks {
		q.ready(int32(i), q.tasks[i].at)
	}
	for q.why == "" {
		now := q.fair.NextEnd()
		if len(q.queue) > 0 {
			now = min(now, q.queue[0].First)
		}
		if now == never {
			return
		}
		q.instant(now)
	}
}

// instant carries out all that happens at a time.
func (q *quotient) instant(now unit.Time) {
	for {
		switch {
		case len(q.queue) > 0 && q.queue[0].First == now:
			f := q.queue.Pop().Item
			x := &q.flows[f]
			rank := q.classes.Rank(q.tasks[x.from].class)
			q.fair.Begin(f, x.route, q.rules.PaceRate(rank, x.peers), x.bytes)
		case q.fair.NextEnd() == now:
			f, _ := q.fair.Next()
			q.fair.End(f)
			q.left(f, now)
		default:
			if q.fair.Solve(now); q.fair.Starved >= 0 {
				q.why = "a link is too slow for its flows"
			}
			return
		}
	}
}

// ready tells a task that one more thing that it waits for is known: when it was.
func (q *quotient) ready(i int32, at unit.Time) {
	t := &q.tasks[i]
	t.at = max(t.at, at)
	if t.waits--; t.waits > 0 {
		return
	}
	t.at = min(t.at+t.cost, unit.Forever)
	since := t.at
	t.leaving = int32(len(t.flows)) + 1 // nobody but us ends it meanwhile
	for _, f := range t.flows {
		x := &q.flows[f]
		x.begins = since
		for _, h := range q.network.LinksOf(&q.network.Routes[x.route]) {
			q.links[h].load += x.bytes
		}
		if q.network.Routes[x.route].IsShared(x.bytes) {
			q.queue.Push(flat.Entry[unit.Time]{First: since, Item: f})
			continue
		}
		q.left(f, since+q.rules.Pace(q.classes.Rank(t.class), x.peers, x.bytes))
	}
	q.over(i, since)
}

// left tells that the last byte of a flow has left.
func (q *quotient) left(f int32, at unit.Time) {
	x := &q.flows[f]
	x.leaves = at
	q.over(x.from, at)
	for _, i := range x.next {
		q.ready(i, min(at+q.network.Routes[x.route].Latency, unit.Forever))
	}
}

// over tells a task that something is over before which it does not end.
func (q *quotient) over(i int32, at unit.Time) {
	t := &q.tasks[i]
	t.at = max(t.at, at)
	if t.leaving--; t.leaving > 0 {
		return
	}
	if t.at >= unit.Forever {
		q.why = "it does not end in time"
	}
	end := &q.ends[int(t.class)*q.lanes+int(t.lane)]
	*end = max(*end, t.at)
	for _, next := range t.next {
		q.ready(next, t.at)
	}
}

// rolesClasses is how many classes there are about, of those schedules whose parts of ranks do not
// meet on a link, as far as we have seen: trees of a power of two, with a step a lane. Of others
// only the run tells.
func rolesClasses(s *schedule.Schedule, env *model.Env) int {
	ranks := uint(s.Spec.Ranks)
	if ranks&(ranks-1) != 0 || s.Slices > 1 || playsClasses(s, env) != "" {
		return 0
	}
	p := s.Program(0)
	for lane := range p.Lanes() {
		if c := p.Walk(lane); !c.Done() {
			if c.Next(1); !c.Done() {
				return 0
			}
		}
	}
	return 2 * bits.Len(ranks)
}
