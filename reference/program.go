package reference

import (
	"fmt"

	"collsim/dtype"
	"collsim/schedule"
)

// Tensors are values of a schedule's tensors as little-endian bytes, by the tensor's number in
// Schedule.Tensors and by rank. Unspecified ones are nil.
type Tensors [][][]byte

// bytesOfTensor returns the bytes of a tensor on a rank.
func bytesOfTensor(t *schedule.Tensor) int64 { return t.Shape.Elements() * int64(t.Type.Width()) }

// programmed reports whether a schedule works on tensors: a program, or one that Compose has made.
func programmed(s *schedule.Schedule) bool { return len(s.Tensors) > 0 || schedule.Composed(s) }

// fitsGiven returns an error if given tensors have the wrong number or sizes.
func (t Tensors) fitsGiven(s *schedule.Schedule) error {
	if len(t) != len(s.Tensors) {
		return fmt.Errorf("values of %d tensors; there are %d", len(t), len(s.Tensors))
	}
	for i := range s.Tensors {
		if s.Tensors[i].Role.IsGiven() {
			if err := t.fits(s, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits returns an error if the i-th tensor's values have the wrong number or sizes.
func (t Tensors) fits(s *schedule.Schedule, i int) error {
	own := &s.Tensors[i]
	if len(t[i]) != s.Spec.Ranks {
		return fmt.Errorf("tensor %s has values of %d ranks; there are %d", own.Name,
			len(t[i]), s.Spec.Ranks)
	}
	for rank, values := range t[i] {
		if want := bytesOfTensor(own); int64(len(values)) != want {
			return fmt.Errorf("tensor %s has %d bytes on rank %d; %d are expected", own.Name,
				len(values), rank, want)
		}
	}
	return nil
}

// tensorSeed returns the seed of a tensor's numbers; the first has that of a collective's inputs.
func tensorSeed(seed uint64, i int) uint64 { return seed + uint64(i)*0xd1342543de82ef95 }

// GivenTensors makes the given tensors of a program, or of a composed schedule, from the numbers
// that Check uses. With Uniform and Normal every element is that of a collective's input, with a
// seed of the tensor's own. For Exact, see type exactTensors.
func GivenTensors(s *schedule.Schedule, data Data, seed uint64) (Tensors, error) {
	return GivenWith(s, data, seed, nil)
}

// GivenWith does what GivenTensors does, with these values in place of made ones.
func GivenWith(s *schedule.Schedule, data Data, seed uint64, by Values) (Tensors, error) {
	d, err := scriptOf(s, RunOptions{}, 0)
	if _, undefined := err.(*noDefinition); undefined {
		d, err = &script{s: s, whole: s}, nil
		for i := range s.Tensors {
			d.unnamed(s.Tensors[i].Type, s.Tensors[i].Shape.Elements(), nil)
		}
		d.inComponents()
	}
	if err != nil {
		return nil, err
	}
	given, _ := d.given(data, seed)
	d.replace(given, by)
	return d.inWhole(given), nil
}

// inWhole converts values of the meaning's tensors to values of the whole's tensors that store
// them.
func (d *script) inWhole(values Tensors) Tensors {
	if d.s == d.whole {
		return values
	}
	all := make(Tensors, len(d.whole.Tensors))
	for i := range values {
		t := d.whole.Means.Where[i].Tensor
		if values[i] == nil || t == 0 {
			continue
		}
		own := &all[t-schedule.FirstTensor]
		for rank, elements := range values[i] {
			if len(*own) == rank {
				tensor := d.whole.Tensor(t)
				*own = append(*own, unwrittenBytes(tensor.Type, tensor.Shape.Elements()))
			}
			off := d.whole.Means.Where[i].Offset(rank) * int64(d.s.Tensors[i].Type.Width())
			copy((*own)[rank][off:], elements)
		}
	}
	return all
}

// given makes the given tensors, and reports whether nothing is rounded on them.
func (d *script) given(data Data, seed uint64) (given Tensors, exactly bool) {
	s := d.s
	given = make(Tensors, len(s.Tensors))
	var exact *exactTensors
	if data == Exact {
		exact = newExactTensors(d)
	}
	for i := range s.Tensors {
		t := &s.Tensors[i]
		if !t.Role.IsGiven() {
			continue
		}
		for rank := range s.Spec.Ranks {
			if exact != nil && t.Type.IsFloat() {
				given[i] = append(given[i], exact.tensor(i, tensorSeed(seed, i), rank))
				continue
			}
			given[i] = append(given[i], typeOf(d.types[i]).generate(d.lengths[i], data,
				tensorSeed(seed, i), rank))
		}
	}
	return given, exact != nil && exact.proven
}

// RunTensors executes a program, or a composed schedule, on given tensors, and returns its results.
// Steps of a part round in the part's own type and use its operator; those of a program round in
// the type of the tensors that they name. Elements that no step writes are NaN, or the bytes 0xA5
// in integers. A schedule that cannot be executed is a *schedule.Violation or a
// *schedule.StallError.
func RunTensors(s *schedule.Schedule, given Tensors, o RunOptions) (Tensors, error) {
	return runTensors(s, given, o, 0)
}

// runTensors executes as RunTensors does, with a number of slots.
func runTensors(s *schedule.Schedule, given Tensors, o RunOptions, slots int) (Tensors, error) {
	if err := given.fitsGiven(s); err != nil {
		return nil, err
	}
	x := newInterpreter(s, o)
	for i := range s.Tensors {
		if !s.Tensors[i].Role.IsGiven() {
			continue
		}
		for rank, values := range given[i] {
			copy(x.memory[int(schedule.FirstTensor)+i][rank], values)
		}
	}
	if err := x.run(slots); err != nil {
		return nil, err
	}
	got := make(Tensors, len(s.Tensors))
	for _, i := range results(s) {
		got[i] = x.memory[int(schedule.FirstTensor)+i]
	}
	return got, nil
}

func (as[T]) generate(n int64, data Data, seed uint64, rank int) []byte {
	x := make([]T, n)
	newGenerator[T](&aTensor, data, seed).fill(x, rank, 0)
	return put(x)
}

func (as[T]) numbers(values []float64) []byte {
	x := make([]T, len(values))
	dtype.Narrow(x, values)
	return put(x)
}
