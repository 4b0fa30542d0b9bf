package dumps

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// isPickle recognises protocol 2 and later: PROTO and its number.
func isPickle(text []byte) bool {
	return len(text) > 2 && text[0] == opProto && text[1] >= 2 && text[1] <= 5
}

// opProto begins a pickle.
const opProto = 0x80

// pickle is the machine that a pickle is a program of, with the opcodes that make plain data, and
// no others. Dicts must have keys of text; those of whole numbers become text.
//
// Lib/pickletools.py of Python; torch/csrc/jit/serialization/pickler.cpp, which writes protocol 2.
type pickle struct {
	file  string
	text  []byte
	at    int // the next byte
	op    int // where the opcode is
	stack []any
	marks []int
	memo  []any
}

// list is on the stack by reference, since opcodes append to it in place. Tuples are lists, too.
type list struct{ items []any }

// parsePickle reads the one object of a pickle.
func parsePickle(f file) (value, error) {
	p := &pickle{file: f.name, text: f.text}
	for {
		p.op = p.at
		op, err := p.take(1)
		if err != nil {
			return value{}, err
		}
		if op[0] == '.' {
			top, err := p.pop()
			return value{file: f.name, is: top}, err
		}
		if err := p.step(op[0]); err != nil {
			return value{}, err
		}
	}
}

// fail makes an error at the current opcode.
func (p *pickle) fail(format string, args ...any) error {
	return &ParseError{File: p.file, Key: fmt.Sprintf("byte %d", p.op),
		Text: fmt.Sprintf(format, args...)}
}

// take returns the next n bytes.
func (p *pickle) take(n uint64) ([]byte, error) {
	if n > uint64(len(p.text)-p.at) {
		return nil, p.fail("the pickle ends in the middle of a value")
	}
	p.at += int(n)
	return p.text[p.at-int(n) : p.at], nil
}

// number reads an unsigned number of n bytes.
func (p *pickle) number(n uint64) (uint64, error) {
	b, err := p.take(n)
	if err != nil {
		return 0, err
	}
	var full [8]byte
	copy(full[:], b)
	return binary.LittleEndian.Uint64(full[:]), nil
}

func (p *pickle) push(v any) error {
	p.stack = append(p.stack, v)
	return nil
}

func (p *pickle) pop() (any, error) {
	n := len(p.stack)
	if n == 0 || len(p.marks) > 0 && p.marks[len(p.marks)-1] >= n {
		return nil, p.fail("nothing is on the stack")
	}
	v := p.stack[n-1]
	p.stack = p.stack[:n-1]
	return v, nil
}

