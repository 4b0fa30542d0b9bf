package hlo

import (
	"slices"
	"strconv"
	"strings"
)

// module holds the contents of a file.
type module struct {
	name                 string
	replicas, partitions int
	counted              bool // the header has at least one of them
	scheduled            bool
	fused                bool           // XLA has made fusions
	order                []*computation // as in the file
	computations         map[string]*computation
	entry                *computation
}

// ranks returns the number of ranks.
func (m *module) ranks() int { return m.replicas * m.partitions }

// computation is a list of instructions in topological order.
type computation struct {
	name   string
	instrs []instr
	byName map[string]int
	root   int
	busy   bool // set while the emitter is inside it
}

// instr is an instruction.
type instr struct {
	name, opcode string // without -start, -update or -done
	phase        phase  // of an asynchronous one
	line         int
	shape        shape  // of a start, that of its result
	inside       string // text in the brackets: operands, a number, or a constant
	operands     []int  // indices of instructions before it
	attrs        []attr
}

// phase is a part of an asynchronous instruction.
type phase uint8

// The phases. Instructions that are not asynchronous have none.
const (
	start phase = iota + 1
	update
	done
)

// split splits the opcode of an asynchronous instruction, as all-gather-start, and takes the shape
// of its result from that of a start: a tuple of operands, result and more, and of a copy-start one
// of result, operand and more. That of an all-reduce-start is its result, unless its first element
// is a tuple, or it is of one operand. Starts of sends and receives are those themselves, and what
// is done of them stays as it is.
func (i *instr) split() {
	for of, suffix := range []string{start: "-start", update: "-update", done: "-done"} {
		base, found := strings.CutSuffix(i.opcode, suffix)
		switch isMessage := base == "send" || base == "recv"; {
		case !found || of == 0 || isMessage && phase(of) == done:
		case isMessage && phase(of) == start:
			i.opcode = base
		default:
			i.opcode, i.phase = base, phase(of)
		}
	}
	switch n := len(i.shape.tuple); {
	case i.phase != start || i.opcode == "async":
	case i.opcode == "all-reduce" && len(i.operands) > 1 && n > 0 && i.shape.tuple[0].elem != "":
	case i.opcode == "copy" && n > 0:
		i.shape = i.shape.tuple[0]
	case n > 1:
		i.shape = i.shape.tuple[1]
	}
}

// attr is an attribute of an instruction.
type attr struct {
	name, value string
	line        int
}

