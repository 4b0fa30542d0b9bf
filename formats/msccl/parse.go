package msccl

import (
	"encoding/xml"
	"io"
	"math"
	"slices"
	"strings"
)

// Attributes of the elements, in the dialects of Microsoft and RCCL and in the compact one of
// msccl-tools (ir_to_xml with old_format=False: op for step, one place, no defaults).
func algoShape() *shape {
	return &shape{"algo", []string{"name", "ngpus", "coll", "inplace", "nchannels", "proto",
		"nchunksperloop", "outofplace", "minBytes", "maxBytes", "nthreads", "redop", "maxcount",
		"nthreadblocks"}, 6}
}

func gpuShape() *shape {
	return &shape{"gpu", []string{"id", "i_chunks", "o_chunks", "s_chunks"}, 4}
}

func copyShape() *shape { return &shape{"copy", []string{"i_off", "o_off"}, 2} }

func blockShape() *shape { return &shape{"tb", []string{"id", "send", "recv", "chan"}, 4} }

func stepShape() *shape {
	return &shape{"step", []string{"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt",
		"depid", "deps", "hasdep", "algostep"}, 10}
}

func opShape() *shape {
	return &shape{"op", []string{"step", "type", "buf", "off", "cnt", "depid", "deps", "hasdep"}, 2}
}

// Limits of the numbers in a file, beyond those of the runtimes; they keep the arithmetic exact.
const (
	maxRanks  = 65536
	maxChunks = 1 << 20
	maxBlocks = 1 << 16 // channels, thread blocks, steps of a thread block
	maxMoved  = 1 << 12 // chunks of a step
)

// parser reads a file into a program.
type parser struct {
	*scanner
	program                                *program
	algo, gpu, copying, block, step, small *shape
}

func parse(r io.Reader, file string) (*program, *scanner, error) {
	s := &scanner{file: file, xml: xml.NewDecoder(r)}
	p := &parser{scanner: s, program: &program{}, algo: algoShape(), gpu: gpuShape(),
		copying: copyShape(), block: blockShape(), step: stepShape(), small: opShape()}
	t, line, err := s.token()
	if err == io.EOF {
		return nil, s, s.fail(line, "the file has no element; <algo> is expected")
	}
	if err != nil {
		return nil, s, err
	}
	start, ok := t.(xml.StartElement)
	if !ok {
		return nil, s, s.fail(line, "an end tag; <algo> is expected")
	}
	if err := p.readAlgo(start, line); err != nil {
		return nil, s, err
	}
	if _, line, err = s.token(); err == nil {
		return nil, s, s.fail(line, "something follows </algo>, where the file should end")
	} else if err != io.EOF {
		return nil, s, err
	}
	return p.program, s, p.complete()
}

// numbers parses several attributes, up to the first error.
func (p *parser) numbers(e *element, want []numbered) error {
	for _, w := range want {
		n, err := p.number(e, w.name, w.limits)
		if err != nil {
			return err
		}
		switch to := w.to.(type) {
		case *int:
			*to = int(n)
		case *int32:
			*to = int32(n)
		case *int64:
			*to = n
		case *bool:
			*to = n != 0
		}
	}
	return nil
}

// numbered is a number's attribute and its destination: *int, *int32, *int64 or *bool.
type numbered struct {
	name   string
	limits limits
	to     any
}

func (p *parser) readAlgo(t xml.StartElement, line int) error {
	e, err := p.open(t, line, p.algo)
	if err != nil {
		return err
	}
	var ignored int64
	g := p.program
	g.name, g.protocol, g.coll = e.text("name"), e.text("proto"), e.text("coll")
	g.modes = e.given("outofplace")
	err = p.numbers(e, []numbered{
		{"ngpus", limits{1, maxRanks, 0}, &g.ranks},
		{"nchannels", limits{0, maxBlocks, 0}, &g.channels},
		{"nchunksperloop", limits{1, maxChunks, 0}, &g.chunks},
		{"inplace", limits{0, 1, 0}, &g.inPlace},
		{"outofplace", limits{0, 1, 0}, &g.outOfPlace},
		{"minBytes", limits{0, math.MaxInt64, -1}, &g.minBytes},
		{"maxBytes", limits{0, math.MaxInt64, -1}, &g.maxBytes},
		{"nthreads", limits{0, 1024, 0}, &ignored},
		{"maxcount", limits{0, math.MaxInt32, 0}, &ignored},
		{"nthreadblocks", limits{0, maxBlocks, 0}, &ignored}})
	if err != nil {
		return err
	}
	if g.maxBytes > 0 && g.minBytes > g.maxBytes {
		return p.fail(line, "minBytes=\"%d\" is above maxBytes=\"%d\"", g.minBytes, g.maxBytes)
	}
	return p.children(e, p.readGPU)
}

