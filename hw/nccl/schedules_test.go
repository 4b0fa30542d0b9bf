package nccl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	ours "collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/internal/prose"
	"collsim/internal/tier"
	"collsim/schedule"
)

// connectionKey is a connection: from whom, to whom.
type connectionKey struct{ from, lane, to, toLane int32 }

// writer writes a schedule out for the stand-in, as standin/schedule.c says.
type writer struct {
	s           *schedule.Schedule
	connections map[connectionKey]int
	size        []int64 // of messages that are on their way
	largest     int64
	steps       map[[2]int32][]int64 // of a rank's lane
	lanes       [][2]int32
}

// entry is a call in the stand-in's file: the steps of its schedule, and what NCCL's log is to say
// of it.
func entry(t *testing.T, n *network, call collective.Spec) string {
	t.Helper()
	s, c := n.scheduleOf(t, call)
	w := &writer{s: s, connections: map[connectionKey]int{}, steps: map[[2]int32][]int64{}}
	_, err := schedule.Execute(s, schedule.Limits{}, schedule.Hooks{Step: w.step})
	require.NoError(t, err)
	spec := &s.Spec
	function, err := functionOf(spec)
	require.NoError(t, err)
	typ, each, err := datatype(spec)
	require.NoError(t, err)
	op := len(operatorNumbers())
	for _, o := range operatorNumbers() {
		if o.op == spec.Op {
			op = int(o.number)
		}
	}
	root := 0
	if spec.Kind.Rooted() {
		root = spec.Root
	}
	if !spec.Kind.Reduces() {
		op = 0
	}
	var b strings.Builder
	fmt.Fprintf(&b, "call %s %d %d %d %d %d %s %s 0 %d %d %d %d %d %d %d\n",
		strings.TrimPrefix(function, "nccl"), typ, op, root, spec.Ranks, spec.Count*each,
		strings.ToUpper(c.Algorithm.String()), strings.ToUpper(c.Protocol.String()), c.Used-1,
		s.Slots, w.largest, s.Memory*int64(spec.Type.Width()), len(w.connections),
		int64(c.Time*1e6), len(w.lanes))
	for _, lane := range w.lanes {
		fmt.Fprintln(&b, lane[0], len(w.steps[lane]), strings.Trim(fmt.Sprint(w.steps[lane]), "[]"))
	}
	return b.String()
}

// step writes a sub-step.
func (w *writer) step(v *schedule.Visit) error {
	step, lane := v.Step, [2]int32{v.Rank, v.Lane}
	if len(step.Await) > 0 || step.Kernel != nil || v.Part > 0 {
		return fmt.Errorf("rank %d lane %d: %s is more than messages", v.Rank, v.Lane, step.Name())
	}
	bytes, known := w.s.Bytes(v.Spot(), step)
	for _, handle := range v.In {
		if handle >= 0 && !known {
			bytes, known = w.size[handle], true
		}
	}
	w.largest = max(w.largest, bytes)
	line := []int64{bit(step.Scale), bytes, int64(len(step.From))}
	for i := range step.From {
		switch f := &step.From[i]; f.Kind {
		case schedule.Message:
			line = append(line, w.connection(f.Peer.Rank, f.Peer.Lane, v.Rank, v.Lane), bit(f.Scale))
		default:
			line = append(line, -1, bit(f.Scale))
			line = w.place(line, v, &f.Region)
		}
	}
	line = append(line, int64(len(step.To)))
	for i := range step.To {
		line = w.place(line, v, &step.To[i])
	}
	line = append(line, int64(len(step.Send)))
	for i := range step.Send {
		peer := step.Send[i].Peer
		line = append(line, w.connection(v.Rank, v.Lane, peer.Rank, peer.Lane))
		for int(v.Out[i]) >= len(w.size) {
			w.size = append(w.size, 0)
		}
		w.size[v.Out[i]] = bytes
	}
	if w.steps[lane] == nil {
		w.lanes = append(w.lanes, lane)
	}
	w.steps[lane] = append(w.steps[lane], line...)
	return nil
}

