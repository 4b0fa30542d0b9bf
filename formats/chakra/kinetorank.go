package chakra

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"collsim/unit"
)

// kineto is a rank's file on its way to nodes.
type kineto struct {
	*reader
	about  distributed
	events []*event // what its GPU did
	syncs  []*event
	roots  map[int64]int64 // of the host's calls, by External id: places in their groups

	streams []*gpuStream // by number
	after   [][]int      // what each event waits for besides the one before it on its stream
	late    error        // a wait for what began later
}

// gpuStream is what a stream did, in order.
type gpuStream struct {
	number int64
	events []int
	least  []int64 // correlation of an event and those behind it
	most   []int64 // and of it and those before it
}

// take makes nodes of the events: one of each collective, and one of each run of kernels that
// follow each other on a stream, where nothing else waits for them or they for anything else.
func (k *kineto) take() error {
	if len(k.events) == 0 {
		return errors.New("no event of a GPU (cat kernel, with stream and correlation): it was " +
			"recorded without ProfilerActivity.CUDA")
	}
	slices.SortStableFunc(k.events, func(a, b *event) int { return cmp.Compare(a.start, b.start) })
	k.line()
	k.after = make([][]int, len(k.events))
	if len(k.syncs) > 0 {
		k.told()
	} else if len(k.streams) > 1 {
		k.seen()
	}
	if k.late != nil {
		return k.late
	}
	k.whole()
	return k.runs()
}

// line puts the events of each stream in order.
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

// before is the last event that was launched before a call of the host, −1 for none.
func (s *gpuStream) before(call int64) int {
	i := sort.Search(len(s.least), func(i int) bool { return s.least[i] >= call })
	if i == 0 {
		return -1
	}
	return s.events[i-1]
}

// behind is the first event that was launched after a call, −1 for none.
func (s *gpuStream) behind(call int64) int {
	i := sort.Search(len(s.most), func(i int) bool { return s.most[i] > call })
	if i == len(s.most) {
		return -1
	}
	return s.events[i]
}

// told takes the waits that the trace has. A stream's is for what another had been given when the
// event was recorded; what the host waits for, all that it launches later waits for.
func (k *kineto) told() {
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

// seen takes for a wait what had ended on another stream before an event began.
func (k *kineto) seen() {
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

// wait has an event wait for others of other streams.
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

// latest keeps that an event waits for another: of those on a stream, the last is enough.
func (k *kineto) latest(who, on int) {
	for i, x := range k.after[who] {
		if *k.events[x].args.Stream == *k.events[on].args.Stream {
			k.after[who][i] = max(x, on)
			return
		}
	}
	k.after[who] = append(k.after[who], on)
}

// whole says how long the GPU took, and how long it had something to do.
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

// note keeps one.
func (k *kineto) note(text string) { k.notes = append(k.notes, text) }

// neighbours says of each event whether one of another stream waits for it, and which is before it
// on its own, −1 for none.
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

// runs makes the nodes, with ids in the order in which events began.
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

// node is what an event is, alone.
func (k *kineto) node(e *event) (n node, err error) {
	n = node{kind: compNode, event: e.number + 1, nanos: uint64(e.end - e.start),
		stream: fmt.Sprintf("stream %d", *e.args.Stream)}
	n.setName(short(e.Name))
	if e.args.Collective != "" {
		n.nanos = 0 // it takes what it takes here
		return n, k.ask(&n, &e.args)
	}
	if e.Cat == "kernel" && strings.HasPrefix(n.name, "ncclDevKernel") ||
		strings.HasPrefix(n.name, "ncclKernel") {
		return n, errors.New("it is a kernel of NCCL without a Collective name: which call it was is " +
			"not in the trace")
	}
	return n, nil
}
