package mscclpp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/schedule"
	"collsim/unit"
)

// Write writes a schedule as an execution plan. A lane becomes a thread block, or several that
// follow each other where it has more operations than one holds. Messages go over memory channels:
// a put to a place in the scratch buffer of the receiver that no other message has, and a signal.
// At the end every receiver signals that it has read all, so that plans can be launched one after
// the other. It refuses, with an error that names it, what it cannot express (puts, gets, signals,
// scales, other operators than sum) and what exceeds the executor's limits. Prove, unless it is
// nil, checks the schedule that the executor would carry out. Equal schedules give equal bytes.
func Write(w io.Writer, s *schedule.Schedule, prove func(*schedule.Schedule) error) ([]string,
	error) {
	label, err := labelOf(&s.Spec)
	if err != nil {
		return nil, err
	}
	x, err := gather(s)
	if err != nil {
		return nil, err
	}
	if err := x.aligned(); err != nil {
		return nil, err
	}
	if err := x.divide(); err != nil {
		return nil, err
	}
	x.connect()
	for rank := range x.lanes {
		if err := x.order(rank); err != nil {
			return nil, err
		}
		x.acknowledge(rank)
		x.tie(rank)
	}
	p, err := x.plan(label)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	if err := x.tryOut(text, prove); err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	return x.notes(), err
}

// labelOf returns the name that plans have for a collective, or the reason why it has none.
func labelOf(spec *collective.Spec) (string, error) {
	switch {
	case spec.Op != 0 && spec.Op != collective.Sum:
		return "", fmt.Errorf("op %v: MSCCL++'s executor adds", spec.Op)
	case spec.Kind.Splits():
		return "", fmt.Errorf("%v: a plan has chunks of one size", spec.Kind)
	case spec.Empty():
		return "", fmt.Errorf("%v of no elements: there is nothing to write", spec.Kind)
	}
	for _, l := range labels {
		if l.kind == spec.Kind {
			return l.name, nil
		}
	}
	return "", fmt.Errorf("%v has no name in a plan", spec.Kind)
}

// notes describes what the plan needs.
func (x *exporter) notes() []string {
	most := 0
	for _, list := range x.blocks {
		most = max(most, len(list))
	}
	return []string{fmt.Sprintf("thread blocks of a GPU: up to %d, which must all have room at once; "+
		"channels are memory channels: GPUs must reach each other's memory", most)}
}

// aligned returns an error if chunks are not aligned as the executor wants them, with a count that
// would do.
func (x *exporter) aligned() error {
	width := int64(x.s.Spec.Type.Width())
	if x.grain*width%alignment == 0 {
		return nil
	}
	multiple := int64(1)
	for b := range x.s.Cuts {
		parts := int64(x.s.Slices)
		for _, l := range x.s.Cuts[b] {
			switch l.Split {
			case schedule.Table:
				parts *= int64(len(l.Ends[0]))
			case schedule.Even, schedule.Ceil:
				parts *= l.N
			case schedule.Aligned:
				parts *= l.N * l.Align
			}
		}
		multiple = parts / unit.GCD(parts, multiple) * multiple
	}
	multiple *= alignment / unit.GCD(alignment, width)
	return fmt.Errorf("parts begin at multiples of %d bytes only; the executor takes multiples of "+
		"%d: count = %d would do, or other multiples of %d", x.grain*width, alignment,
		(x.s.Spec.Count+multiple-1)/multiple*multiple, multiple)
}

// tryOut reads a plan as its executor would, at the schedule's size, and proves it.
func (x *exporter) tryOut(text []byte, prove func(*schedule.Schedule) error) error {
	spec := &x.s.Spec
	o := foreign.Options{File: "the plan", Type: spec.Type, Op: spec.Op, Root: spec.Root,
		As: spec.Kind, Count: spec.Count}
	f, err := Read(bytes.NewReader(text), o)
	if err != nil {
		return err
	}
	for _, v := range f.Found {
		return fmt.Errorf("%s (gpu %d)", v.Text, v.Rank)
	}
	if prove == nil {
		return nil
	}
	if err := prove(f.Schedule); err != nil {
		return fmt.Errorf("the plan would not do %v: %w", spec.Kind, err)
	}
	return nil
}

// alignment is the executor's default of buffer_alignment, in bytes.
const alignment = 16

