package proof

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// oneKernel is a program of one rank that makes b of a.
func oneKernel(t *testing.T, op kernel.Op) *schedule.Schedule {
	t.Helper()
	in, out := op.Operands()[0], op.Output()
	text := fmt.Sprintf("schedule one\ncollective custom %v\nranks 1\ntensor a given %v %v\n"+
		"tensor b result %v %v\ndefine b = (%v) of a\nrank 0\n  lane 0\n    compute (%v) a into b @0\n",
		in.Type, in.Type, in.Shape, out.Type, out.Shape, op, op)
	s, err := schedule.Parse(text)
	require.NoError(t, err, text)
	return s
}

// TestMeaning: a composed schedule is held to what it is to compute, and not only to what its parts
// say that they compute.
func TestMeaning(t *testing.T) {
	a := kernel.Tensor{Name: "a", Type: dtype.Float32, Shape: collective.Shape{4, 4}}
	sum, err := kernel.NewSum(a, 0, dtype.Float32)
	require.NoError(t, err)
	other, err := kernel.NewSum(a, 1, dtype.Float32)
	require.NoError(t, err)
	x := schedule.Place{Tensor: schedule.FirstTensor}
	y := schedule.Place{Tensor: schedule.FirstTensor + 1}
	compose := func(op kernel.Op) *schedule.Schedule {
		s, err := schedule.Compose("whole", 1, []schedule.Tensor{
			{Name: "x", Type: dtype.Float32, Shape: collective.Shape{4, 4}, Role: schedule.Given},
			{Name: "y", Type: dtype.Float32, Shape: collective.Shape{8}, Role: schedule.Result}},
			[]schedule.Part{{Name: "first", Schedule: oneKernel(t, op), Memory: []schedule.Place{{}, {}, {},
				x, y}}, {Name: "second", Schedule: oneKernel(t, op), Memory: []schedule.Place{{}, {}, {}, x,
				{Tensor: y.Tensor, Offsets: []int64{4}}}}})
		require.NoError(t, err)
		return s
	}
	for _, c := range []struct {
		name  string
		meant kernel.Op
		where schedule.Place
		want  string
	}{
		{"the same", sum, y, ""},
		{"the same, told elsewhere", sum, schedule.Place{Tensor: y.Tensor, Offsets: []int64{4}}, ""},
		{"another sum", other, y, "misplaced: rank 0: z elements 0 to 3 holds"},
		{"what is only half there", sum, schedule.Place{Tensor: y.Tensor, Offsets: []int64{2}},
			"misplaced: rank 0: z elements 0 to 1 holds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := compose(sum)
			ops, err := schedule.Compose("meant", 1, []schedule.Tensor{
				{Name: "x", Type: dtype.Float32, Shape: collective.Shape{4, 4}, Role: schedule.Given},
				{Name: "z", Type: dtype.Float32, Shape: collective.Shape{4}, Role: schedule.Result}},
				[]schedule.Part{{Name: "op", Schedule: oneKernel(t, c.meant),
					Memory: []schedule.Place{{}, {}, {}, x, y}}})
			require.NoError(t, err)
			s.Means = &schedule.Meaning{Ops: ops, Where: []schedule.Place{x, c.where},
				Made: [][]int{{0}}}
			for _, o := range []Options{{}, {Unfolded: true}} {
				_, found := Verify(s, o)
				if c.want == "" {
					require.Empty(t, found)
					continue
				}
				require.NotEmpty(t, found)
				require.Contains(t, found[0].Error(), c.want)
				require.Contains(t, found[0].Error(), "by the program as it is written")
			}
		})
	}
}
