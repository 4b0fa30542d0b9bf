package chakra

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"collsim/unit"
)

// kineto converts a rank's file to nodes.
type kineto struct {
	*reader
	about  distributed
	events []*event // activities of the GPU
	syncs  []*event
	host   hostCalls

	streams []*gpuStream // by number
	// for each event, those that it waits for besides the one before it on its stream
	after [][]int
	late  error // a wait for something that began later
}

func newKineto(r *reader) *kineto {
	return &kineto{reader: r, host: hostCalls{byID: map[int64]*hostCall{},
		launches: map[int64]launch{}}}
}

// gpuStream holds the activities of a stream, in order.
type gpuStream struct {
	number int64
	events []int
	least  []int64 // least correlation of an event and those after it
	most   []int64 // largest of it and those before it
}

// take makes nodes of the events. Each collective is a node. So is each run of successive kernels
// of a stream, as long as no other stream waits for one of them or is waited for.
func (k *kineto) take() error {
	if len(k.events) == 0 {
		return errors.New("no event of a GPU (cat kernel, with stream and correlation): it was " +
			"recorded without ProfilerActivity.CUDA")
	}
	slices.SortStableFunc(k.events, func(a, b *event) int { return cmp.Compare(a.start, b.start) })
	k.reader.about.world = int(k.about.World)
	if k.about.Rank != nil {
		k.reader.about.rank = int(*k.about.Rank)
	}
	k.nameless()
	k.line()
	k.after = make([][]int, len(k.events))
	if len(k.syncs) > 0 {
		k.recorded()
	} else if len(k.streams) > 1 {
		k.inferred()
	}
	if k.late != nil {
		return k.late
	}
	k.whole()
	return k.runs()
}

// line sorts the events of each stream.
func (k *kineto) line() {
	byNumber := map[int64]*gpuStream{}
	for i, e := range k.events {
		s := byNumber[*e.args.Stream]
		if s == nil {
			s = &gpuStream{number: *e.args.Stream}
			byNumber[s.number] = s
			k.streams = append(k.streams, s)
		}
		s.events = append(s.events, i)
	}
	slices.SortFunc(k.streams, func(a, b *gpuStream) int { return cmp.Compare(a.number, b.number) })
	for _, s := range k.streams {
		n := len(s.events)
		s.least, s.most = make([]int64, n), make([]int64, n)
		for i := range n {
			s.most[i] = *k.events[s.events[i]].args.Correlation
			s.least[n-1-i] = *k.events[s.events[n-1-i]].args.Correlation
			if i > 0 {
				s.most[i] = max(s.most[i], s.most[i-1])
				s.least[n-1-i] = min(s.least[n-1-i], s.least[n-i])
			}
		}
	}
}

// before returns the last event that was launched before a call of the host, −1 for none.
func (s *gpuStream) before(call int64) int {
	i := sort.Search(len(s.least), func(i int) bool { return s.least[i] >= call })
	if i == 0 {
		return -1
	}
	return s.events[i-1]
}

// behind returns the first event that was launched after a call, −1 for none.
func (s *gpuStream) behind(call int64) int {
	i := sort.Search(len(s.most), func(i int) bool { return s.most[i] > call })
	if i == len(s.most) {
		return -1
	}
	return s.events[i]
}

// recorded adds the waits that the trace has. A stream's wait is for all that another stream had
// been given when the event was recorded. If the host waits, all that it launches later waits, too.
func (k *kineto) recorded() {
	for _, e := range k.syncs {
		var on []int // what is waited for
		call := *e.args.Correlation
		for _, s := range k.streams {
			switch e.args.Sync {
			case "Stream Wait Event", "Event Sync":
				if w, r := e.args.WaitStream, e.args.WaitRecord; w != nil && r != nil && *w == s.number {
					on = append(on, s.before(*r))
				}
			case "Stream Sync":
				if e.args.Stream != nil && *e.args.Stream == s.number {
					on = append(on, s.before(call))
				}
			case "Context Sync", "Device Sync":
				on = append(on, s.before(call))
			}
		}
		for _, s := range k.streams {
			if e.args.Sync == "Stream Wait Event" && (e.args.Stream == nil || *e.args.Stream != s.number) {
				continue
			}
			if who := s.behind(call); who >= 0 {
				k.wait(who, on)
			}
		}
	}
}

