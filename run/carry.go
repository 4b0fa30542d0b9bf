package run

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// calculation holds a schedule and the data on which it is carried out.
type calculation struct {
	schedule   *schedule.Schedule
	in         [][]byte // of each rank, as the collective has it; nil: made of what follows
	data       reference.Data
	seed       uint64
	accumulate reference.Accumulate
}

// calculated holds the inputs, the outputs and the check of a schedule that was carried out.
type calculated struct {
	in, out [][]byte
	report  reference.Report
}

// numberAs returns the operations on elements of type T, or on complex numbers with components of
// it.
func numberAs[T dtype.Number]() number {
	return number{calculate: calculateAs[T], inputs: inputsAs[T], mask: maskAs[T],
		scale: func(spec *collective.Spec, elements []byte) []byte {
			x := getAll[T](elements)
			reference.Scale(spec, x)
			return put(x)
		}, unscaled: unscaledAs[T]}
}

// getAll decodes bytes into elements of type T.
func getAll[T dtype.Number](elements []byte) []T {
	x := make([]T, len(elements)/dtype.Of[T]().Width())
	dtype.Get(x, elements)
	return x
}

func put[T dtype.Number](x []T) []byte {
	b := make([]byte, len(x)*dtype.Of[T]().Width())
	dtype.Put(b, x)
	return b
}

// inputsAs makes the inputs of all ranks.
func inputsAs[T dtype.Number](x *calculation) ([][]byte, error) {
	inputs, err := reference.Inputs[T](x.schedule.Spec.InComponents(), x.data, x.seed)
	var all [][]byte
	for i := range inputs {
		all = append(all, put(inputs[i]))
		inputs[i] = nil
	}
	return all, err
}

// calculateAs carries a schedule out in T and holds the result against the definition.
func calculateAs[T dtype.Number](x *calculation) (*calculated, error) {
	s := schedule.InComponents(x.schedule)
	spec := s.Spec
	var inputs [][]T
	var err error
	if x.in == nil {
		inputs, err = reference.Inputs[T](spec, x.data, x.seed)
		if err != nil {
			return nil, err
		}
	} else {
		inputs = make([][]T, spec.Ranks)
		for i := range inputs {
			inputs[i] = getAll[T](x.in[i])
		}
	}
	outputs, report, err := reference.RunAndCompare(s, inputs,
		reference.RunOptions{Accumulate: x.accumulate})
	if err != nil {
		return nil, err
	}
	done := &calculated{in: x.in, report: reference.InElements(report, x.schedule.Spec.Type)}
	for i := range outputs {
		if x.in == nil {
			done.in = append(done.in, put(inputs[i]))
		}
		done.out = append(done.out, put(outputs[i]))
	}
	return done, nil
}

// carry runs the schedules of a point on its data: the input of its file, or that of check.data.
func (r *runner) carry(m *made, result *Result) error {
	p := result.Point
	outputs := make([]arrays.Array, p.Topology.Ranks)
	inputs, theirs, err := r.files(p, result)
	if err != nil {
		return err
	}
	for i, team := range p.Members() {
		t := &teamRun{point: p, team: team, schedule: m.of(len(team)), number: numberOf(p.Spec.Type)}
		if err := r.calculateTeam(t, inputs); err != nil {
			if result.refuted(err) {
				result.Numbers = Off
				if theirs != nil {
					result.Comparison = &Comparison{File: p.FileName(p.Data.Compare), Why: unproven}
				}
				return nil
			}
			return p.Refuse("check.memory", err.Error(), "")
		}
		result.addTeam(t, i == 0)
		if result.Gradient != nil {
			r.numbers(func() { err = r.settle(t, result) })
			if err != nil {
				return p.Refuse("check.memory", err.Error(), "")
			}
		}
		if err := t.give(outputs); err != nil {
			return err
		}
		if theirs == nil {
			continue
		}
		if err := t.compare(theirs, outputs, result.Comparison); err != nil {
			return p.Refuse("collective.compare", err.Error(), "")
		}
	}
	if p.Data.Output != "" {
		result.Outputs = outputs
	}
	return nil
}