// popN pops n values, in their order.
func (p *pickle) popN(n int) ([]any, error) {
	values := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		var err error
		if values[i], err = p.pop(); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// popMark pops all above the last mark.
func (p *pickle) popMark() ([]any, error) {
	n := len(p.marks)
	if n == 0 {
		return nil, p.fail("no mark is on the stack")
	}
	from := p.marks[n-1]
	p.marks = p.marks[:n-1]
	values := slices.Clone(p.stack[from:])
	p.stack = p.stack[:from]
	return values, nil
}

// step executes an opcode.
func (p *pickle) step(op byte) error {
	switch op {
	case opProto:
		n, err := p.number(1)
		if err == nil && n > 5 {
			return p.fail("protocol %d; 2 to 5 are known", n)
		}
		return err
	case 0x95: // FRAME
		_, err := p.take(8)
		return err
	case 'N':
		return p.push(nil)
	case 0x88, 0x89:
		return p.push(op == 0x88)
	case '(':
		p.marks = append(p.marks, len(p.stack))
		return nil
	case '0':
		_, err := p.pop()
		return err
	case '2':
		top, err := p.pop()
		p.stack = append(p.stack, top, top)
		return err
	}
	if sizeOf(op) > 0 {
		return p.scalar(op)
	}
	if done, err := p.memoize(op); done || err != nil {
		return err
	}
	return p.container(op)
}

// sizeOf returns the bytes of the number that follows the opcode of a scalar, 0 for other opcodes.
func sizeOf(op byte) uint64 {
	switch op {
	case 'K', 'U', 'C', 0x8a, 0x8c:
		return 1
	case 'M':
		return 2
	case 'J', 'X', 'T', 'B':
		return 4
	case 'G', 0x8d, 0x8e:
		return 8
	}
	return 0
}

// scalar pushes a number or a text.
func (p *pickle) scalar(op byte) error {
	n, err := p.number(sizeOf(op))
	if err != nil {
		return err
	}
	switch op {
	case 'K', 'M':
		return p.push(int64(n))
	case 'J':
		return p.push(int64(int32(n)))
	case 'G': // big-endian
		return p.push(math.Float64frombits(reversed(n)))
	}
	b, err := p.take(n)
	if err != nil {
		return err
	}
	if op != 0x8a {
		return p.push(strings.ToValidUTF8(string(b), "\uFFFD"))
	}
	if n > 8 {
		return p.fail("a number of %d bytes; at most 8 are possible", n)
	}
	var full [8]byte
	if n > 0 && b[n-1] >= 0x80 { // negative
		full = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	}
	copy(full[:], b)
	return p.push(int64(binary.LittleEndian.Uint64(full[:])))
}

func reversed(n uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	return binary.BigEndian.Uint64(b[:])
}

// memoize executes the opcodes of the memo.
func (p *pickle) memoize(op byte) (done bool, err error) {
	key := uint64(len(p.memo))
	switch op {
	case 0x94:
	case 'q', 'h':
		key, err = p.number(1)
	case 'r', 'j':
		key, err = p.number(4)
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	if op == 'h' || op == 'j' {
		if key >= uint64(len(p.memo)) {
			return true, p.fail("nothing is in place %d of the memo", key)
		}
		return true, p.push(p.memo[key])
	}
	v, err := p.pop()
	if err != nil {
		return true, err
	}
	if key > uint64(len(p.text)) { // every place takes an opcode
		return true, p.fail("place %d of the memo is beyond what the pickle can fill", key)
	}
	for uint64(len(p.memo)) <= key {
		p.memo = append(p.memo, nil)
	}
	p.memo[key] = v
	return true, p.push(v)
}

// container makes lists, tuples and dicts, and fills them.
func (p *pickle) container(op byte) (err error) {
	var values []any
	switch op {
	case ']':
		return p.push(&list{})
	case '}':
		return p.push(map[string]any{})
	case ')':
		return p.push(&list{})
	case 0x85, 0x86, 0x87: // TUPLE1, 2, 3
		values, err = p.popN(int(op - 0x84))
	case 'a':
		values, err = p.popN(1)
	case 's':
		values, err = p.popN(2)
	case 't', 'l', 'd', 'e', 'u':
		values, err = p.popMark()
	default:
		return p.fail("opcode %s; plain data is expected, which nothing has to be executed for",
			opcodeName(op))
	}
	if err != nil {
		return err
	}
	switch op {
	case 'a', 'e':
		return p.extend(values)
	case 'd':
		p.stack = append(p.stack, map[string]any{})
		return p.fill(values)
	case 's', 'u':
		return p.fill(values)
	}
	return p.push(&list{values})
}

// extend appends values to the list on top.
func (p *pickle) extend(values []any) error {
	top, err := p.pop()
	if err != nil {
		return err
	}
	into, ok := top.(*list)
	if !ok {
		return p.fail("values are appended to what is no list")
	}
	into.items = append(into.items, values...)
	return p.push(into)
}

// fill puts keys and values into the dict on top.
func (p *pickle) fill(values []any) error {
	top, err := p.pop()
	if err != nil {
		return err
	}
	into, ok := top.(map[string]any)
	if !ok || len(values)%2 != 0 {
		return p.fail("keys and values are put into what is no dict, or there is a key too many")
	}
	for i := 0; i < len(values); i += 2 {
		switch key := values[i].(type) {
		case string:
			into[key] = values[i+1]
		case int64:
			into[fmt.Sprint(key)] = values[i+1]
		default:
			return p.fail("a key that is no text")
		}
	}
	return p.push(into)
}

// opcodeName names an opcode for an error, with its byte.
func opcodeName(op byte) string {
	name, known := map[byte]string{'c': "GLOBAL", 'R': "REDUCE", 0x93: "STACK_GLOBAL", 'b': "BUILD",
		'i': "INST", 'o': "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2",
		0x84: "EXT4", 'P': "PERSID", 'Q': "BINPERSID", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS",
		0x91: "FROZENSET", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
		0x8b: "LONG4", 'I': "INT", 'L': "LONG", 'F': "FLOAT", 'S': "STRING", 'V': "UNICODE",
		'g': "GET", 'p': "PUT", '1': "POP_MARK"}[op]
	if !known {
		name = "unknown"
	}
	return fmt.Sprintf("%s (0x%02x)", name, op)
}
