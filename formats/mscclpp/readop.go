package mscclpp

import "strings"

// op reads an operation; inside says that it is part of a pipeline.
func (d *decoder) op(inside bool) op {
	o := op{tbs: 1}
	var name string
	var has int
	var load, store ref // of glre
	fields := append([]field{{"name", true, func() {
		d.text("name", &name)
		o.line = d.line
	}}}, d.opFields(&o, &load, &store)...)
	for i := range keyNames {
		read := fields[i+1].read
		fields[i+1].read = func() { has |= 1 << i; read() }
	}
	d.object("an operation", fields)
	if d.err != nil {
		return o
	}
	if o.what = operationOf(name); o.what == nil {
		names := make([]string, len(operations))
		for i := range operations {
			names[i] = operations[i].name
		}
		d.line = o.line
		d.unknown("operation "+quote(name), name, names)
		return o
	}
	d.checkKeys(&o, has)
	switch {
	case name == "pipeline" && inside:
		d.fail("a pipeline inside a pipeline: the executor has none")
	case inside && strings.Contains(name, "pkt"):
		d.fail("%s inside a pipeline: the executor repeats packets whole", name)
	}
	if o.what.unknown {
		load.line, load.space, load.rank = o.line, 's', -1
		if len(o.channels) > 0 { // the load's channel, by its index among the block's
			load.id = int64(o.channels[0])
		}
		o.src, o.dst = []ref{load}, []ref{store}
	}
	return o
}

// opFields lists the keys of an operation besides its name, in the order of keyNames.
func (d *decoder) opFields(o *op, load, store *ref) []field {
	list := func(what string, refs *[]ref) func() {
		return func() {
			d.array(what, func() {
				*refs = append(*refs, d.ref())
			})
		}
	}
	reads := []func(){
		list("src_buff", &o.src),
		list("dst_buff", &o.dst),
		func() { d.kind(&o.kind, "memory", "port", "switch", "none") },
		func() { d.numbers("channel_ids", &o.channels, maxIDs) },
		func() { d.word("reduce_op", &o.reduce, "sum", "min", "max") },
		func() { d.tbg(o) },
		func() { d.number("barrier_id", &o.barrier, 0, maxIDs) },
		func() { d.number("num_threadblocks", &o.blocks, 1, maxIDs) },
		func() { d.numbers("semaphore_ids", &o.sems, maxIDs) },
		func() { d.iteration(o) },
		func() { d.array("ops", func() { o.body = append(o.body, d.op(true)) }) },
		func() { d.buffer("buffer_type", &load.buffer) },
		func() { d.number("buffer_offset", &load.index, 0, maxChunks) },
		func() { d.number("size", &load.size, 0, maxChunks) },
		func() { *store = d.ref() },
	}
	fields := make([]field, len(reads))
	for i, read := range reads {
		fields[i] = field{keyNames[i], false, read}
	}
	return fields
}

func operationOf(name string) *operation {
	for i := range operations {
		if operations[i].name == name {
			return &operations[i]
		}
	}
	return nil
}

// checkKeys reports a key that an operation lacks, or must not have.
func (d *decoder) checkKeys(o *op, has int) {
	d.line = o.line
	for i, key := range keyNames {
		switch bit := 1 << i; {
		case o.what.need&bit != 0 && has&bit == 0:
			d.fail("%s lacks %q", o.what.name, key)
		case has&bit != 0 && (o.what.need|o.what.may)&bit == 0:
			d.fail("%s takes no %q", o.what.name, key)
		}
	}
	if o.what.need&keyKind != 0 && !strings.Contains(o.what.kinds, kindNames[o.kind]) {
		d.fail("%s over channels of type %s; it goes over %s", o.what.name, kindNames[o.kind],
			strings.ReplaceAll(o.what.kinds, " ", " or "))
	}
}

// ref reads an entry of src_buff or dst_buff.
func (d *decoder) ref() ref {
	r := ref{rank: -1}
	spaces := 0
	d.object("a buffer", []field{
		{"type", false, func() { d.buffer("type", &r.buffer); r.space = 'l'; spaces++ }},
		{"buffer_id", false, func() {
			d.number("buffer_id", &r.id, 0,
				maxIDs)
			r.space = 'r'
			spaces++
		}},
		{"switch_channel_id", false, func() {
			d.number("switch_channel_id", &r.id, 0, maxIDs)
			r.space = 's'
			spaces++
		}},
		{"index", true, func() { d.number("index", &r.index, 0, maxChunks) }},
		{"size", true, func() { d.number("size", &r.size, 0, maxChunks) }},
		{"rank", false, func() { d.number("rank", &r.rank, 0, maxRanks-1) }},
	})
	r.line = d.line
	if d.err == nil && spaces != 1 {
		d.fail("a buffer has one of type, buffer_id and switch_channel_id, not %d", spaces)
	}
	return r
}

func (d *decoder) tbg(o *op) {
	d.object("tbg_info", []field{
		{"tb_id", true, func() { d.number("tb_id", &o.tb, 0, maxRanks-1) }},
		{"tbg_size", true, func() { d.number("tbg_size", &o.tbs, 1, maxRanks) }},
	})
	if d.err == nil && o.tb >= o.tbs {
		d.fail("tb_id %d of %d thread blocks", o.tb, o.tbs)
	}
}

func (d *decoder) iteration(o *op) {
	d.object("iter_context", []field{
		{"unit_size", true, func() { d.number("unit_size", &o.unit, 1, maxUnit) }},
		{"num_chunks", true, func() { d.number("num_chunks", &o.chunks, 1, maxChunks) }},
	})
}

// pattern returns the patterns of an operation's operands, given its channel. A proxy copies
// packets for a port as plain memory, flags included, without checking them.
func (o *op) pattern() (src, dst string) {
	if o.what.name == "ppkt" && o.kind == portChannel {
		return "qq*", o.what.dst
	}
	return o.what.src, o.what.dst
}
