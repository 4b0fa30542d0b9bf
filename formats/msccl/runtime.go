package msccl

import (
	"fmt"

	"collsim/formats/internal/foreign"
)

// Definitions in the runtimes' headers (msccl.h; RCCL's msccl_struct.h).
const (
	maxFusion        = 16      // reductions in one transfer
	maxCount         = 72      // upper bound of cnt, exclusive
	blocksPerChannel = 32      // that send, and that receive
	maxChannels      = 32      // MAXCHANNELS
	maxOffset        = 1 << 15 // chunks of a buffer: int16_t srcoffset, dstoffset
)

// runtime holds the limits of a runtime.
type runtime struct {
	name          string
	steps, blocks int  // of a tb, of a GPU; 0 is unlimited
	perRank       bool // chunks divide the call's count rather than the whole vector
	exactChunks   bool // i_chunks and o_chunks must be nchunksperloop
}

// runtimes lists the selectable runtimes; "none" has no limits and accepts the sizes of msccl.
func runtimes() []runtime {
	return []runtime{
		{name: "msccl", steps: 256, blocks: 216, exactChunks: true},
		{name: "rccl", steps: 64, blocks: 64, perRank: true},
		{name: "none"},
	}
}

func findRuntime(name string) (*runtime, error) {
	if name == "" {
		name = "msccl"
	}
	all := runtimes()
	names := make([]string, len(all))
	for i := range all {
		if all[i].name == name {
			return &all[i], nil
		}
		names[i] = all[i].name
	}
	hint := meant(name, names)
	if hint != "" {
		hint = "; " + hint
	}
	return nil, fmt.Errorf("runtime %q: one of msccl, rccl, none is expected%s", name, hint)
}

// protocol holds the size in bytes of a connection's slot, which is the largest tile, and the
// number of slots. Simple has 8 steps of a 4 MiB buffer and takes 4 at a time (MSCCL_CHUNKSTEPS);
// LL has 8 of 512 KiB, half of it flags; LL128 8 of 4,915,200 bytes, a sixteenth of it flags.
type protocol struct {
	name  string
	bytes int64
	slots int
}

func protocols() []protocol {
	return []protocol{{"Simple", 4 << 19, 2}, {"LL", 1 << 15, 8}, {"LL128", 614400 / 16 * 15, 8}}
}

func findProtocol(name string) (protocol, error) {
	all := protocols()
	names := make([]string, len(all))
	for i, p := range all {
		if p.name == name {
			return p, nil
		}
		names[i] = p.name
	}
	hint := meant(name, names)
	if hint != "" {
		hint = "; " + hint
	}
	return protocol{}, fmt.Errorf("protocol %q: one of Simple, LL, LL128 is expected%s", name, hint)
}

// transfer is a unit of the kernel: a step, or several fused reductions into one place. It has the
// waits of preceding nops.
type transfer struct {
	kind     kind
	first    int32 // index of its first step in the block
	from, to operand
	count    int32
	more     []int32 // further chunks that a reduction reads, in order
	waits    []wait
	flag     bool
	number   int32 // the value to which the kernel sets the flag
	round    int32
}

// wait is a wait for a step of another thread block of the GPU.
type wait struct{ block, step int32 }

// transfers converts a block's steps as the runtimes' parsers do. Nops give their waits to the step
// that follows, and successive reductions into one place are fused. The kernel numbers a transfer
// by the steps that went into it, so nops without a wait do not count.
func transfers(s *scanner, g *gpu, b *block) ([]transfer, error) {
	var made []transfer
	var waits []wait
	number, reductions := int32(-1), 0 // number of the transfer before, reductions of the block
	open := false                      // the last transfer is a reduction that may go on
	for i := range b.steps {
		at := &b.steps[i]
		if at.waitBlock >= 0 {
			if int(at.waitBlock) >= len(g.blocks) {
				return nil, s.fail(int(at.line), "depid=\"%d\": gpu %d has tbs 0…%d", at.waitBlock,
					g.id, len(g.blocks)-1)
			}
			waits = append(waits, wait{at.waitBlock, at.waitFor})
		}
		if at.kind == nop {
			continue
		}
		if last := len(made) - 1; open && at.continues(&made[last]) {
			t := &made[last]
			t.more = append(t.more, at.from.chunk)
			t.count, t.flag = at.count, at.flag
			number++
			t.number = number
		} else {
			if len(waits) > 0 && at.waitBlock < 0 {
				return nil, s.fail(int(at.line), "%v after nops that wait must itself wait for the "+
					"last of them (depid, deps): the runtimes refuse the file", at.kind)
			}
			number += 1 + int32(max(0, len(waits)-1))
			made = append(made, transfer{kind: at.kind, first: int32(i), from: at.from, to: at.to,
				count: at.count, waits: waits, flag: at.flag, number: number})
			waits = nil
		}
		if at.kind == reduce {
			reductions++
		}
		open = at.kind == reduce && !at.flag && reductions != maxFusion &&
			len(made[len(made)-1].more)+1 < maxFusion
	}
	return made, nil
}

// continues reports whether a step is one more reduction of the open transfer t.
func (s *step) continues(t *transfer) bool {
	return s.kind == reduce && s.to == t.to && s.from.buffer == t.from.buffer && s.waitBlock < 0
}

// check reports the first operand that is outside its buffer, as the runtimes do. Where they do not
// check, the bound is the memory.
func (l *lowering) check(g *gpu, s *step) error {
	for _, o := range []struct {
		used bool
		operand
		name string
	}{{s.kind.reads(), s.from, "src"}, {s.kind.writes(), s.to, "dst"}} {
		if !o.used {
			continue
		}
		end, have := o.chunk+s.count, g.chunks[o.buffer]
		if end > have && !s.kind.unchecked() {
			return l.fail(int(s.line), "%v of chunks %s[%d…%d]: gpu %d has %s_chunks=\"%d\"", s.kind,
				bufferNames[o.buffer], o.chunk, end-1, g.id, bufferNames[o.buffer], have)
		}
		for _, c := range [...]int32{o.chunk, end - 1} {
			if _, ok := l.locate(int(g.id), operand{o.buffer, c}); !ok {
				return l.fail(int(s.line), "%v of chunk %s[%d]: %v in chunks of %d elements has none "+
					"such on gpu %d", s.kind, bufferNames[o.buffer], c, l.spec.Kind, l.chunk, g.id)
			}
		}
	}
	return nil
}

// wrap makes any error one of the whole file.
func (s *scanner) wrap(err error) error {
	if e, ok := err.(*foreign.Error); ok {
		return e
	}
	return s.fail(0, "%v", err)
}
