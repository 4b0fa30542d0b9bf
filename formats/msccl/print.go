package msccl

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"strings"
)

// program makes the file's program of the schedule.
func (x *writer) program(label string, proto protocol) (*program, error) {
	x.pair()
	spec := &x.s.Spec
	p := &program{name: x.s.Name, protocol: proto.name, coll: label, ranks: spec.Ranks, channels: 1,
		chunks: int32(min(maxChunks, x.whole/x.grain)), inPlace: spec.InPlace}
	if x.whole/x.grain > maxChunks {
		return nil, fmt.Errorf("%d elements are cut into %d chunks of %d; at most %d can be written",
			x.whole, x.whole/x.grain, x.grain, maxChunks)
	}
	for rank := range spec.Ranks {
		g, err := x.weave(rank)
		if err != nil {
			return nil, err
		}
		for i := range g.blocks {
			p.channels = max(p.channels, int(g.blocks[i].channel)+1)
		}
		g.chunks = [numBuffers]int32{input: int32(spec.In(rank) / x.grain),
			output:  int32(spec.Out(rank) / x.grain),
			scratch: int32(min(maxChunks, (x.s.Memory+x.taken[rank])/x.grain))}
		p.gpus = append(p.gpus, *g)
	}
	return p, nil
}

// print writes the program, with all attributes that Microsoft's parser requires, in its order.
func (p *program) print(b *bufio.Writer) {
	fmt.Fprintf(b, `<algo name="%s" proto="%s" nchannels="%d" nchunksperloop="%d" ngpus="%d" `+
		`coll="%s" inplace="%d"`, escape(p.name), p.protocol, p.channels, p.chunks, p.ranks, p.coll,
		bit(p.inPlace))
	if p.modes {
		fmt.Fprintf(b, ` outofplace="%d"`, bit(p.outOfPlace))
	}
	if p.minBytes >= 0 {
		fmt.Fprintf(b, ` minBytes="%d"`, p.minBytes)
	}
	if p.maxBytes >= 0 {
		fmt.Fprintf(b, ` maxBytes="%d"`, p.maxBytes)
	}
	b.WriteString(">\n")
	for i := range p.gpus {
		g := &p.gpus[i]
		fmt.Fprintf(b, "  <gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"%d\">\n", g.id,
			g.chunks[input], g.chunks[output], g.chunks[scratch])
		for j := range g.blocks {
			t := &g.blocks[j]
			fmt.Fprintf(b, "    <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", t.id, t.send,
				t.receive, t.channel)
			for k := range t.steps {
				t.steps[k].print(b)
			}
			b.WriteString("    </tb>\n")
		}
		b.WriteString("  </gpu>\n")
	}
	b.WriteString("</algo>\n")
}

// print writes a step. An operand that its kind lacks is written as the other one.
func (s *step) print(b *bufio.Writer) {
	from, to := s.from, s.to
	switch {
	case s.kind == nop:
	case !s.kind.reads():
		from = to
	case !s.kind.writes():
		to = from
	}
	fmt.Fprintf(b, `      <step s="%d" type="%v" srcbuf="%s" srcoff="%d" dstbuf="%s" dstoff="%d" `+
		`cnt="%d" depid="%d" deps="%d" hasdep="%d"/>`+"\n", s.number, s.kind,
		bufferNames[from.buffer], from.chunk, bufferNames[to.buffer], to.chunk, s.count, s.waitBlock,
		s.waitFor, bit(s.flag))
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// escape escapes text for an attribute's value.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