func (p *parser) readGPU(t xml.StartElement, line int) error {
	e, err := p.open(t, line, p.gpu)
	if err != nil {
		return err
	}
	g := gpu{line: int32(line)}
	err = p.numbers(e, []numbered{
		{"id", limits{0, int64(p.program.ranks) - 1, 0}, &g.id},
		{"i_chunks", limits{0, maxChunks, 0}, &g.chunks[input]},
		{"o_chunks", limits{0, maxChunks, 0}, &g.chunks[output]},
		{"s_chunks", limits{0, maxChunks, 0}, &g.chunks[scratch]}})
	if err != nil {
		return err
	}
	err = p.children(e, func(t xml.StartElement, line int) error {
		return p.readBlock(&g, t, line)
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(g.blocks, func(a, b block) int { return int(a.id - b.id) })
	for i := range g.blocks {
		b := &g.blocks[i]
		switch {
		case i > 0 && b.id == g.blocks[i-1].id:
			return p.fail(int(b.line), "gpu %d has two tbs with id %d", g.id, b.id)
		case int(b.id) != i:
			return p.fail(int(b.line), "gpu %d has a tb with id %d, but none with id %d", g.id,
				b.id, i)
		}
	}
	p.program.gpus = append(p.program.gpus, g)
	return nil
}

func (p *parser) readBlock(g *gpu, t xml.StartElement, line int) error {
	e, err := p.open(t, line, p.block, p.copying)
	if err != nil {
		return err
	}
	if e.shape == p.copying {
		p.program.copies++
		var ignored int32
		anywhere := limits{0, maxChunks, 0}
		err := p.numbers(e, []numbered{{"i_off", anywhere, &ignored}, {"o_off", anywhere, &ignored}})
		if err != nil {
			return err
		}
		return p.leaf(e)
	}
	b := block{line: int32(line)}
	peer := limits{-1, int64(p.program.ranks) - 1, -1}
	err = p.numbers(e, []numbered{{"id", limits{0, maxBlocks, 0}, &b.id}, {"send", peer, &b.send},
		{"recv", peer, &b.receive},
		{"chan", limits{0, max(0, int64(p.program.channels)-1), 0}, &b.channel}})
	if err != nil {
		return err
	}
	if b.send == g.id || b.receive == g.id {
		return p.fail(line, "tb %d of gpu %d has its own gpu for a peer", b.id, g.id)
	}
	err = p.children(e, func(t xml.StartElement, line int) error {
		return p.readStep(g, &b, t, line)
	})
	g.blocks = append(g.blocks, b)
	return err
}

func (p *parser) readStep(g *gpu, b *block, t xml.StartElement, line int) error {
	e, err := p.open(t, line, p.step, p.small)
	if err != nil {
		return err
	}
	s := step{line: int32(line)}
	var known bool
	if s.kind, known = parseKind(e.text("type")); !known {
		err := p.fail(line, "step type %.40q: types are %s", e.text("type"), kinds())
		if err.Hint = meant(e.text("type"), kindNames[:]); e.text("type") == "ra" {
			err.Hint = "the runtimes read ra, but their kernel ends there"
		}
		return err
	}
	if e.shape == p.small {
		p.program.compact = true
		err = p.readOp(e, &s)
	} else {
		err = p.readFull(e, &s)
	}
	if err == nil {
		err = p.checkStep(g, b, &s)
	}
	if err != nil {
		return err
	}
	b.steps = append(b.steps, s)
	return p.leaf(e)
}

// readFull parses the attributes of a <step>.
func (p *parser) readFull(e *element, s *step) error {
	chunk := limits{-1, maxChunks, 0}
	err := p.numbers(e, append(common(s, "s"),
		numbered{"srcoff", chunk, &s.from.chunk}, numbered{"dstoff", chunk, &s.to.chunk}))
	if err == nil {
		s.from.buffer, err = p.buffer(e, "srcbuf")
	}
	if err == nil {
		s.to.buffer, err = p.buffer(e, "dstbuf")
	}
	return err
}

// common lists the numbers that both kinds of step have.
func common(s *step, number string) []numbered {
	return []numbered{{number, limits{0, maxBlocks, 0}, &s.number},
		{"cnt", limits{0, maxMoved, 1}, &s.count},
		{"depid", limits{-1, maxBlocks, -1}, &s.waitBlock},
		{"deps", limits{-1, maxBlocks, -1}, &s.waitFor}, {"hasdep", limits{0, 1, 0}, &s.flag}}
}

// readOp parses the attributes of an <op>, whose one place is the operand, the destination, or
// both.
func (p *parser) readOp(e *element, s *step) error {
	err := p.numbers(e, append(common(s, "step"),
		numbered{"off", limits{-1, maxChunks, -1}, &s.to.chunk}))
	if err != nil || s.kind == nop {
		return err
	}
	if s.kind == copying || s.kind == reduce {
		return p.fail(e.line, "%v as an <op>, which does not say where it reads: <step> is expected",
			s.kind)
	}
	if !e.given("buf") || !e.given("off") {
		return p.fail(e.line, "%v without buf and off, which are required", s.kind)
	}
	s.to.buffer, err = p.buffer(e, "buf")
	s.from = s.to
	return err
}

func (p *parser) buffer(e *element, name string) (buffer, error) {
	for b, n := range bufferNames {
		if n == e.text(name) {
			return buffer(b), nil
		}
	}
	return 0, p.fail(e.line, "%s=\"%.40s\" of <%s>: one of %s is expected", name, e.text(name), e.name,
		strings.Join(bufferNames[:], ", "))
}

// checkStep checks a step and its thread block as the runtimes' parsers do.
func (p *parser) checkStep(g *gpu, b *block, s *step) error {
	at := int(s.line)
	switch {
	case s.waitBlock >= 0 && s.waitFor < 0:
		return p.fail(at, "depid=\"%d\" without a step of that tb in deps", s.waitBlock)
	case s.kind != nop && s.count < 1:
		return p.fail(at, "cnt=\"%d\" of %v: at least 1 is expected", s.count, s.kind)
	case s.kind.sends() && b.send < 0:
		return p.fail(at, "%v in tb %d of gpu %d, whose send=\"-1\" names no peer", s.kind, b.id, g.id)
	case s.kind.receives() && b.receive < 0:
		return p.fail(at, "%v in tb %d of gpu %d, whose recv=\"-1\" names no peer", s.kind, b.id,
			g.id)
	case len(b.steps) >= maxBlocks:
		return p.fail(at, "tb %d of gpu %d has more than %d steps", b.id, g.id, maxBlocks)
	}
	for _, o := range []struct {
		used bool
		operand
		name string
	}{{s.kind.reads(), s.from, "src"}, {s.kind.writes(), s.to, "dst"}} {
		if o.used && o.chunk < 0 {
			return p.fail(at, "%soff=\"%d\" of %v, which needs a place there", o.name, o.chunk, s.kind)
		}
	}
	return nil
}

// complete checks conditions on the whole file.
func (p *parser) complete() error {
	g := p.program
	slices.SortStableFunc(g.gpus, func(a, b gpu) int { return int(a.id - b.id) })
	for i := range g.gpus {
		if i > 0 && g.gpus[i].id == g.gpus[i-1].id {
			return p.fail(int(g.gpus[i].line), "gpu %d is given twice", g.gpus[i].id)
		}
	}
	if len(g.gpus) != g.ranks {
		return p.fail(0, "ngpus=\"%d\", but the file has programs of %d", g.ranks, len(g.gpus))
	}
	if g.chunks > 0 {
		return nil
	}
	if !g.compact {
		return p.fail(0, "<algo> has no attribute \"nchunksperloop\", which is required")
	}
	for i := range g.gpus { // msccl-tools computes it likewise in its own files
		g.chunks = max(g.chunks, g.gpus[i].chunks[input], g.gpus[i].chunks[output])
	}
	if g.chunks == 0 {
		return p.fail(0, "no gpu has a chunk of input or output")
	}
	return nil
}