func bit(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// connection is a connection's number.
func (w *writer) connection(from, lane, to, toLane int32) int64 {
	k := connectionKey{from, lane, to, toLane}
	number, ok := w.connections[k]
	if !ok {
		number = len(w.connections)
		w.connections[k] = number
	}
	return int64(number)
}

// place writes a region's buffer and its runs in it, in bytes.
func (w *writer) place(line []int64, v *schedule.Visit, r *schedule.Region) []int64 {
	spans, width := w.s.Spans(nil, v.Spot(), r), int64(w.s.Spec.Type.Width())
	line = append(line, int64(r.Buffer), int64(len(spans)))
	for _, span := range spans {
		line = append(line, span.Off*width, span.Len*width)
	}
	return line
}

// network is where a call is made, and by what of NCCL's ways.
type network struct {
	machine string
	perNode int
	name    string // of algos/nccl's algorithm
	among   []ours.Way
	// channels are those of the communicator, 0 as many as the library finds.
	channels int
}

// scheduleOf is what algos/nccl has of a call, and how it came to that.
func (n *network) scheduleOf(t *testing.T, spec collective.Spec) (*schedule.Schedule,
	*ours.Choice) {
	t.Helper()
	c, err := ours.Choose(spec, ours.Setting{Machine: n.machine, PerNode: n.perNode, Among: n.among,
		Channels: n.channels})
	require.NoError(t, err)
	a, err := algos.FindIn(ours.Table(), spec.Kind, ours.Prefix+n.name)
	require.NoError(t, err)
	o := algos.Options{Params: []algos.Param{{Name: "machine", Value: n.machine},
		{Name: "per_node", Value: fmt.Sprint(n.perNode)}}}
	if n.channels > 0 {
		o.Params = append(o.Params, algos.Param{Name: "nchannels", Value: fmt.Sprint(n.channels)})
	}
	if len(n.among) == 1 {
		o.Params = append(o.Params, algos.Param{Name: "protocol",
			Value: strings.ToLower(n.among[0].Protocol.String())})
	}
	s, err := a.Build(spec, o)
	require.NoError(t, err)
	return s, c
}

// waysOf are an algorithm's.
func waysOf(a ours.Algorithm) []ours.Way {
	return []ours.Way{{Algorithm: a, Protocol: ours.LL}, {Algorithm: a, Protocol: ours.LL128},
		{Algorithm: a, Protocol: ours.Simple}}
}

// predictions lists the algorithms by which a call is measured on a network: the library's own
// choice, and each that can be forced.
func predictions(spec collective.Spec, machine string, perNode int) (all []network) {
	all = []network{{machine: machine, perNode: perNode, name: "auto"}}
	for _, a := range []ours.Algorithm{ours.Tree, ours.Ring, ours.PAT} {
		ways := waysOf(a)
		_, err := ours.Choose(spec, ours.Setting{Machine: machine, PerNode: perNode, Among: ways})
		if err == nil {
			all = append(all, network{machine: machine, perNode: perNode,
				name: strings.ToLower(a.String()), among: ways})
		}
	}
	return all
}

// places are networks of so many ranks: one GPU a node, whose trees are double, all of a node, and
// several nodes.
func places(ranks int) []network {
	all := []network{{machine: "socket", perNode: 1}, {machine: "dgx-h100", perNode: ranks}}
	for perNode := 2; perNode < ranks; perNode++ {
		if ranks%perNode == 0 {
			return append(all, network{machine: "dgx-a100", perNode: perNode})
		}
	}
	return all
}

// calls are some of every kind, of other types, operators, roots and sizes with every turn.
func calls(ranks, turn int) (all []collective.Spec) {
	reductions := []struct {
		typ dtype.Type
		op  collective.Op
	}{{dtype.Float32, collective.Sum}, {dtype.BFloat16, collective.Avg},
		{dtype.Float64, collective.Prod}, {dtype.Float16, collective.PremulSum},
		{dtype.Int32, collective.Avg}, {dtype.Float8E4M3, collective.Sum}}
	for i, kind := range []collective.Kind{collective.AllReduce, collective.AllReduce,
		collective.ReduceScatter, collective.AllGather, collective.Broadcast, collective.Reduce} {
		with := reductions[(turn+i)%len(reductions)]
		s := collective.Spec{Kind: kind, Op: with.op, Type: with.typ, Ranks: ranks,
			Count: []int64{5003, 23, 1}[(turn/3+i)%3], InPlace: (turn+i)%2 == 0}
		if i == 0 && turn%2 == 1 {
			s.Count = 35_001 // several channels
		}
		switch {
		case !kind.Reduces():
			s.Op = 0
		case s.Op == collective.PremulSum:
			s.Factor = 1.75
		}
		if kind.Rooted() {
			s.Root = turn % ranks
		}
		all = append(all, s)
	}
	return all
}

// byTables has the stand-in execute calls, and the barriers before them, by schedules of ours:
// those of a network that come first, unless NCCL_ALGO says otherwise.
func byTables(t *testing.T, file string, spec collective.Spec, among []network) {
	t.Helper()
	barrier := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: spec.Ranks, Count: 1}
	var text strings.Builder
	for _, n := range among {
		text.WriteString(entry(t, &n, spec))
	}
	for _, n := range predictions(barrier, among[0].machine, among[0].perNode) {
		text.WriteString(entry(t, &n, barrier))
	}
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
}