// The objects of a plan, with the keys that the executor reads.
type (
	planText struct {
		Name       string    `json:"name"`
		Collective string    `json:"collective"`
		Protocol   string    `json:"protocol"`
		InPlace    bool      `json:"inplace"`
		Reuse      bool      `json:"reuse_resources"`
		GPUs       []gpuText `json:"gpus"`
		Threads    int       `json:"num_threads_per_block"`
		Double     bool      `json:"use_double_scratch_buffer"`
		Alignment  int       `json:"buffer_alignment"`
		Least      uint64    `json:"min_message_size"`
		Most       uint64    `json:"max_message_size"`
	}
	gpuText struct {
		ID         int             `json:"id"`
		Input      int64           `json:"input_chunks"`
		Output     int64           `json:"output_chunks"`
		Scratch    int64           `json:"scratch_chunks"`
		Blocks     []blockText     `json:"threadblocks"`
		Channels   []channelText   `json:"channels"`
		Remotes    []remoteText    `json:"remote_buffers"`
		Semaphores []semaphoreText `json:"semaphores"`
	}
	channelText struct {
		Type  string `json:"channel_type"`
		Peers []int  `json:"connected_to"`
	}
	remoteText struct {
		Rank   int      `json:"rank"`
		Type   string   `json:"type"`
		Access []string `json:"access_channel_types"`
	}
	semaphoreText struct {
		Value int `json:"init_value"`
	}
	blockText struct {
		ID       int            `json:"id"`
		Ops      []opText       `json:"ops"`
		Channels []useText      `json:"channels"`
		Remotes  []accessedText `json:"remote_buffer_refs"`
	}
	useText struct {
		Type string `json:"channel_type"`
		IDs  []int  `json:"channel_ids"`
	}
	accessedText struct {
		Type string `json:"access_channel_type"`
		IDs  []int  `json:"remote_buffer_ids"`
	}
	opText struct {
		Name       string     `json:"name"`
		Src        []spotText `json:"src_buff,omitempty"`
		Dst        []spotText `json:"dst_buff,omitempty"`
		Type       string     `json:"channel_type,omitempty"`
		Channels   []int      `json:"channel_ids,omitempty"`
		Reduce     string     `json:"reduce_op,omitempty"`
		Semaphores []int32    `json:"semaphore_ids,omitempty"`
	}
	spotText struct {
		Type   string `json:"type,omitempty"`
		Remote *int   `json:"buffer_id,omitempty"`
		Index  int64  `json:"index"`
		Size   int64  `json:"size"`
	}
)

// plan returns the objects of the plan.
func (x *exporter) plan(label string) (*planText, error) {
	p := &planText{Name: x.s.Name, Collective: label, Protocol: "Simple", InPlace: x.s.Spec.InPlace,
		Threads: 1024, Alignment: alignment, Most: math.MaxUint64}
	for rank := range x.lanes {
		g := gpuText{ID: rank, Input: x.s.Spec.In(rank) / x.grain, Output: x.s.Spec.Out(rank) / x.grain,
			Scratch: x.scratch[rank] / x.grain, Blocks: []blockText{}, Channels: []channelText{},
			Remotes: []remoteText{}, Semaphores: make([]semaphoreText, len(x.sems[rank]))}
		if most := max(g.Input, g.Output, g.Scratch); most > maxChunks {
			return nil, fmt.Errorf("gpu %d has %d chunks of %d elements; at most %d can be written", rank,
				most, x.grain, maxChunks)
		}
		var peers []int
		for _, c := range x.channels[rank] {
			peers = append(peers, c.peer(rank))
		}
		ranks := x.receivers(rank)
		if len(peers) > 0 {
			g.Channels = append(g.Channels, channelText{memory, peers})
		}
		for _, r := range ranks {
			g.Remotes = append(g.Remotes, remoteText{r, "s", []string{memory}})
		}
		for i := range x.blocks[rank] {
			b, err := x.blockText(rank, i, ranks)
			if err != nil {
				return nil, err
			}
			g.Blocks = append(g.Blocks, b)
		}
		p.GPUs = append(p.GPUs, g)
	}
	return p, nil
}

// receivers lists the ranks to which a rank sends messages.
func (x *exporter) receivers(rank int) (list []int) {
	for i := range x.messages {
		if m := &x.messages[i]; m.from == rank {
			list = append(list, m.to)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// memory is the type of all channels that are written.
const memory = "memory"

// blockText returns a thread block, which may put to the scratch buffers of some ranks.
func (x *exporter) blockText(rank, block int, ranks []int) (blockText, error) {
	b := blockText{ID: block, Channels: []useText{}, Remotes: []accessedText{}}
	var channels, remotes []int // the block's, by their numbers in its operations
	number := func(list *[]int, n int) int {
		i := slices.Index(*list, n)
		if i < 0 {
			i = len(*list)
			*list = append(*list, n)
		}
		return i
	}
	spots := func(list []spot) (made []spotText) {
		for _, s := range list {
			t := spotText{Index: s.off / x.grain, Size: s.n / x.grain}
			if s.message < 0 {
				t.Type = [...]string{"i", "o", "s"}[s.buffer]
			} else {
				n := number(&remotes, slices.Index(ranks, s.rank))
				t.Remote = &n
			}
			made = append(made, t)
		}
		return made
	}
	for _, o := range tidied(x.blocks[rank][block].items) {
		t := opText{Name: o.name, Src: spots(o.src), Dst: spots(o.dst), Semaphores: o.sems}
		for _, m := range o.messages {
			n := number(&channels, slices.Index(x.channels[rank], x.endsOf(m)))
			if t.Type = memory; !slices.Contains(t.Channels, n) {
				t.Channels = append(t.Channels, n)
			}
		}
		if o.name == "res" || o.name == "put" {
			t.Type = memory
		}
		if o.name == "re" || o.name == "res" {
			t.Reduce = "sum"
		}
		b.Ops = append(b.Ops, t)
	}
	if n := max(len(channels), len(remotes)); n > maxChannels {
		return b, tooMany(rank, block, n, "channels or remote buffers", maxChannels)
	}
	if len(b.Ops) > maxOps {
		return b, tooMany(rank, block, len(b.Ops), "operations", maxOps)
	}
	if len(channels) > 0 {
		b.Channels = append(b.Channels, useText{memory, channels})
	}
	if len(remotes) > 0 {
		b.Remotes = append(b.Remotes, accessedText{memory, remotes})
	}
	return b, nil
}
