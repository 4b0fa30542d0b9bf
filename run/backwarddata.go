package run

import (
	"math"
	"math/big"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/reference"
	"collsim/schedule"
)

// settle makes gradients of inputs of what a team's backward pass has brought: masked, for which
// the forward pass is carried out as well and its output comes to all ranks by a pass of its own,
// or scaled. Whatever it does is checked.
func (r *runner) settle(t *teamRun, result *Result) error {
	g, spec := result.Gradient, &t.schedule.Spec
	forward := g.made.of(len(t.team))
	switch {
	case g.Mask:
		in, out, err := r.forward(t, result)
		if err == nil && g.Passes == 2 {
			var second *calculated
			second, err = t.number.calculate(&calculation{schedule: t.schedule, in: out, accumulate: t.sums})
			if err == nil {
				result.add(second.report, member{t.schedule, 1})
				out = second.out
			}
		}
		if err != nil {
			return err
		}
		for place := range spec.Ranks {
			t.number.mask(in[place], out[place], t.calculated.out[place])
		}
	case forward.Spec.ScalesBefore() || forward.Spec.ScalesAfter():
		for place, before := range t.calculated.out {
			after := t.number.scale(&forward.Spec, before)
			result.scaled(t.number.unscaled(&forward.Spec, before, after))
			t.calculated.out[place] = after
		}
	default:
		return nil
	}
	t.altered = true
	return nil
}

// scaled takes in how many elements have not been scaled as they should be.
func (r *Result) scaled(wrong int64) {
	if r.Wrong += wrong; wrong > 0 {
		r.Numbers = string(reference.NumbersMismatch)
	}
}

// forward carries out the forward pass of a team: the inputs of all ranks and their outputs.
func (r *runner) forward(t *teamRun, result *Result) (in, out [][]byte, err error) {
	g := result.Gradient
	f := &teamRun{point: g.of, team: t.team, schedule: g.made.of(len(t.team)), number: t.number}
	var inputs []arrays.Array
	if g.of.Data.Input != "" {
		if inputs, err = r.s.arrays.of(g.of.Data.Input, inputWant(g.of)); err != nil {
			return nil, nil, err
		}
	}
	done, err := f.number.calculate(r.calculationOf(f, inputs))
	if err != nil {
		return nil, nil, err
	}
	return done.in, done.out, nil
}

// share makes the local gradients of a team: each rank's own part of the gradient of its output.
func (r *runner) share(t *teamRun, result *Result, inputs []arrays.Array) error {
	x := r.calculationOf(t, inputs)
	t.calculated = &calculated{in: x.in}
	var err error
	if x.in == nil {
		if t.calculated.in, err = t.number.inputs(x); err != nil {
			return err
		}
	}
	g := result.Gradient
	spec := &g.made.of(len(t.team)).Spec
	var in, out [][]byte
	if g.Mask {
		if in, out, err = r.forward(t, result); err != nil {
			return err
		}
	}
	for rank, own := range t.calculated.in {
		local, err := collective.LocalGradient(*spec, rank)
		if err != nil {
			return err
		}
		mine := pieces(local.Pieces, own, spec.In(rank), int64(spec.Type.Width()))
		switch {
		case g.Mask:
			kept := pieces(local.Pieces, out[rank], spec.In(rank), int64(spec.Type.Width()))
			t.number.mask(in[rank], kept, mine)
		case g.Scale != 1:
			before := mine
			mine = t.number.scale(spec, before)
			result.scaled(t.number.unscaled(spec, before, mine))
		}
		t.calculated.out = append(t.calculated.out, mine)
	}
	t.altered = true
	return nil
}

// pieces assembles count elements of width bytes from a rank's own elements, as the list says.
// The rest is 0.
func pieces(list []collective.Piece, own []byte, count, width int64) []byte {
	all := make([]byte, count*width)
	for _, p := range list {
		if p.From != collective.Zero {
			copy(all[p.Off*width:(p.Off+p.Len)*width], own[p.InOff*width:])
		}
	}
	return all
}

// shares makes the local gradients of all teams, gives them and compares them.
func (r *runner) shares(result *Result) error {
	p := result.Point.Carried()
	outputs := make([]arrays.Array, p.Topology.Ranks)
	inputs, theirs, err := r.files(p, result)
	if err != nil {
		return err
	}
	for _, team := range p.Members() {
		t := &teamRun{point: p, team: team, number: numberOf(p.Spec.Type),
			schedule: &schedule.Schedule{Spec: p.TeamSpec(len(team))}}
		r.numbers(func() { err = r.share(t, result, inputs) })
		if err != nil {
			return p.Refuse("check.memory", err.Error(), "")
		}
		if err := t.give(outputs); err != nil {
			return err
		}
		if theirs != nil {
			if err := t.compare(theirs, outputs, result.Comparison); err != nil {
				return p.Refuse("collective.compare", err.Error(), "")
			}
		}
	}
	if p.Data.Output != "" {
		result.Outputs = outputs
	}
	return nil
}

// maskAs makes a gradient 0 where an input is not equal to the output.
func maskAs[T dtype.Number](in, out, gradient []byte) {
	width := dtype.Of[T]().Width()
	equal := func(a, b T) bool { return a == b }
	if dtype.Of[T]().IsFloat() { // T may hold bits, where +0 and −0 differ
		equal = func(a, b T) bool { return dtype.Value(a) == dtype.Value(b) }
	}
	x, y := getAll[T](in), getAll[T](out)
	for i := range x {
		if !equal(x[i], y[i]) {
			clear(gradient[i*width : (i+1)*width])
		}
	}
}

// maxScaled bounds the elements of a rank whose scale is checked.
const maxScaled = 4096

// unscaledAs counts, among elements spread over all, floats that are not the exact product rounded
// once, of a factor that T has or of 1/n.
func unscaledAs[T dtype.Number](spec *collective.Spec, before, after []byte) (wrong int64) {
	dt := dtype.Of[T]()
	if !dt.IsFloat() {
		return 0
	}
	factor := new(big.Rat).SetFrac64(1, int64(spec.Ranks))
	if spec.ScalesBefore() {
		rounded := dtype.Reciprocal[T](spec.Ranks)
		if spec.Op == collective.PremulSum {
			rounded = dtype.From[T](spec.Factor)
		}
		value := dtype.Value(rounded)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return 0
		}
		factor.SetFloat64(value)
	}
	x, y := getAll[T](before), getAll[T](after)
	unit := math.Ldexp(1, -dt.Precision())
	for i := 0; i < len(x); i += len(x)/maxScaled + 1 {
		value, got := dtype.Value(x[i]), dtype.Value(y[i])
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		exact := new(big.Rat).SetFloat64(value)
		size, _ := exact.Mul(exact, factor).Float64()
		if math.Abs(size) > dt.Largest() {
			continue
		}
		if math.IsNaN(got) || math.IsInf(got, 0) {
			wrong++
			continue
		}
		off, _ := exact.Sub(exact, new(big.Rat).SetFloat64(got)).Float64()
		if math.Abs(off) > float64(unit*math.Abs(size))+dt.Smallest() {
			wrong++
		}
	}
	return wrong
}
