package chakra

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/internal/prose"
	"collsim/unit"
)

// Workload holds the collectives, messages and computations of a trace as ops of all ranks. Each op
// follows the ops that its nodes depend on.
type Workload struct {
	Ranks int
	Ops   []Work   // in topological order
	Notes []string // for the user
}

// Work is a collective, a message or a computation: one node on each of its ranks.
type Work struct {
	Name  string
	Kind  collective.Kind // 0 for a computation; send_recv for a message from a rank to the next
	Bytes unit.Bytes      // contribution of each rank: comm_size; the largest, where ranks differ
	Root  int             // of a kind with a root: its index in a team
	// Splits, of kinds with splits, are in bytes, as those of a collective.Communication.
	Splits [][]int64
	Time   unit.Time // of a computation
	CPU    bool      // a computation on the host, not on the GPU
	// Permute marks an all_to_allv in which those that a rank sends nothing do not wait for it.
	Permute bool
	// Stream is the stream of a computation, empty where the trace does not name one.
	Stream string
	Group  string  // of a collective: pg_name, of the first team
	tiling *tiling // of a collective of files that stand for many ranks
	Teams  [][]int // each does it separately; a computation has one team
	After  []int   // indices of ops that must have ended on a rank before it begins there
}

// ReadWorkload reads a trace as a program. Collectives are matched by group and order, messages by
// tag; computations take their duration_micros. Computations on several ranks are one op if their
// nodes have the same id, name, duration and dependencies; so are equal collectives of several
// groups. Nodes without duration are left out, and the order that they impose stays. Errors are
// *foreign.Error with the file, the node and the field.
func ReadWorkload(name string, files []Input, o *Reading) (*Workload, error) {
	t, err := readAll(name, files, o.Limit)
	if err != nil {
		return nil, err
	}
	if t.orderBy, err = t.keyOf(o.Order); err != nil {
		return nil, err
	}
	if o.Alike != EachRank {
		if err := t.standFor(o); err != nil {
			return nil, err
		}
	}
	for _, g := range t.groups() {
		if len(g.ranks) > 1 {
			t.order(g)
			t.alike(g)
		}
	}
	if len(t.defects) > 0 {
		d := &t.defects[0]
		return nil, t.wrong(d.Rank, int32(d.Op), "%s", d.Text)
	}
	w := works{trace: t}
	if err := w.find(); err != nil {
		return nil, err
	}
	if err := w.sort(); err != nil {
		return nil, err
	}
	w.merge()
	w.spread()
	return w.workload(), nil
}

// wrong makes an error of a node.
func (t *trace) wrong(rank int, node int32, format string, args ...any) error {
	return &foreign.Error{File: t.files[rank].Name, Text: fmt.Sprintf("%v: %s", &t.nodes[rank][node],
		fmt.Sprintf(format, args...))}
}

// none is the op of a node that is left out.
const none = int32(-1)

// works converts a trace to ops.
type works struct {
	*trace
	ops  []Work
	ids  []uint64  // of the first node of each op
	of   [][]int32 // by rank and node: its op
	near [][][]int32
	left int // number of nodes left out
}

// find makes all ops.
func (w *works) find() error {
	for rank := range w.nodes {
		list := make([]int32, len(w.nodes[rank]))
		for i := range list {
			list[i] = none
		}
		w.of = append(w.of, list)
	}
	if err := w.collectives(); err != nil {
		return err
	}
	messages := w.messages
	if w.stages != nil {
		messages = w.shiftedMessages
	}
	if err := messages(); err != nil {
		return err
	}
	for rank := range w.nodes {
		near, order, err := w.nearest(rank)
		if err != nil {
			return err
		}
		w.near = append(w.near, near)
		if err := w.computations(rank, order); err != nil {
			return err
		}
	}
	w.depend()
	return nil
}

// add appends an op for a node and returns its index.
func (w *works) add(o Work, rank int, node int32) int32 {
	n := &w.nodes[rank][node]
	if o.Name = n.name; o.Name == "" {
		o.Name = fmt.Sprintf("node %d", n.id)
	}
	w.ops, w.ids = append(w.ops, o), append(w.ids, n.id)
	return int32(len(w.ops) - 1)
}

// stays reports whether a node becomes an op: it belongs to one already, or it computes for some
// time.
func (w *works) stays(rank int, node int32) bool {
	n := &w.nodes[rank][node]
	return w.of[rank][node] != none || n.time() > 0 && !n.asks()
}

