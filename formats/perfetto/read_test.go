package perfetto_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// Readers of both formats, which share no code with the writers: what each file says, as a viewer
// would show it.

type shown struct {
	Slices   []shownSlice
	Arrows   []shownArrow
	Counters []shownLevel
}

type shownSlice struct {
	Process, Thread string
	Name            string
	Begin, End      int64 // nanoseconds
	Args            map[string]int64
}

// shownArrow goes from slice to slice, by their places in shown.Slices.
type shownArrow struct{ From, To int }

type shownLevel struct {
	Process, Name, Unit string
	At                  int64
	Value               float64
}

// sorted puts slices in an order that both formats can be brought into. It returns where each went.
func (s *shown) sorted() {
	order := make([]int, len(s.Slices))
	for n := range order {
		order[n] = n
	}
	key := func(n int) string {
		x := s.Slices[n]
		return fmt.Sprintf("%s/%s/%030d", x.Process, x.Thread, x.Args["start_ps"])
	}
	sort.SliceStable(order, func(a, b int) bool { return key(order[a]) < key(order[b]) })
	place := make([]int, len(order))
	list := make([]shownSlice, len(order))
	for to, from := range order {
		place[from], list[to] = to, s.Slices[from]
	}
	s.Slices = list
	for n, a := range s.Arrows {
		s.Arrows[n] = shownArrow{place[a.From], place[a.To]}
	}
	slices.SortFunc(s.Arrows, func(a, b shownArrow) int {
		return slices.Compare([]int{a.From, a.To}, []int{b.From, b.To})
	})
	sort.SliceStable(s.Counters, func(a, b int) bool {
		return s.Counters[a].Name < s.Counters[b].Name
	})
}

// field is a field of a protobuf message.
type field struct {
	number int
	value  uint64 // of a varint or fixed64
	bytes  []byte
}

