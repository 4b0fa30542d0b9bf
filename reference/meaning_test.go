package reference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/reference"
	"collsim/schedule"
)

// lowered is a program of three ranks: a sum, of which a kernel makes a result, and a reduce that
// leaves nothing on two of the ranks.
func lowered(t *testing.T, passes program.Lowering) *schedule.Schedule {
	t.Helper()
	p := &program.Program{Name: "three", Ranks: 3, Iterations: 2, Tensors: []program.Tensor{
		{Name: "x", Type: dtype.Float32, Shape: collective.Shape{6, 4}}},
		Ops: []program.Op{
			{Name: "sum", Call: "all_reduce", Algorithm: "ring", In: []string{"x"}, Out: "s"},
			{Name: "twice", Kernel: "add", In: []string{"s", "s"}, Out: "d"},
			{Name: "one", Call: "reduce root 1", Algorithm: "chain", In: []string{"d"}, Out: "r"}}}
	low, err := program.Lower(p, passes, func(spec collective.Spec, algorithm string, _ []int,
		_ bool) (program.Chosen, error) {
		a, err := algos.Find(spec.Kind, algorithm)
		if err != nil {
			return program.Chosen{}, err
		}
		s, err := a.Build(spec, algos.Options{})
		return program.Chosen{Schedule: s, Name: algorithm}, err
	})
	require.NoError(t, err)
	return low.Schedule
}

// TestMeaningOfNumbers: every result in memory is held to what its op makes of what is in memory;
// where something else lies, the first that does not fit is named.
func TestMeaningOfNumbers(t *testing.T) {
	plain, err := reference.Check(lowered(t, program.Lowering{}), reference.CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, reference.NumbersExact, plain.Numbers)
	staged, err := reference.Check(lowered(t, program.Lowering{CommBuffer: 40, Reuse: true}),
		reference.CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, plain.Digest, staged.Digest)
	other, err := reference.Check(lowered(t, program.Lowering{}), reference.CheckOptions{Seed: 1})
	require.NoError(t, err)
	require.NotEqual(t, plain.Digest, other.Digest)

	at := func(s *schedule.Schedule, name string) int {
		for i := range s.Means.Ops.Tensors {
			if s.Means.Ops.Tensors[i].Name == name {
				return i
			}
		}
		t.Fatal(name)
		return -1
	}
	for _, c := range []struct {
		name   string
		damage func(s *schedule.Schedule)
		tensor string
	}{
		{"a tensor is said to lie where another does", func(s *schedule.Schedule) {
			s.Means.Where[at(s, "d")] = s.Means.Where[at(s, "s")]
		}, "d"},
		{"an op is said to have ended before it has begun", func(s *schedule.Schedule) {
			s.Means.Made[1] = []int{0}
		}, "d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lowered(t, program.Lowering{})
			c.damage(s)
			r, err := reference.Check(s, reference.CheckOptions{})
			require.NoError(t, err)
			require.Equal(t, reference.NumbersMismatch, r.Numbers)
			require.Equal(t, c.tensor, r.First.Tensor)
		})
	}
}

// TestUnwrittenOperands: what is made of values that no op has written is wrong, whatever it is.
func TestUnwrittenOperands(t *testing.T) {
	s := lowered(t, program.Lowering{})
	ops := s.Means.Ops
	tensors := append([]schedule.Tensor(nil), ops.Tensors...)
	tensors[0].Role = schedule.Inner // nobody gives x
	damaged, err := schedule.Compose("damaged", 3, tensors, ops.Parts())
	require.NoError(t, err)
	s.Means.Ops = damaged
	r, err := reference.Check(s, reference.CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, reference.NumbersMismatch, r.Numbers)
	require.Equal(t, "rank 0 x element 0 is never written; a value is wanted", r.First.String())
}