// TestSchedules: the stand-in executes NCCL's ring, trees and PAT by the schedules of algos/nccl:
// what that predicts where NCCL is left to itself, and what NCCL_ALGO asks for. All bits are those
// of the interpreter, and the log names what was measured.
func TestSchedules(t *testing.T) {
	standIn(t)
	t.Setenv("COLLSIM_STANDIN_DEVICES", "16")
	file := filepath.Join(t.TempDir(), "schedules")
	t.Setenv("COLLSIM_STANDIN_SCHEDULES", file)
	met := map[string]int{}
	for i, c := range []struct {
		asked, name string // NCCL_ALGO, and the algorithm that this is
		apart       bool
		ranks       int // in the short tier
	}{{"", "auto", false, 10}, {"Tree", "tree", false, 6}, {"^tree,pat", "ring", false, 4},
		{"ring;reducescatter:pat;AllGather:PAT", "pat", false, 5}, {"tree,nvls", "tree", true, 3}} {
		t.Setenv("NCCL_ALGO", c.asked)
		d := New(Config{Apart: c.apart})
		for j, ranks := range tier.Of([]int{c.ranks}, []int{2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
			for k, spec := range calls(ranks, i+j) {
				for l, at := range places(ranks) {
					if !tier.Long && k%3 != l {
						continue
					}
					all := predictions(spec, at.machine, at.perNode)
					n := slices.IndexFunc(all, func(n network) bool { return n.name == c.name })
					if n < 0 {
						continue
					}
					byTables(t, file, spec, all)
					s, choice := all[n].scheduleOf(t, spec)
					got := bitsOf(t, d, &hw.Job{Schedule: s, Inputs: inputsOf(&spec, 7)})
					way := choice.Way.String() + ", " + prose.Plural(choice.Used, "channel")
					require.Equal(t, way, got.Chose, s.Name)
					met[c.name+" "+choice.Algorithm.String()]++
					if at.perNode == 1 && choice.Algorithm == ours.Tree && choice.Used > 1 {
						met["both trees"]++
					}
				}
			}
		}
		require.NoError(t, d.Close())
	}
	for _, way := range []string{"auto Tree", "auto Ring", "auto PAT", "tree Tree", "ring Ring",
		"pat PAT", "both trees"} {
		require.NotZero(t, met[way], way)
	}
}

// TestManyChunks: more chunks than a connection has slots follow one another, from a root that
// waits for nobody and up and down a tree.
func TestManyChunks(t *testing.T) {
	standIn(t)
	file := filepath.Join(t.TempDir(), "schedules")
	t.Setenv("COLLSIM_STANDIN_SCHEDULES", file)
	d := New(Config{})
	defer d.Close()
	for _, c := range []struct {
		kind collective.Kind
		op   collective.Op
		name string
		way  ours.Way
	}{{collective.Broadcast, 0, "ring", ours.Way{Algorithm: ours.Ring, Protocol: ours.LL}},
		{collective.AllReduce, collective.Sum, "tree",
			ours.Way{Algorithm: ours.Tree, Protocol: ours.LL}}} {
		spec := collective.Spec{Kind: c.kind, Op: c.op, Type: dtype.Float32, Ranks: 3, Count: 150_001}
		all := append([]network{{machine: "socket", perNode: 1, name: c.name,
			among: []ours.Way{c.way}, channels: 1}}, predictions(spec, "socket", 1)...)
		byTables(t, file, spec, all)
		s, _ := all[0].scheduleOf(t, spec)
		require.Greater(t, len(s.Cuts[schedule.Input][0].Ends[0]), 2*s.Slots)
		job := &hw.Job{Schedule: s, Inputs: inputsOf(&spec, 7), Env: hw.Env{Repetitions: 3}}
		require.Equal(t, c.way.String()+", 1 channel", bitsOf(t, d, job).Chose)
	}
}

// TestAlgorithmsOfTheBarrier: what NCCL_ALGO does not allow is refused, also of the all_reduce by
// which ranks begin together; so is a file of schedules that is none.
func TestAlgorithmsOfTheBarrier(t *testing.T) {
	standIn(t)
	spec := collective.Spec{Kind: collective.AllGather, Type: dtype.Int8, Ranks: 3, Count: 40}
	file := filepath.Join(t.TempDir(), "schedules")
	byTables(t, file, spec, predictions(spec, "socket", 1))
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, c := range []struct{ asked, text, call, code, want string }{
		{"PAT", string(whole), "ncclAllReduce", "ncclInvalidUsage", "NCCL_ALGO allows none"},
		{"Tree", string(whole), "ncclAllGather", "ncclInvalidUsage", "NCCL_ALGO allows none"},
		{"", string(whole[:len(whole)-2]), "ncclCommInitAll", "ncclSystemError", "SCHEDULES"},
		{"", "execute Ring", "ncclCommInitAll", "ncclSystemError", "SCHEDULES"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o644))
		t.Setenv("COLLSIM_STANDIN_SCHEDULES", file)
		t.Setenv("NCCL_ALGO", c.asked)
		d := New(Config{})
		_, err := d.Run(context.Background(), jobOf(t, spec, 1))
		e := failure(t, err)
		require.Equal(t, []string{c.call, c.code}, []string{e.Call, e.Code})
		require.Contains(t, e.Text, c.want)
		require.NoError(t, d.Close())
	}
}
