// Package fx reads the text of FX graphs of PyTorch with functional collectives, as
// GraphModule.print_readable writes it and as torch.compile logs it (TORCH_LOGS="aot_graphs"):
//
//	class GraphModule(torch.nn.Module):
//	    def forward(self, x: "bf16[512, 1024]", w: "bf16[1024, 1024]"):
//	        mm: "bf16[512, 1024]" = torch.ops.aten.mm.default(x, w);  x = w = None
//	        sum_1: "bf16[512, 1024]" = torch.ops._c10d_functional.all_reduce.default(mm, 'sum', '0')
//	        wait: "bf16[512, 1024]" = torch.ops._c10d_functional.wait_tensor.default(sum_1)
//	        return (wait,)
//
// All ranks execute the same graph. Statements are issued in their order, as PyTorch without fusion
// does it: computations on one stream, and collectives on another, which begin when what was issued
// before them has ended; what stands behind a wait_tensor waits for the collective. Products are
// matmuls of their shapes; views cost nothing; every other operation moves its operands and its
// result.
//
// Types are abbreviated as in torch/fx/graph.py; the collectives are those of
// torch/csrc/distributed/c10d/Functional.cpp.
package fx

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/hlo"
	"collsim/formats/internal/foreign"
	"collsim/internal/prose"
	"collsim/unit"
)

// Options hold what is known of a graph besides its text.
type Options struct {
	Ranks  int
	Groups []Group // that the graph names; "0" is all ranks where it is not among them
}

// Group names the teams of a group; one team without ranks has all.
type Group struct {
	Name  string
	Teams [][]int
}

// IsGraph reports whether a text is one: it calls a functional collective or an operation of aten
// inside a forward.
func IsGraph(text []byte) bool {
	s := string(text[:min(len(text), 1<<16)])
	return strings.Contains(s, "def forward(") && strings.Contains(s, "torch.ops.")
}

// value is a value of a graph: its type and shape, where it is a tensor.
type value struct {
	tensor hlo.Tensor
	bytes  int64 // of an element; 0: no tensor, or of no shape
	call   int   // index of the collective that makes it, −1 for others
}

// reader reads a graph.
type reader struct {
	name   string
	o      *Options
	line   int
	values map[string]value
	ops    []hlo.Op
	names  prose.Names

	last    int   // the last computation, −1 for none
	waits   []int // collectives for which what is issued from now on waits
	inputs  bool  // between def forward( and its end
	kernels int   // that are taken for what they move
}

// Read reads a graph as a program. Errors are *foreign.Error with the line.
func Read(name string, in io.Reader, o Options) (*hlo.Program, error) {
	r := &reader{name: name, o: &o, values: map[string]value{}, last: -1}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	done := false
	for scan.Scan() && !done {
		r.line++
		var err error
		if done, err = r.statement(scan.Text()); err != nil {
			return nil, err
		}
	}
	if err := scan.Err(); err != nil {
		return nil, r.fail("%v", err)
	}
	p := &hlo.Program{Name: name, Ranks: o.Ranks, Ops: r.ops}
	if r.kernels > 0 {
		p.Notes = append(p.Notes, prose.Plural(r.kernels, "operation")+" taken for what is read and "+
			"written, each by itself, as PyTorch does without torch.compile")
	}
	return p, nil
}

// maxLine bounds a line: a call of many tensors.
const maxLine = 1 << 22

func (r *reader) fail(format string, args ...any) error {
	return &foreign.Error{File: r.name, Line: r.line, Text: fmt.Sprintf(format, args...)}
}

// statement reads a line. done is true at the return of the first forward.
func (r *reader) statement(line string) (done bool, err error) {
	text := strings.TrimSpace(line)
	if at := strings.Index(text, "# "); at == 0 || at > 0 && !strings.Contains(text[at:], `"`) {
		text = strings.TrimSpace(text[:at])
	}
	switch {
	case text == "" || strings.HasPrefix(text, "class ") || strings.HasPrefix(text, "#"):
		return false, nil
	case strings.HasPrefix(text, "def "):
		r.inputs = true
		_, text, _ = strings.Cut(text, "(")
	case strings.HasPrefix(text, "return"):
		return true, nil
	}
	if r.inputs {
		r.inputs = !strings.HasSuffix(text, "):") && !strings.Contains(text, ") ->")
		return false, r.parameters(text)
	}
	return false, r.assignment(text)
}

