package random

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/leanovate/gopter"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/unit"
)

// Program is a random program, and the passes that lower it. It prints its tensors and ops.
type Program struct {
	*program.Program
	Lowering program.Lowering
}

// Programs generates programs of 2 to 6 ranks and up to 12 ops, in one to three iterations. They
// have calls of every kind, of one tensor and of several, in groups of all ranks or some, and
// kernels between them. Calls may have splits, streams and dependencies, and be async or in place.
// Any set of passes lowers them, with any parameters. Matrices have few columns, and rows that are
// mostly not a multiple of the ranks. Every rank has the inputs of its ops. Lowering.Time, which
// some passes call to compare times, is nil, and Gradient is off. A failure shrinks to fewer
// passes, ops and attributes.
func Programs() gopter.Gen { return generator(DrawProgram, simplerPrograms) }

// DrawProgram draws a program as Programs does.
func DrawProgram(r *rand.Rand) Program {
	d := &drawing{r: r, columns: 2 + r.Int64N(5), p: &program.Program{Name: "random",
		Ranks: 2 + r.IntN(5), Iterations: 1 + r.IntN(3)}, rows: map[string]int64{}}
	for i := range r.IntN(4) {
		d.group(fmt.Sprint("g", i))
	}
	d.declare("w", d.columns)
	d.declare("x", 1+r.Int64N(24))
	d.declare("y", int64(d.p.Ranks)*(1+r.Int64N(4)))
	for want, tries := 1+r.IntN(12), 100; len(d.p.Ops) < want && tries > 0; tries-- {
		d.op()
	}
	return Program{d.p, lowering(r)}
}

// drawing builds a random program.
type drawing struct {
	r       *rand.Rand
	p       *program.Program
	columns int64
	rows    map[string]int64 // of tensors with equally many rows on every rank that has them
	names   []string         // keys of rows, in order
}

func (d *drawing) chance(percent int) bool { return d.r.IntN(100) < percent }

// group adds a group of one or several teams, with ranks in any order.
func (d *drawing) group(name string) {
	size := 1 + d.r.IntN(d.p.Ranks)
	ranks := d.r.Perm(d.p.Ranks)
	var teams [][]int
	for team := range slices.Chunk(ranks[:d.p.Ranks/size*size], size) {
		if teams == nil || d.chance(80) {
			teams = append(teams, team)
		}
	}
	d.p.Groups = append(d.p.Groups, program.Group{Name: name, Teams: teams})
}

// declare adds a tensor.
func (d *drawing) declare(name string, rows int64) {
	t := program.Tensor{Name: name, Type: dtype.Float32, Shape: collective.Shape{rows, d.columns},
		Keep: d.chance(25)}
	if d.chance(40) {
		t.Memory = program.Memory(d.r.IntN(3))
	}
	d.p.Tensors = append(d.p.Tensors, t)
	if _, known := d.rows[name]; !known {
		d.rows[name], d.names = rows, append(d.names, name)
	}
}

// op adds a valid op, or none.
func (d *drawing) op() {
	o := program.Op{Name: fmt.Sprint("op", len(d.p.Ops)), Out: fmt.Sprint("t", len(d.p.Ops)),
		In: []string{d.names[d.r.IntN(len(d.names))]}}
	if n := d.r.IntN(len(d.p.Groups) + 1); n > 0 {
		o.Group = d.p.Groups[n-1].Name
	}
	if d.chance(25) {
		o.Stream = "other"
	}
	if n := len(d.p.Ops); n > 0 && d.chance(20) {
		o.After = []string{d.p.Ops[d.r.IntN(n)].Name}
	}
	tensors, rows := len(d.p.Tensors), d.rows[o.In[0]]
	if d.chance(35) {
		rows = d.kernel(&o, rows)
	} else {
		rows = d.call(&o, rows)
	}
	if rows > 64 {
		return
	}
	if o.Out != "" && o.Out != o.In[0] && rows > 0 && d.chance(25) {
		d.p.Tensors = append(d.p.Tensors, program.Tensor{Name: o.Out, Type: dtype.Float32,
			Shape: collective.Shape{rows, d.columns}, Keep: d.chance(50),
			Memory: program.Memory(d.r.IntN(3))})
	}
	d.p.Ops = append(d.p.Ops, o)
	if !isValid(d.p) {
		d.p.Ops, d.p.Tensors = d.p.Ops[:len(d.p.Ops)-1], d.p.Tensors[:tensors]
		return
	}
	for _, out := range append(o.Outs, o.Out) {
		if _, known := d.rows[out]; !known && out != "" && rows > 0 {
			d.rows[out], d.names = rows, append(d.names, out)
		}
	}
}