// attr returns the value of an attribute, and whether it is given.
func (i *instr) attr(name string) (string, bool) {
	for _, a := range i.attrs {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

// maxRanks bounds num_partitions and replica_count, and their product.
const maxRanks = 1 << 16

// module parses a file.
func (p *parser) module() (*module, error) {
	m := &module{replicas: 1, partitions: 1, computations: map[string]*computation{}}
	p.into = m
	p.skip(true)
	if !p.accept("HloModule") {
		return nil, p.fail(p.line, "HloModule is expected, not %s", p.next())
	}
	p.skip(false)
	var err error
	if m.name, err = p.name("the name of the module"); err != nil {
		return nil, err
	}
	p.accept(":") // of old releases
	attrs, err := p.attrs()
	if err != nil {
		return nil, err
	}
	for _, a := range attrs {
		m.scheduled = m.scheduled || a.name == "is_scheduled" && a.value == "true"
		into := map[string]*int{"num_partitions": &m.partitions, "replica_count": &m.replicas}[a.name]
		if into == nil {
			continue
		}
		m.counted = true
		if *into, err = strconv.Atoi(a.value); err != nil || *into < 1 || *into > maxRanks {
			return nil, p.fail(a.line, "%s=%s: 1 to %d are possible", a.name, a.value, maxRanks)
		}
	}
	if m.ranks() > maxRanks {
		return nil, p.fail(1, "%d replicas of %d partitions; %d ranks are possible", m.replicas,
			m.partitions, maxRanks)
	}
	for p.skip(true); p.pos < len(p.text); p.skip(true) {
		if p.table() {
			continue
		}
		if p.accept("HloModule ") {
			return nil, p.fail(p.line, "a second HloModule begins; a file has one: write each into its own")
		}
		if err := p.computation(m); err != nil {
			return nil, err
		}
	}
	if len(m.order) == 0 {
		return nil, p.fail(p.line, "a module without computations")
	}
	if m.entry == nil { // as XLA's parser takes it
		m.entry = m.order[len(m.order)-1]
	}
	return m, nil
}

// table skips a table of source locations, if one begins here: a heading, and lines that begin with
// numbers.
func (p *parser) table() bool {
	found := false
	for _, heading := range []string{"FileNames", "FunctionNames", "FileLocations", "StackFrames"} {
		found = found || p.accept(heading+"\n") || p.accept(heading+"\r\n")
	}
	for found && p.peek() >= '0' && p.peek() <= '9' {
		rest, _, _ := strings.Cut(p.text[p.pos:], "\n")
		p.step(min(len(rest)+1, len(p.text)-p.pos))
	}
	return found
}

// attrs parses a sequence of ", name=value", which may continue on the next line after a comma.
func (p *parser) attrs() (list []attr, err error) {
	for p.skip(false); p.accept(","); p.skip(false) {
		p.skip(true)
		a := attr{line: p.line}
		if a.name, err = p.name("the name of an attribute"); err != nil {
			return nil, err
		}
		p.skip(false)
		if !p.accept("=") {
			return nil, p.fail(p.line, "%s: = and a value are expected, not %s", a.name, p.next())
		}
		p.skip(true)
		if a.value, err = p.value(); err != nil {
			return nil, err
		}
		if last := len(list) - 1; a.name == "device_ids" && last >= 0 &&
			strings.HasPrefix(list[last].value, "mesh[") {
			list[last].value += ", device_ids=" + a.value // of replica_groups along axes of a mesh
			continue
		}
		list = append(list, a)
	}
	return list, nil
}

// computation parses a computation.
func (p *parser) computation(m *module) (err error) {
	c := &computation{byName: map[string]int{}, root: -1}
	line := p.line
	isEntry := p.accept("ENTRY ")
	p.skip(false)
	if c.name, err = p.name("a computation, or ENTRY and one,"); err != nil {
		return err
	}
	if m.computations[c.name] != nil {
		return p.fail(line, "a second computation %s", c.name)
	}
	p.skip(false)
	if p.peek() == '(' { // parameters and result, which the instructions repeat
		if _, err := p.bracket("the parameters of a computation"); err != nil {
			return err
		}
		p.skip(false)
		if !p.accept("->") {
			return p.fail(p.line, "%s: -> and the shape of a result are expected, not %s", c.name, p.next())
		}
		p.skip(false)
		if _, err := p.shape(); err != nil {
			return err
		}
		p.skip(false)
	}
	if !p.accept("{") {
		return p.fail(p.line, "%s: { is expected, not %s", c.name, p.next())
	}
	for p.skip(true); !p.accept("}"); p.skip(true) {
		if err := p.instr(c); err != nil {
			return err
		}
	}
	if len(c.instrs) == 0 {
		return p.fail(line, "%s has no instructions", c.name)
	}
	if c.root < 0 {
		c.root = len(c.instrs) - 1
	}
	if _, err := p.attrs(); err != nil { // execution_thread
		return err
	}
	m.computations[c.name] = c
	m.order = append(m.order, c)
	m.fused = m.fused || slices.ContainsFunc(c.instrs, func(i instr) bool {
		return i.opcode == "fusion"
	})
	if isEntry {
		if m.entry != nil {
			return p.fail(line, "a second ENTRY: %s is one", m.entry.name)
		}
		m.entry = c
	}
	return nil
}

// operand returns the instruction of a name. Of a tuple, p#1#0 is element 0 of element 1, which
// becomes an instruction.
func (c *computation) operand(name string, line int) (at int, known bool) {
	base, elements, isElement := strings.Cut(name, "#")
	at, known = c.byName[base]
	for isElement && known {
		text, rest, more := strings.Cut(elements, "#")
		n, err := strconv.ParseUint(text, 10, 31)
		tuple := c.instrs[at].shape.tuple
		if err != nil || n >= uint64(len(tuple)) {
			return 0, false
		}
		c.instrs = append(c.instrs, instr{opcode: "get-tuple-element", line: line, shape: tuple[n],
			operands: []int{at}, attrs: []attr{{name: "index", value: text, line: line}}})
		at, elements, isElement = len(c.instrs)-1, rest, more
	}
	return at, known
}

// inlined parses a computation that stands in an attribute of the instruction that calls it, and
// gives it a name.
func (p *parser) inlined(i *instr, a *attr) error {
	if a.name != "to_apply" && a.name != "calls" || !strings.HasPrefix(a.value, "{") {
		return nil
	}
	name := i.name + "." + a.name
	inner := parser{file: p.file, text: name + " " + a.value, line: a.line, into: p.into}
	a.value = name
	return inner.computation(p.into)
}

// bracket parses a text in round brackets.
func (p *parser) bracket(what string) (string, error) {
	line := p.line
	if !p.accept("(") {
		return "", p.fail(p.line, "( and %s are expected, not %s", what, p.next())
	}
	from := p.pos
	for !p.accept(")") {
		if p.pos == len(p.text) {
			return "", p.fail(line, "a bracket that opens here is not closed")
		}
		if _, err := p.value(); err != nil {
			return "", err
		}
		if c := p.peek(); c == ',' || c == '\n' {
			p.step(1)
		} else if c != ')' && c != 0 {
			return "", p.fail(p.line, "%q closes no bracket", c)
		}
	}
	return p.text[from : p.pos-1], nil
}

// instr parses an instruction.
func (p *parser) instr(c *computation) (err error) {
	i := instr{line: p.line}
	isRoot := p.accept("ROOT ")
	p.skip(false)
	if i.name, err = p.name("an instruction, or }"); err != nil {
		return err
	}
	if _, known := c.byName[i.name]; known {
		return p.fail(i.line, "a second %s in %s", i.name, c.name)
	}
	p.skip(false)
	if !p.accept("=") {
		return p.fail(p.line, "%s: = and a shape are expected, not %s", i.name, p.next())
	}
	p.skip(true)
	if i.shape, err = p.shape(); err != nil {
		return err
	}
	p.skip(true)
	if i.opcode, err = p.name("an opcode"); err != nil {
		return err
	}
	if i.inside, err = p.bracket("operands of " + i.opcode); err != nil {
		return err
	}
	if i.attrs, err = p.attrs(); err != nil {
		return err
	}
	if i.opcode != "parameter" && i.opcode != "constant" {
		for _, text := range split(i.inside) {
			words := strings.Fields(text) // older files have the shape before the name
			if len(words) == 0 {
				return p.fail(i.line, "%s: an operand is expected", i.name)
			}
			operand := strings.TrimPrefix(words[len(words)-1], "%")
			at, known := c.operand(operand, i.line)
			if !known {
				return p.fail(i.line, "%s: operand %.60q is no instruction before it in %s", i.name, operand,
					c.name)
			}
			i.operands = append(i.operands, at)
		}
	}
	i.split()
	for k := range i.attrs {
		if err := p.inlined(&i, &i.attrs[k]); err != nil {
			return err
		}
	}
	if isRoot {
		if c.root >= 0 {
			return p.fail(i.line, "a second ROOT in %s", c.name)
		}
		c.root = len(c.instrs)
	}
	c.byName[i.name] = len(c.instrs)
	c.instrs = append(c.instrs, i)
	return nil
}