// parameters reads the inputs of a line of the header.
func (r *reader) parameters(text string) error {
	for _, one := range divide(strings.TrimSuffix(text, "):")) {
		name, is, typed := strings.Cut(one, ":")
		if name = strings.TrimSpace(name); !typed || name == "self" {
			continue
		}
		v, err := r.annotated(is)
		if err != nil {
			return err
		}
		r.values[name] = v
	}
	return nil
}

// assignment reads "name: "type" = expression;  a = b = None".
func (r *reader) assignment(text string) error {
	text, _, _ = strings.Cut(text, ";")
	left, right, ok := strings.Cut(text, " = ")
	if !ok {
		return nil
	}
	name, is, typed := strings.Cut(left, ":")
	v := value{call: -1}
	if typed {
		var err error
		if v, err = r.annotated(is); err != nil {
			return err
		}
	}
	name = strings.TrimSpace(name)
	if err := r.expression(name, &v, strings.TrimSpace(right)); err != nil {
		return err
	}
	r.values[name] = v
	return nil
}

// annotated reads a quoted type, as "bf16[512, 1024]" or "f32[8][1]cuda:0". What is no tensor has
// no bytes.
func (r *reader) annotated(text string) (value, error) {
	v := value{call: -1}
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	name, rest, ok := strings.Cut(text, "[")
	t, known := types[name]
	if !ok || !known {
		return v, nil
	}
	axes, _, closed := strings.Cut(rest, "]")
	if !closed {
		return v, r.fail("%q: a type such as f32[8, 4] is expected", text)
	}
	v.tensor.Type, v.bytes = t.as, t.bytes
	for _, word := range divide(axes) {
		var n int64
		if _, err := fmt.Sscanf(word, "%d", &n); err != nil || n < 0 || n > collective.MaxElements ||
			fmt.Sprint(n) != word {
			return v, r.fail("%q: lengths are whole numbers here; a graph of symbolic shapes is made "+
				"static by torch.compile(dynamic=False)", text)
		}
		v.tensor.Shape = append(v.tensor.Shape, n)
	}
	if v.tensor.Shape == nil {
		v.tensor.Shape = collective.Shape{1}
	}
	if elements(v.tensor.Shape) > collective.MaxElements/v.bytes {
		return v, r.fail("%q: more than %d bytes", text, int64(collective.MaxElements))
	}
	return v, nil
}

// elements returns the product of a shape's lengths, at most collective.MaxElements + 1.
func elements(shape collective.Shape) int64 {
	n := int64(1)
	for _, length := range shape {
		if length != 0 && n > collective.MaxElements/length {
			return collective.MaxElements + 1
		}
		n *= length
	}
	return n
}

// types lists the abbreviations of types, each with the type that carries the numbers here and the
// bytes of an element. Truth values are carried as bytes.
var types = map[string]struct {
	as    dtype.Type
	bytes int64
}{"f64": {dtype.Float64, 8}, "f32": {dtype.Float32, 4}, "f16": {dtype.Float16, 2},
	"bf16": {dtype.BFloat16, 2}, "f8e4m3fn": {dtype.Float8E4M3, 1},
	"f8e5m2": {dtype.Float8E5M2, 1}, "i64": {dtype.Int64, 8}, "i32": {dtype.Int32, 4},
	"i8": {dtype.Int8, 1}, "u8": {dtype.Uint8, 1}, "b8": {dtype.Uint8, 1}}

// add appends an op of a name of its own.
func (r *reader) add(op hlo.Op) int {
	op.Name, op.Line = r.names.Unique(op.Name), r.line
	r.ops = append(r.ops, op)
	return len(r.ops) - 1
}

// issued returns the ops for which an op waits that is issued now.
func (r *reader) issued() []int {
	list := r.waits
	if r.last >= 0 {
		list = append([]int{r.last}, list...)
	}
	return list
}

// compute adds a computation. It stands behind the last one on the stream.
func (r *reader) compute(op hlo.Op) {
	op.After, r.waits = r.issued(), nil
	r.last = r.add(op)
}

// moves adds a computation that reads and writes so many bytes.
func (r *reader) moves(name string, bytes int64) {
	if bytes > 0 {
		r.kernels++
		r.compute(hlo.Op{Name: name, Moves: unit.Bytes(bytes)})
	}
}
