package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// naive is a second judge of programs, which shares the cursor and nothing else with the proof: it
// knows no runs, no clocks and no interning of formulas. An element is a string, what is computed
// of strings is a string, and lanes are interleaved by chance, many times: a program races if two
// accesses, one of them writing, are seen in both orders.
type naive struct {
	s      *schedule.Schedule
	calls  int
	lanes  []naiveLane
	names  map[string]string   // of long texts
	leaves map[string][]string // of sums
	want   []map[[2]int][]string
	after  map[[2]int]bool // accesses that were seen in this order
}

type naiveLane struct {
	rank, number, part, channel int
	steps                       []schedule.Step
}

// verdict of one interleaving.
type naiveRun struct {
	*naive
	mem      map[[2]int][]string
	touched  map[[2]int][][]naiveAccess
	messages map[connection][][]string
	at       []int // of each lane
	posts    []int
	call     []int // of each rank
	strict   bool  // pads hold one message
	wrong    string
	stalled  bool
	left     bool // messages that nobody receives
}

type naiveAccess struct {
	actor, id int
	write     bool
}

func newNaive(s *schedule.Schedule, calls int) *naive {
	n := &naive{s: s, calls: calls, names: map[string]string{}, leaves: map[string][]string{},
		after: map[[2]int]bool{}}
	for rank := range s.Spec.Ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			l := naiveLane{rank: rank, number: lane, part: p.Part(lane), channel: p.Channel(lane)}
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				var step schedule.Step
				p.Load(&c, &step)
				l.steps = append(l.steps, step)
			}
			n.lanes = append(n.lanes, l)
		}
	}
	for call := range calls {
		n.want = append(n.want, n.definition(call))
	}
	return n
}

// short is a name for a text.
func (n *naive) short(text string) string {
	if n.names[text] == "" {
		n.names[text] = fmt.Sprint("v", len(n.names))
	}
	return n.names[text]
}