// files reads what a point takes, and what it is compared with.
func (r *runner) files(p *scenarios.Point,
	result *Result) (inputs, theirs []arrays.Array, err error) {
	if p.Data.Input != "" {
		if inputs, err = r.s.arrays.of(p.Data.Input, inputWant(p)); err != nil {
			return nil, nil, p.Refuse("collective.input", err.Error(), "")
		}
	}
	if p.Data.Compare != "" {
		if theirs, err = r.s.arrays.theirs(p); err != nil {
			return nil, nil, p.Refuse("collective.compare", err.Error(), "")
		}
		result.Comparison = &Comparison{File: p.FileName(p.Data.Compare)}
	}
	if result.Data = p.Data.Input; result.Data == "" {
		result.Data = dataOf(p, r.options.Numerics).String()
	}
	if c := result.Comparison; c != nil && len(result.Violations) > 0 {
		c.Why, theirs = unproven, nil
	}
	return inputs, theirs, nil
}

// of returns the schedule of teams of n ranks. REQUIRES: there is one.
func (m *made) of(n int) *schedule.Schedule {
	for _, member := range m.members {
		if member.schedule.Spec.Ranks == n {
			return member.schedule
		}
	}
	panic("collsim: a team without a schedule")
}

// teamRun is a team at work on data.
type teamRun struct {
	point      *scenarios.Point
	team       []int
	schedule   *schedule.Schedule
	number     number
	calculated *calculated
	sums       reference.Accumulate
	altered    bool // outputs are not what the schedule gives: they were scaled or masked
}

// calculateTeam carries a team's schedule out.
func (r *runner) calculateTeam(t *teamRun, inputs []arrays.Array) (err error) {
	x := r.calculationOf(t, inputs)
	r.numbers(func() { t.calculated, err = t.number.calculate(x) })
	return err
}

// calculationOf returns a team's schedule with the data to carry it out on. inputs holds the arrays
// of all ranks; where it is nil, data is generated.
func (r *runner) calculationOf(t *teamRun, inputs []arrays.Array) *calculation {
	p, spec := t.point, &t.schedule.Spec
	t.sums = sumsOf(p)
	x := &calculation{schedule: t.schedule, data: dataOf(p, r.options.Numerics), seed: uint64(p.Seed),
		accumulate: t.sums}
	if inputs != nil {
		x.in = make([][]byte, spec.Ranks)
		for place, rank := range t.team {
			x.in[place] = inputs[rank].Data
			if tensor := p.TensorOf(spec.Ranks); tensor != nil && hasInput(spec, place) {
				x.in[place] = pack(tensor.Pack(place, spec.Ranks), int64(spec.Type.Width()),
					inputs[rank].Data, spec.In(place), false)
			}
		}
	}
	return x
}

// addTeam takes in what became of a team's numbers.
func (r *Result) addTeam(t *teamRun, first bool) {
	report := t.calculated.report
	if report.Numbers == reference.NumbersOff {
		r.Numbers, r.NumbersOff = Off, report.Why
		return
	}
	if first {
		r.Numbers, r.Checked = string(report.Numbers), report.Checked
		r.RanksAgree, r.checkedAll = true, true
	}
	r.add(report, member{t.schedule, 1})
}

// give puts a team's outputs to those of all ranks.
func (t *teamRun) give(outputs []arrays.Array) error {
	shapes, err := outputShapes(t.point, len(t.team))
	if err != nil {
		return err
	}
	spec := &t.schedule.Spec
	for place, rank := range t.team {
		if shapes[place] == nil {
			continue
		}
		bytes := t.calculated.out[place]
		if tensor := t.tensor(); tensor != nil {
			bytes = pack(tensor.Unpack(place, spec.Ranks), int64(spec.Type.Width()), bytes,
				spec.Out(place), true)
		}
		outputs[rank] = arrays.Array{Type: spec.Type, Width: spec.Type.Width(),
			Shape: shapes[place], Data: bytes}
	}
	return nil
}

// tensor returns the team's communication on tensors, nil if the point has elements alone.
func (t *teamRun) tensor() *collective.Communication {
	return t.point.TensorOf(t.schedule.Spec.Ranks)
}