// asks reports whether a node is a collective, rather than a call that launches one.
func (n *node) asks() bool { return n.kind == commColl && n.given[commType] }

// collectives makes ops of the collectives of each group. In a group of one rank there is nothing
// to do.
func (w *works) collectives() error {
	for _, g := range w.groups() {
		if len(g.ranks) > 1 {
			w.order(g)
		}
		for k := range g.ops[0] {
			if g.alone() {
				continue
			}
			o, err := w.collective(g, k)
			if err != nil {
				return err
			}
			at := w.add(o, int(g.ranks[0]), g.ops[0][k])
			for member, rank := range g.ranks {
				w.of[rank][g.ops[member][k]] = at
			}
		}
	}
	return nil
}

// collective makes the op of a group's k-th collective.
func (w *works) collective(g *team, k int) (o Work, err error) {
	n, p := w.node(g, 0, k), int64(g.size())
	wrong := func(format string, args ...any) (Work, error) {
		return o, w.wrong(int(g.ranks[0]), g.ops[0][k], format, args...)
	}
	o.Kind, o.Bytes, o.Group = kinds[n.attrs[commType]], unit.Bytes(n.attrs[commSize]), g.name
	ranks := make([]int, len(g.ranks))
	for i, rank := range g.ranks {
		ranks[i] = int(rank)
	}
	o.Teams, o.tiling = [][]int{ranks}, g.tiling
	if absent := w.absent(g); len(absent) > 0 {
		return wrong("its group %q has ranks %s, and there is no file of %s: ranks_alike = true takes "+
			"one rank's file for all, \"stage\" a file a stage", g.name, prose.Ranks(numbers(g.members)),
			prose.Ranks(absent))
	}
	if g.members != "" && g.members != fmt.Sprint(ranks) {
		return wrong("Process Group Ranks = %s; those who call it, by their files, are %v", g.members,
			ranks)
	}
	switch o.Kind {
	case collective.Barrier:
		return o, nil
	case collective.AllReduce:
	case collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter:
		if o.Root = max(int(n.root)-1, 0); n.root == 0 && o.Kind != collective.Broadcast {
			return wrong("comm_type = %d (%v): its root is not in a trace of Chakra; all_reduce, "+
				"all_gather, broadcast, all_to_all, reduce_scatter and barriers are taken over",
				n.attrs[commType], o.Kind)
		}
	}
	if n.rows != nil {
		o.Kind, o.Splits, o.Bytes = collective.AllToAllV, n.rows, unit.Bytes(sum(n.rows[0]))
		return o, nil
	}
	if n.lists {
		if err := w.parts(g, k, &o); err != nil || o.Splits != nil {
			return o, err
		}
	}
	switch {
	case o.Kind.Gathers() && int64(o.Bytes) > collective.MaxElements/p:
		return wrong("comm_size = %d is too much for %d ranks", int64(o.Bytes), p)
	case (o.Kind.Scatters() || o.Kind == collective.AllToAll) && int64(o.Bytes)%p != 0:
		return wrong("comm_size = %d; %v among %d ranks takes a multiple of %d", int64(o.Bytes),
			o.Kind, p, p)
	}
	return o, nil
}

// parts gives an op of lists splits, if ranks contribute or receive different lengths.
func (w *works) parts(g *team, k int, o *Work) error {
	p := int64(len(g.ranks))
	var splits [][]int64 // from each rank
	total := int64(0)
	for i := range g.ranks {
		n := w.node(g, i, k)
		bytes := n.attrs[commSize]
		o.Bytes = max(o.Bytes, unit.Bytes(bytes))
		row := n.to
		switch {
		case o.Kind == collective.AllGather:
			row = []int64{bytes}
		case o.Kind == collective.ReduceScatter: // its output; the trace has p times as much
			row = []int64{bytes / p}
		}
		for _, n := range row {
			if total += n; total < 0 || total > collective.MaxElements {
				return w.wrong(int(g.ranks[i]), g.ops[i][k], "with it the ranks put in more than %d bytes",
					int64(collective.MaxElements))
			}
		}
		splits = append(splits, row)
	}
	if o.Kind != collective.AllToAll {
		splits = [][]int64{slices.Concat(splits...)}
	}
	if equalParts(slices.Concat(splits...)) {
		return nil
	}
	o.Splits = splits
	switch o.Kind {
	case collective.AllGather:
		o.Kind = collective.AllGatherV
	case collective.ReduceScatter:
		o.Kind, o.Bytes = collective.ReduceScatterV, unit.Bytes(total)
	case collective.AllToAll:
		o.Kind = collective.AllToAllV
	}
	return nil
}

