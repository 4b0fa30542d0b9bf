package proof

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// TestOrderedByMemory: parts that use the same elements wait for each other. A part that overwrites
// some of what another wrote stands for that where it wrote, and nowhere else.
func TestOrderedByMemory(t *testing.T) {
	casts := map[int64]*schedule.Schedule{}
	for _, n := range []int64{4, 8} {
		op, err := kernel.NewCast(kernel.Tensor{Name: "a", Type: dtype.Float32,
			Shape: collective.Shape{n}}, dtype.Float32)
		require.NoError(t, err)
		casts[n] = oneKernel(t, op)
	}
	at := func(tensor schedule.Buffer, offset int64) schedule.Place {
		return schedule.Place{Tensor: schedule.FirstTensor + tensor, Offsets: []int64{offset}}
	}
	tensor := func(name string, n int64, role schedule.Role) schedule.Tensor {
		return schedule.Tensor{Name: name, Type: dtype.Float32, Shape: collective.Shape{n}, Role: role}
	}
	part := func(n int64, from, to schedule.Place, stream int32, after ...int) schedule.Part {
		return schedule.Part{Schedule: casts[n], Stream: stream, After: after,
			Memory: []schedule.Place{{}, {}, {}, from, to}}
	}
	for _, c := range []struct {
		name    string
		read    int64 // where the last part begins to read y
		after   []int
		ordered bool
	}{
		{"reads what the first wrote, and waits for none", 4, nil, false},
		{"reads what the first wrote, and waits for it", 4, []int{0}, true},
		{"reads what the second overwrote, and waits for the first", 0, []int{0}, false},
		{"reads what the second overwrote, and waits for that", 0, []int{1}, true},
	} {
		s, err := schedule.Compose("whole", 1, []schedule.Tensor{tensor("x", 8, schedule.Given),
			tensor("y", 8, schedule.Inner), tensor("z", 4, schedule.Result)},
			[]schedule.Part{part(8, at(0, 0), at(1, 0), 0), part(4, at(0, 0), at(1, 0), 0),
				part(4, at(1, c.read), at(2, 0), 1, c.after...)})
		require.NoError(t, err)
		p := newPartsProof(s, s.Parts())
		require.True(t, p.known())
		require.Equal(t, c.ordered, p.ordered(), c.name)
		_, found := Verify(s, Options{})
		require.Equal(t, c.ordered, len(found) == 0, c.name)
	}
}