func fields(t testing.TB, b []byte) (all []field) {
	t.Helper()
	varint := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 { // testify takes long to find nothing
			require.Fail(t, "a bad varint")
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 {
		tag := varint()
		f := field{number: int(tag >> 3)}
		switch tag & 7 {
		case 0:
			f.value = varint()
		case 1:
			require.GreaterOrEqual(t, len(b), 8)
			f.value, b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			n := varint()
			require.LessOrEqual(t, n, uint64(len(b)))
			f.bytes, b = b[:n], b[n:]
		default:
			require.Fail(t, "a wire type that the writer has no use for", "tag %d", tag)
		}
		all = append(all, f)
	}
	return all
}

// one returns the only field of that number, or an empty one.
func one(t testing.TB, all []field, number int) field {
	t.Helper()
	var found []field
	for _, f := range all {
		if f.number == number {
			found = append(found, f)
		}
	}
	if len(found) > 1 {
		require.Fail(t, "a field is there twice", "%d", number)
	}
	return append(found, field{})[0]
}

// protoTrack is a TrackDescriptor.
type protoTrack struct {
	parent                            uint64
	name                              string
	pid, tid                          uint64
	unit                              string
	rank                              uint64
	children, processOrder, laneOrder uint64
}

type protoReader struct {
	t      testing.TB
	names  map[int]map[uint64]string // of slices (2) and of args (3), by number
	tracks map[uint64]protoTrack
	open   map[uint64][]int // slices of each track that have not ended
	flows  map[uint64][]int // slices of each flow
	last   uint64           // timestamp of the last packet with a slice
	shown  shown
}

func readProto(t testing.TB, file []byte) *protoReader {
	t.Helper()
	r := &protoReader{t: t, names: map[int]map[uint64]string{2: {}, 3: {}},
		tracks: map[uint64]protoTrack{}, open: map[uint64][]int{}, flows: map[uint64][]int{}}
	for n, packet := range fields(t, file) {
		require.Equal(t, 1, packet.number)
		all := fields(t, packet.bytes)
		require.EqualValues(t, 1, one(t, all, 10).value, "trusted_packet_sequence_id")
		flags := one(t, all, 13).value
		require.Equal(t, n == 0, flags == 1, "the first packet, and no other, clears the names")
		if d := one(t, all, 12); d.bytes != nil {
			r.interned(d.bytes)
		}
		if d := one(t, all, 60); d.bytes != nil {
			r.descriptor(fields(t, d.bytes))
		}
		if e := one(t, all, 11); e.bytes != nil {
			r.event(one(t, all, 8).value, flags, fields(t, e.bytes))
		}
	}
	for _, track := range slices.Sorted(maps.Keys(r.open)) {
		require.Empty(t, r.open[track], "slices of track %d have no end", track)
	}
	for _, flow := range slices.Sorted(maps.Keys(r.flows)) {
		require.Len(t, r.flows[flow], 2)
		r.shown.Arrows = append(r.shown.Arrows, shownArrow{r.flows[flow][0], r.flows[flow][1]})
	}
	r.shown.sorted()
	return r
}

func (r *protoReader) interned(b []byte) {
	for _, f := range fields(r.t, b) {
		entry := fields(r.t, f.bytes)
		r.names[f.number][one(r.t, entry, 1).value] = string(one(r.t, entry, 2).bytes)
	}
}

func (r *protoReader) descriptor(all []field) {
	get := func(all []field, n int) field { return one(r.t, all, n) }
	k := protoTrack{parent: get(all, 5).value, name: string(get(all, 2).bytes),
		rank: get(all, 12).value, children: get(all, 11).value,
		processOrder: get(all, 19).value, laneOrder: get(all, 20).value}
	if p := fields(r.t, get(all, 3).bytes); len(p) > 0 {
		k.pid, k.name = get(p, 1).value, string(get(p, 6).bytes)
	}
	if p := fields(r.t, get(all, 4).bytes); len(p) > 0 {
		k.pid, k.tid, k.name = get(p, 1).value, get(p, 2).value, string(get(p, 5).bytes)
		require.Equal(r.t, r.tracks[k.parent].pid, k.pid)
	}
	if p := fields(r.t, get(all, 8).bytes); len(p) > 0 {
		k.unit = string(get(p, 6).bytes)
	}
	id := get(all, 1).value
	require.NotContains(r.t, r.tracks, id)
	r.tracks[id] = k
}

func (r *protoReader) event(at, flags uint64, all []field) {
	id := one(r.t, all, 11).value
	require.Contains(r.t, r.tracks, id)
	track := r.tracks[id]
	switch one(r.t, all, 9).value {
	case 1:
		require.EqualValues(r.t, 2, flags, "it needs the names")
		require.LessOrEqual(r.t, r.last, at, "slices are in the order of time")
		require.LessOrEqual(r.t, len(r.open[id]), 1, "slices overlap")
		s := shownSlice{Process: r.tracks[track.parent].name, Thread: track.name,
			Name: r.names[2][one(r.t, all, 10).value], Begin: int64(at), Args: map[string]int64{}}
		place := len(r.shown.Slices)
		for _, f := range all {
			switch f.number {
			case 4:
				arg := fields(r.t, f.bytes)
				s.Args[r.names[3][one(r.t, arg, 1).value]] = int64(one(r.t, arg, 4).value)
			case 47:
				r.flows[f.value] = append(r.flows[f.value], place)
			}
		}
		r.shown.Slices = append(r.shown.Slices, s)
		r.open[id] = append(r.open[id], place)
		r.last = at
	case 2:
		last := len(r.open[id]) - 1
		require.GreaterOrEqual(r.t, last, 0)
		r.shown.Slices[r.open[id][last]].End = int64(at)
		r.open[id] = r.open[id][:last]
		r.last = at
	case 4:
		group := r.tracks[track.parent]
		require.EqualValues(r.t, 3, group.children, "the counters' order is explicit")
		r.shown.Counters = append(r.shown.Counters, shownLevel{r.tracks[group.parent].name,
			track.name, track.unit, int64(at), math.Float64frombits(one(r.t, all, 44).value)})
	default:
		require.Fail(r.t, "unknown type of event")
	}
}

// jsonEvent is an event of Chrome's format. Times are microseconds, kept as they are written.
type jsonEvent struct {
	Ph, Name, Cat, Bp string
	Pid, Tid, ID      int64
	Ts, Dur           json.Number
	Args              map[string]any
}

func readJSON(t testing.TB, file []byte) shown {
	t.Helper()
	var content struct{ TraceEvents []jsonEvent }
	require.NoError(t, json.Unmarshal(file, &content))
	processes, threads := map[int64]string{}, map[int64]string{}
	var out shown
	begins, ends := map[int64]int{}, map[int64]int{}
	var lastSlice jsonEvent
	for _, e := range content.TraceEvents {
		switch e.Ph {
		case "M":
			switch e.Name {
			case "process_name":
				processes[e.Pid] = e.Args["name"].(string)
			case "thread_name":
				threads[e.Tid] = e.Args["name"].(string)
			}
		case "X":
			s := shownSlice{Process: processes[e.Pid], Thread: threads[e.Tid], Name: e.Name,
				Begin: thousandths(t, e.Ts), Args: map[string]int64{}}
			s.End = s.Begin + thousandths(t, e.Dur)
			for name, v := range e.Args {
				s.Args[name] = int64(v.(float64))
			}
			out.Slices, lastSlice = append(out.Slices, s), e
		case "s", "f":
			require.Equal(t, []any{lastSlice.Pid, lastSlice.Tid, lastSlice.Ts},
				[]any{e.Pid, e.Tid, e.Ts}, "an arrow lies on the slice before it")
			if e.Ph == "s" {
				begins[e.ID] = len(out.Slices) - 1
			} else {
				require.Equal(t, "e", e.Bp, "it ends at the slice around it, not at the next")
				ends[e.ID] = len(out.Slices) - 1
			}
		case "C":
			for unit, value := range e.Args { // the only one
				out.Counters = append(out.Counters, shownLevel{processes[e.Pid], e.Name, unit,
					thousandths(t, e.Ts), value.(float64)})
			}
		default:
			require.Fail(t, "unknown event", e.Ph)
		}
	}
	require.Len(t, ends, len(begins))
	for _, id := range slices.Sorted(maps.Keys(begins)) {
		require.Contains(t, ends, id)
		out.Arrows = append(out.Arrows, shownArrow{begins[id], ends[id]})
	}
	out.sorted()
	return out
}

// thousandths reads microseconds with three decimals as nanoseconds, exactly.
func thousandths(t testing.TB, us json.Number) int64 {
	t.Helper()
	var whole, part int64
	_, err := fmt.Sscanf(us.String(), "%d.%03d", &whole, &part)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d.%03d", whole, part), us.String())
	return 1000*whole + part
}