// inferred adds waits for activities of other streams that had ended before an event began.
func (k *kineto) inferred() {
	for _, s := range k.streams {
		for _, other := range k.streams {
			if s == other {
				continue
			}
			ended, known := 0, 0
			for _, i := range s.events {
				for ended < len(other.events) && k.events[other.events[ended]].end <= k.events[i].start {
					ended++
				}
				if ended > known {
					k.wait(i, other.events[ended-1:ended])
					known = ended
				}
			}
		}
	}
	k.note("the traces have no cuda_sync events (enable_cuda_sync_events of the profiler's " +
		"_ExperimentalConfig): what had ended on another stream when something began is taken for what " +
		"that waited for")
}

// wait makes an event wait for events of other streams.
func (k *kineto) wait(who int, on []int) {
	for _, x := range on {
		switch {
		case x < 0 || *k.events[x].args.Stream == *k.events[who].args.Stream:
		case x > who:
			k.late = fmt.Errorf("%v waits for %v, which began later", k.events[who], k.events[x])
		default:
			k.latest(who, x)
		}
	}
}

// latest records that an event waits for another. Of several on one stream it keeps the last.
func (k *kineto) latest(who, on int) {
	for i, x := range k.after[who] {
		if *k.events[x].args.Stream == *k.events[on].args.Stream {
			k.after[who][i] = max(x, on)
			return
		}
	}
	k.after[who] = append(k.after[who], on)
}

// whole notes the duration of the trace, and the time in which the GPU was busy.
func (k *kineto) whole() {
	first, until, busy := k.events[0].start, k.events[0].start, int64(0)
	for _, e := range k.events {
		if e.end > until {
			busy += e.end - max(e.start, until)
			until = e.end
		}
	}
	k.span = fmt.Sprintf("in %s the GPU takes %v, and is busy for %v of that; the host, for which it "+
		"may have waited else, is not simulated", k.file, unit.Time(until-first)*unit.Nanosecond,
		unit.Time(busy)*unit.Nanosecond)
}

// note appends a note.
func (k *kineto) note(text string) { k.notes = append(k.notes, text) }

// neighbours returns for each event whether an event of another stream waits for it. It also
// returns the event before it on its own stream, −1 for none.
func (k *kineto) neighbours() (awaited []bool, before []int) {
	awaited = make([]bool, len(k.events))
	for _, list := range k.after {
		for _, i := range list {
			awaited[i] = true
		}
	}
	before = make([]int, len(k.events))
	for _, s := range k.streams {
		last := -1
		for _, i := range s.events {
			before[i], last = last, i
		}
	}
	return awaited, before
}

// runs makes the nodes, with ids in the order in which their events began.
func (k *kineto) runs() error {
	awaited, before := k.neighbours()
	at := make([]int, len(k.events)) // its node
	var nodes []node
	count := map[int]int{} // kernels of a node
	asked := map[int64]*event{}
	for i, e := range k.events {
		last := before[i]
		asks := e.args.Collective != ""
		if last >= 0 && !asks && !awaited[last] && len(k.after[i]) == 0 &&
			k.events[last].args.Collective == "" {
			at[i] = at[last]
			nodes[at[i]].nanos += uint64(e.end - e.start)
			count[at[i]]++
			continue
		}
		n, err := k.node(e)
		if err != nil {
			return fmt.Errorf("%v: %w", e, err)
		}
		if other := asked[e.args.Call]; asks && e.args.Call != 0 {
			if other != nil {
				return fmt.Errorf("%v: External id = %d, as of %v: kernels of one call, which would "+
					"count twice", e, e.args.Call, other)
			}
			asked[e.args.Call] = e
		}
		at[i] = len(nodes)
		n.id = uint64(len(nodes))
		if last >= 0 {
			n.data = append(n.data, uint64(at[last]))
		}
		for _, on := range k.after[i] {
			n.data = append(n.data, uint64(at[on]))
		}
		slices.Sort(n.data)
		n.data = slices.Compact(n.data)
		nodes = append(nodes, n)
	}
	for i := range nodes {
		if more := count[i]; more > 0 {
			nodes[i].setName(fmt.Sprintf("%s and %d more", nodes[i].name, more))
		}
		if err := nodes[i].check(); err != nil {
			return fmt.Errorf("%v: %w", &nodes[i], err)
		}
		if err := k.reader.take(nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// node makes a node of a single event.
func (k *kineto) node(e *event) (n node, err error) {
	n = node{kind: compNode, event: e.number + 1, nanos: uint64(e.end - e.start),
		stream: fmt.Sprintf("stream %d", *e.args.Stream)}
	n.setName(short(e.Name))
	if e.args.Collective != "" {
		n.nanos = 0 // it takes what it takes here
		return n, k.ask(&n, &e.args)
	}
	return n, nil
}