// combined is x and y under an operator; sums of sums are sums.
func (n *naive) combined(op collective.Op, x, y string) string {
	if x == "" || y == "" || x == "?" || y == "?" {
		return "?"
	}
	var all []string
	for _, v := range []string{x, y} {
		if list := n.leaves[op.String()+v]; list != nil {
			all = append(all, list...)
		} else {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	sum := n.short(op.String() + " of " + strings.Join(all, ", "))
	n.leaves[op.String()+sum] = all
	return sum
}

// scaled is v times a factor, of a sum every part of it.
func (n *naive) scaled(v, factor string) string {
	if v == "" || v == "?" {
		return v
	}
	list := n.leaves[collective.Sum.String()+v]
	if list == nil {
		return n.short(factor + " times " + v)
	}
	total := ""
	for i, leaf := range list {
		if leaf = n.scaled(leaf, factor); i == 0 {
			total = leaf
			continue
		}
		total = n.combined(collective.Sum, total, leaf)
	}
	return total
}

// kernel computes an operation on single elements.
func (n *naive) kernel(o kernel.Op, in [][]string) []string {
	out := make([]string, o.Output().Shape.Elements())
	for i := range out {
		out[i] = n.element(o, in, int64(i))
	}
	return out
}

func (n *naive) element(o kernel.Op, in [][]string, i int64) string {
	var row, whole []string
	column := int64(0)
	kind := o.Kind
	switch {
	case o.IsMatmul():
		k := o.K()
		column = i % o.N
		row = append(row, in[0][i/o.N*k:(i/o.N+1)*k]...)
		whole = append(whole, in[1]...)
		if o.Scaling == kernel.RowWise {
			row = append(row, in[2][i/o.N])
			whole = append(whole, in[3]...)
		}
	case kind == kernel.Sum || kind == kernel.Mean: // over the outermost axis
		length := o.In.Lengths()[0]
		inner := int64(len(in[0])) / length
		total := in[0][i]
		for j := int64(1); j < length; j++ {
			total = n.combined(collective.Sum, total, in[0][j*inner+i])
		}
		if kind == kernel.Mean {
			total = n.scaled(total, fmt.Sprint("1/", length))
		}
		return total
	case kind == kernel.Add:
		return n.combined(collective.Sum, in[0][i], in[1][i])
	default:
		row = []string{in[0][i]}
	}
	for _, v := range append(row, whole...) {
		if v == "" || v == "?" {
			return "?"
		}
	}
	return n.short(fmt.Sprint(kind, o.K(), o.N, o.A, o.B, o.Out, " ", row, whole, column))
}

func (n *naive) blank() map[[2]int][]string {
	mem := map[[2]int][]string{}
	for rank := range n.s.Spec.Ranks {
		for b := schedule.FirstTensor; int(b) < n.s.Buffers(); b++ {
			mem[[2]int{rank, int(b)}] = make([]string, n.s.Len(b, rank))
		}
	}
	return mem
}

// give writes what a rank is given in a call.
func (n *naive) give(mem map[[2]int][]string, rank, call int) {
	for i, t := range n.s.Tensors {
		if !t.Role.IsGiven() {
			continue
		}
		data := mem[[2]int{rank, int(schedule.FirstTensor) + i}]
		for e := range data {
			data[e] = fmt.Sprintf("%s%d.%d.%d", t.Name, e, rank, call)
		}
	}
}

// definition is what memories hold when all that is defined has been computed.
func (n *naive) definition(call int) map[[2]int][]string {
	mem := n.blank()
	for rank := range n.s.Spec.Ranks {
		n.give(mem, rank, call)
	}
	parts := n.s.Parts()
	if parts == nil {
		parts = []schedule.Part{{Schedule: n.s}}
		for i := range n.s.Buffers() {
			parts[0].Memory = append(parts[0].Memory, schedule.Place{Tensor: schedule.Buffer(i)})
		}
	}
	for _, p := range parts {
		n.part(mem, &p)
	}
	return mem
}

func (n *naive) part(mem map[[2]int][]string, p *schedule.Part) {
	of := p.Schedule
	at := func(b schedule.Buffer, place int) []string {
		rank, where := place, p.Memory[b]
		if p.Ranks != nil {
			rank = p.Ranks[place]
		}
		return mem[[2]int{rank, int(where.Tensor)}][where.Offset(place):]
	}
	if of.Spec.Kind != collective.Custom {
		n.collective(&of.Spec, func(r int) []string { return at(schedule.Input, r) },
			func(r int) []string { return at(schedule.Output, r) })
	}
	for _, d := range of.Defs {
		if d.Spec != nil {
			n.collective(d.Spec, func(r int) []string { return at(d.From[0], r) },
				func(r int) []string { return at(d.To, r) })
			continue
		}
		for place := range of.Spec.Ranks {
			var in [][]string
			for i, operand := range d.Kernel.Operands() {
				in = append(in, at(d.From[i], place)[:operand.Shape.Elements()])
			}
			copy(at(d.To, place), n.kernel(*d.Kernel, in))
		}
	}
}

func (n *naive) collective(spec *collective.Spec, in, out func(rank int) []string) {
	var inputs [][]string
	for rank := range spec.Ranks {
		inputs = append(inputs, slices.Clone(in(rank)))
	}
	for rank := range spec.Ranks {
		for _, piece := range spec.Want(rank) {
			for e := range piece.Len {
				from := max(piece.From, 0)
				v := inputs[from][piece.InOff+e]
				if piece.From == collective.AllRanks {
					op := spec.Op
					if op == collective.Avg {
						op = collective.Sum
					}
					for r := 1; r < spec.Ranks; r++ {
						v = n.combined(op, v, inputs[r][piece.InOff+e])
					}
					if spec.Op == collective.Avg {
						v = n.scaled(v, fmt.Sprint("1/", spec.Ranks))
					}
				}
				out(rank)[piece.Off+e] = v
			}
		}
	}
}

// run carries out one interleaving.
func (n *naive) run(rng *rand.Rand, strict bool) *naiveRun {
	r := &naiveRun{naive: n, mem: n.blank(), touched: map[[2]int][][]naiveAccess{},
		messages: map[connection][][]string{}, at: make([]int, len(n.lanes)),
		posts: make([]int, len(n.lanes)), call: make([]int, n.s.Spec.Ranks), strict: strict}
	for key, data := range r.mem {
		r.touched[key] = make([][]naiveAccess, len(data))
	}
	for rank := range r.call {
		r.begin(rank)
	}
	order := rng.Perm(len(n.lanes))
	for {
		if rng.IntN(8) == 0 { // mostly, one goes as far as it can
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		i := slices.IndexFunc(order, r.ready)
		if i < 0 {
			break
		}
		r.step(order[i])
	}
	for _, call := range r.call {
		r.stalled = r.stalled || call < n.calls
	}
	for _, list := range r.messages {
		r.left = r.left || len(list) > 0
	}
	return r
}
