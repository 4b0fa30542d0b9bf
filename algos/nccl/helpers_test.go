package nccl_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/reference"
	"collsim/schedule"
)

// build makes the schedule of an algorithm, with parameters by name and value.
func build(t *testing.T, spec collective.Spec, name string, params ...string) *schedule.Schedule {
	t.Helper()
	s, err := try(t, spec, name, params...)
	require.NoError(t, err, "%+v", spec)
	return s
}

func try(t *testing.T, spec collective.Spec, name string, params ...string) (*schedule.Schedule,
	error) {
	t.Helper()
	a, err := algos.FindIn(nccl.Table(), spec.Kind, name)
	require.NoError(t, err)
	var o algos.Options
	for i := 0; i < len(params); i += 2 {
		o.Params = append(o.Params, algos.Param{Name: params[i], Value: params[i+1]})
	}
	return a.Build(spec, o)
}

// numbers are inputs of float32 whose sums depend on the order.
func numbers(spec collective.Spec) (in [][]float32) {
	r := rand.New(rand.NewPCG(uint64(spec.Ranks), uint64(spec.Count)))
	for rank := range spec.Ranks {
		x := make([]float32, spec.In(rank))
		for i := range x {
			x[i] = float32(math.Ldexp(r.NormFloat64(), r.IntN(9)))
		}
		in = append(in, x)
	}
	return in
}

// outputs are what the interpreter makes of inputs.
func outputs(t *testing.T, s *schedule.Schedule, in [][]float32) (out [][]float32) {
	t.Helper()
	var given [][]byte
	for _, x := range in {
		var b []byte
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		given = append(given, b)
	}
	got, err := reference.RunBytes(s, given, reference.RunOptions{})
	require.NoError(t, err)
	for _, b := range got {
		x := make([]float32, len(b)/4)
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		out = append(out, x)
	}
	return out
}
