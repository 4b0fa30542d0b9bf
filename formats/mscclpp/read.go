package mscclpp

import "collsim/schedule"

// Bounds of a plan: a larger one is refused before it exhausts memory.
const (
	maxRanks  = 1 << 16
	maxChunks = 1 << 24
	maxIDs    = 1 << 20
	maxUnit   = 1<<32 - 1 // the executor's offsets have 32 bits
)

// plan reads the whole file.
func (d *decoder) plan() *plan {
	p := &plan{align: 16, most: 1<<64 - 1}
	var threads int64
	d.object("the plan", []field{
		{"name", true, func() { d.text("name", &p.name) }},
		{"collective", true, func() { d.text("collective", &p.collective) }},
		{"protocol", true, func() { d.word("protocol", &p.protocol, "Simple", "LL") }},
		{"inplace", true, func() { d.flag("inplace", &p.inPlace) }},
		{"reuse_resources", false, func() { d.flag("reuse_resources", &p.reuse) }},
		{"num_threads_per_block", false, func() {
			d.number("num_threads_per_block", &threads, 1, 1024)
		}},
		{"use_double_scratch_buffer", false, func() {
			d.flag("use_double_scratch_buffer", &p.double)
		}},
		{"buffer_alignment", false, func() {
			d.number("buffer_alignment", &p.align, 1, 1<<20)
		}},
		{"min_message_size", false, func() { d.size("min_message_size", &p.least) }},
		{"max_message_size", false, func() { d.size("max_message_size", &p.most) }},
		{"gpus", true, func() { d.array("gpus", func() { d.gpu(p) }) }},
	})
	if d.err == nil && len(p.gpus) == 0 {
		d.fail("the plan has no gpus")
	}
	if d.err == nil && d.json.More() {
		d.token()
		d.fail("something follows the plan")
	}
	return p
}

// word reads one of several words.
func (d *decoder) word(what string, s *string, words ...string) int {
	d.text(what, s)
	for i, w := range words {
		if *s == w {
			return i
		}
	}
	if d.err == nil {
		d.unknown(what+" "+quote(*s), *s, words)
	}
	return 0
}

func (d *decoder) buffer(what string, b *schedule.Buffer) {
	var name string
	*b = schedule.Buffer(d.word(what, &name, "i", "o", "s"))
}

func (d *decoder) kind(k *kind, kinds ...string) {
	var name string
	d.word("channel_type", &name, kinds...)
	for i, w := range kindNames {
		if w == name {
			*k = kind(i)
		}
	}
}

func (d *decoder) gpu(p *plan) {
	g := gpu{}
	count := func(b schedule.Buffer) func() {
		return func() { d.number("the number of chunks", &g.chunks[b], 0, maxChunks) }
	}
	d.object("a gpu", []field{
		{"id", true, func() { d.number("id", &g.id, 0, maxRanks-1); g.line = d.line }},
		{"input_chunks", true, count(schedule.Input)},
		{"output_chunks", true, count(schedule.Output)},
		{"scratch_chunks", true, count(schedule.Scratch)},
		{"channels", true, func() { d.array("channels", func() { d.channel(&g) }) }},
		{"remote_buffers", true, func() { d.array("remote_buffers", func() { d.remote(&g) }) }},
		{"semaphores", false, func() { d.array("semaphores", func() { d.semaphore(&g) }) }},
		{"threadblocks", true, func() { d.array("threadblocks", func() { d.block(&g) }) }},
	})
	if d.err == nil && g.id != int64(len(p.gpus)) {
		d.line = g.line
		d.fail("gpu %d stands where gpu %d must", g.id, len(p.gpus))
	}
	p.gpus = append(p.gpus, g)
}

func (d *decoder) channel(g *gpu) {
	c := channel{line: d.line}
	named, old := false, false
	d.object("a channel", []field{
		{"channel_type", true, func() {
			d.kind(&c.kind, "memory", "port", "switch")
			c.line = d.line
		}},
		{"connected_to", false, func() {
			c.peers = []int32{}
			d.numbers("connected_to", &c.peers, maxRanks-1)
		}},
		{"buffer_type", false, func() { d.buffer("buffer_type", &c.buffer); named = true }},
		{"buff", false, func() { d.buffer("buff", &c.buffer); old = true }},
		{"rank_groups", false, func() {
			c.groups = [][]int32{}
			d.array("rank_groups", func() { d.group(&c) })
		}},
	})
	switch {
	case c.kind == switchChannel && (c.groups == nil || c.peers != nil || named == old):
		d.fail("a switch channel has rank_groups and buffer_type (or, in old plans, buff)")
	case c.kind != switchChannel && (c.peers == nil || c.groups != nil || named || old):
		d.fail("a memory or port channel has connected_to, and nothing else")
	}
	g.channels = append(g.channels, c)
}

func (d *decoder) group(c *channel) {
	var size int64
	ranks := []int32{}
	d.object("a rank group", []field{
		{"size", true, func() { d.number("size", &size, 0, maxChunks) }},
		{"ranks", true, func() { d.numbers("ranks", &ranks, maxRanks-1) }},
	})
	c.groups = append(c.groups, ranks)
}

func (d *decoder) remote(g *gpu) {
	b := remote{}
	d.object("a remote buffer", []field{
		{"rank", true, func() { d.number("rank", &b.rank, 0, maxRanks-1); b.line = d.line }},
		{"type", true, func() { d.buffer("type", &b.buffer) }},
		{"access_channel_types", true, func() {
			d.array("access_channel_types", func() {
				var k kind
				d.kind(&k, "memory", "port")
				b.access[k] = true
			})
		}},
	})
	g.remotes = append(g.remotes, b)
}

func (d *decoder) semaphore(g *gpu) {
	var value int64
	d.object("a semaphore", []field{
		{"init_value", true, func() { d.number("init_value", &value, 0, 1<<31-1) }},
	})
	g.semaphores = append(g.semaphores, value)
}

func (d *decoder) block(g *gpu) {
	b := block{}
	d.object("a threadblock", []field{
		{"id", true, func() { d.number("id", &b.id, 0, maxIDs); b.line = d.line }},
		{"ops", true, func() {
			d.array("ops", func() { b.ops = append(b.ops, d.op(false)) })
		}},
		{"channels", true, func() {
			d.array("channels", func() { d.ids(&b.channels, "channel_type", "channel_ids", "switch") })
		}},
		{"remote_buffer_refs", false, func() {
			d.array("remote_buffer_refs", func() {
				d.ids(&b.remotes, "access_channel_type", "remote_buffer_ids")
			})
		}},
	})
	if d.err == nil && b.id != int64(len(g.blocks)) {
		d.line = b.line
		d.fail("threadblock %d stands where threadblock %d must", b.id, len(g.blocks))
	}
	g.blocks = append(g.blocks, b)
}

// ids reads the indices of the GPU's channels or remote buffers that a block uses.
func (d *decoder) ids(into *[4][]int32, typeKey, idsKey string, more ...string) {
	var k kind
	var list []int32
	var unused schedule.Buffer
	fields := []field{
		{typeKey, true, func() { d.kind(&k, append([]string{"memory", "port"}, more...)...) }},
		{idsKey, true, func() { d.numbers(idsKey, &list, maxIDs) }},
	}
	if more != nil { // old plans repeat the buffer here
		fields = append(fields, field{"buff", false, func() { d.buffer("buff", &unused) }})
	}
	d.object("an entry of "+idsKey, fields)
	into[k] = append(into[k], list...)
}