// nearest finds the nodes that each node of a rank waits for. In place of a node that is left out
// it takes that node's own dependencies. order is a topological order.
func (w *works) nearest(rank int) (near [][]int32, order []int32, err error) {
	nodes := w.nodes[rank]
	deps := make([][]int32, len(nodes))
	waits := make([]int32, len(nodes)) // for so many
	then := make([][]int32, len(nodes))
	for _, e := range w.ranks[rank].Edges[:w.deps[rank]] {
		deps[e.Op] = append(deps[e.Op], e.On)
		then[e.On] = append(then[e.On], e.Op)
		waits[e.Op]++
	}
	for i := range nodes {
		if waits[i] == 0 {
			order = append(order, int32(i))
		}
	}
	near = make([][]int32, len(nodes))
	for at := 0; at < len(order); at++ {
		i := order[at]
		if err := w.reach(rank, i, deps[i], near); err != nil {
			return nil, nil, err
		}
		for _, next := range then[i] {
			if waits[next]--; waits[next] == 0 {
				order = append(order, next)
			}
		}
	}
	if len(order) < len(nodes) {
		i := slices.IndexFunc(waits, func(n int32) bool { return n > 0 })
		return nil, nil, w.wrong(rank, int32(i), "data_deps go in a circle, in which it is or for "+
			"which it waits")
	}
	return near, order, nil
}

// maxNear is the most nodes that one waits for.
const maxNear = 1 << 16

// reach adds the nodes that node i waits for. REQUIRES: near is known of its dependencies.
func (w *works) reach(rank int, i int32, deps []int32, near [][]int32) error {
	for _, d := range deps {
		stays := w.stays(rank, d)
		if stays {
			near[i] = append(near[i], d)
		}
		if !stays || w.nodes[rank][d].kind == commRecv {
			near[i] = append(near[i], near[d]...)
		}
	}
	slices.Sort(near[i])
	near[i] = slices.Compact(near[i])
	if len(near[i]) > maxNear {
		return w.wrong(rank, i, "it waits for more than %d others", maxNear)
	}
	return nil
}

// computations makes ops of a rank's computations.
func (w *works) computations(rank int, order []int32) error {
	for _, i := range order {
		n := &w.nodes[rank][i]
		switch {
		case w.of[rank][i] != none:
		case w.stays(rank, i):
			w.of[rank][i] = w.add(Work{Time: n.time(), CPU: n.cpu, Stream: n.stream,
				Teams: [][]int{{rank}}}, rank, i)
		case n.counted:
			return w.wrong(rank, i, "duration_micros is 0, and num_ops is given: how long it takes is not "+
				"in the file")
		default:
			w.left++
		}
	}
	return nil
}

// depend sets the ops that each one follows. A message is sent as soon as its sender is ready. So a
// node behind a receive waits for the message and for all that the receive waits for.
func (w *works) depend() {
	for rank := range w.nodes {
		for i, at := range w.of[rank] {
			if at == none || w.nodes[rank][i].kind == commRecv {
				continue
			}
			for _, on := range w.near[rank][i] {
				if before := int(w.of[rank][on]); !slices.Contains(w.ops[at].After, before) {
					w.ops[at].After = append(w.ops[at].After, before)
				}
			}
		}
	}
}

// readAll reads the files of a trace.
func readAll(name string, files []Input, limit unit.Bytes) (*trace, error) {
	if len(files) > opgraph.MaxRanks {
		return nil, &foreign.Error{File: name, Text: fmt.Sprintf("%d files; at most %d ranks are "+
			"possible", len(files), opgraph.MaxRanks)}
	}
	t := &trace{files: files, askedBy: map[string]int{}}
	for rank := range files {
		r := reader{file: files[rank].Name, form: "chakra", about: about{rank: -1}}
		if err := r.read(files[rank].Reader, limit); err != nil {
			return nil, err
		}
		if rank > 0 && r.form != t.form {
			return nil, r.fail("a file of %s; %s is one of %s", r.form, files[0].Name, t.form)
		}
		t.form = r.form
		if rank == 0 && r.span != "" {
			t.said = append(t.said, r.span)
		}
		for _, note := range r.notes {
			if !slices.Contains(t.said, note) {
				t.said = append(t.said, note)
			}
		}
		if err := t.add(&r); err != nil {
			return nil, err
		}
	}
	return t, nil
}