// kernel makes an op a kernel on a tensor of so many rows, and returns the rows of its result.
func (d *drawing) kernel(o *program.Op, rows int64) int64 {
	switch d.r.IntN(8) {
	case 0:
		o.Kernel = "scale by=0.5"
	case 1:
		o.Kernel = "cast"
	case 2, 3:
		o.Kernel, o.In = "add", append(o.In, d.names[d.r.IntN(len(d.names))])
	case 4:
		o.Kernel, o.Out = "opaque 3 us", ""
	default:
		o.Kernel, o.In = "matmul", append(o.In, "w")
		return rows
	}
	if o.Out != "" && d.chance(25) {
		o.Out = o.In[0]
	}
	return rows
}

// call makes an op a call on a tensor of so many rows, and returns the rows of its result; 0 if
// they differ between ranks.
func (d *drawing) call(o *program.Op, rows int64) int64 {
	team := d.p.Ranks
	for _, g := range d.p.Groups {
		if g.Name == o.Group {
			team = len(g.Teams[0])
		}
	}
	kinds := collective.Kinds()
	kind := kinds[d.r.IntN(len(kinds))]
	o.Async = d.chance(40)
	words := []string{kind.String()}
	if kind.Reduces() {
		ops := []string{"sum", "sum", "avg", "max", "min", "premulsum factor 2"}
		words = append(words, ops[d.r.IntN(len(ops))])
	}
	if kind.Rooted() {
		words = append(words, fmt.Sprintf("root %d", d.r.IntN(team)))
	}
	n := int64(team)
	switch kind {
	case collective.AllGather:
		rows *= n
	case collective.Gather:
		rows = 0
	case collective.ReduceScatter, collective.Scatter:
		rows /= n
	case collective.AllGatherV, collective.ReduceScatterV, collective.AllToAllV:
		words = append(words, "splits", d.splits(kind, team, rows))
		rows = 0
	case collective.Reduce:
		rows = 0
	case collective.Barrier:
		o.In, o.Out, rows = nil, "", 0
	}
	o.Call = strings.Join(words, " ")
	switch {
	case o.Out == "":
	case d.chance(25) && kind != collective.AllToAllV: // its blocks have no common place
		o.Out = o.In[0]
	case d.chance(15): // a call of two tensors
		o.In = append(o.In, d.names[d.r.IntN(len(d.names))])
		o.Outs, o.Out = []string{o.Out, o.Out + "b"}, ""
		if d.rows[o.In[1]] != d.rows[o.In[0]] {
			rows = 0
		}
	}
	return rows
}

// splits returns such as "1,3/2,2", for a call of a team size on a tensor of so many rows.
func (d *drawing) splits(kind collective.Kind, team int, rows int64) string {
	lines := 1
	if kind == collective.AllToAllV {
		lines = team
	}
	var list []string
	for range lines {
		left := rows
		var row []string
		for k := range team {
			n := min(left, d.r.Int64N(2*rows/int64(team)+2))
			if kind == collective.AllGatherV { // each rank takes its block from the beginning
				n = min(rows, d.r.Int64N(rows+2))
			} else if k == team-1 {
				n = left
			}
			left -= n
			row = append(row, fmt.Sprint(n))
		}
		list = append(list, strings.Join(row, ","))
	}
	return strings.Join(list, "/")
}

// lowering draws passes and their parameters.
func lowering(r *rand.Rand) program.Lowering {
	on := func() bool { return r.IntN(3) == 0 }
	size := func() unit.Bytes {
		if !on() {
			return 0
		}
		return []unit.Bytes{24, 100, 256, 1024, 2048, 1 << 20}[r.IntN(6)]
	}
	l := program.Lowering{OneShot: size(), SymmetricMemory: on(), Bucket: size(), Coalesce: on(),
		InPlace: on(), CommBuffer: size(), Register: on(), Reorder: on(), Reuse: on()}
	if on() {
		l.Pipeline = program.Pipeline(r.IntN(len(program.Pipelines())))
	}
	if l.Register {
		l.Persistent, l.Registering = on(), unit.Time(r.IntN(3))*unit.Microsecond
	}
	return l
}
