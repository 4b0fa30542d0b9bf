package reference

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"collsim/collective"
	"collsim/dtype"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

// TestLaws holds of every input, number of ranks and count.
func TestLaws(t *testing.T) {
	laws := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	ranks, count, seed := gen.IntRange(1, 9), gen.Int64Range(0, 40), gen.UInt64()
	laws.Property("all_reduce is reduce_scatter, then all_gather", prop.ForAll(
		func(n int, c int64, seed uint64) bool {
			all := spec(collective.AllReduce, collective.Sum, n, c*int64(n))
			inputs := randomInputs(rand.New(rand.NewPCG(seed, 0)), &all)
			blocks := must(Define(spec(collective.ReduceScatter, collective.Sum, n, c), inputs))
			both := must(Define(spec(collective.AllGather, 0, n, c), blocks))
			return reflect.DeepEqual(must(Define(all, inputs)), both)
		}, ranks, count, seed))
	laws.Property("collectives are linear over the integers", prop.ForAll(
		func(seed uint64) bool {
			random := rand.New(rand.NewPCG(seed, 0))
			s := randomSpec(random)
			x, z := randomInputs(random, &s), randomInputs(random, &s)
			left := must(Define(s, plus(x, z)))
			return reflect.DeepEqual(left, plus(must(Define(s, x)), must(Define(s, z))))
		}, seed))
	laws.Property("all_to_all is its own inverse", prop.ForAll(
		func(n int, c int64, seed uint64) bool {
			s := spec(collective.AllToAll, 0, n, c)
			inputs := randomInputs(rand.New(rand.NewPCG(seed, 0)), &s)
			return reflect.DeepEqual(inputs, must(Define(s, must(Define(s, inputs)))))
		}, ranks, count, seed))
	laws.Property("in place has the bits of out of place", prop.ForAll(
		func(n int, c int64, seed uint64) bool {
			for _, tr := range trials(n) {
				if tr.pow2 && n&(n-1) != 0 || tr.name == "one-shot" ||
					tr.kind == collective.AllToAll || tr.kind == collective.SendRecv {
					continue // the latter read inputs that in place may be outputs already
				}
				s := tr.spec(collective.Sum, dtype.Of[float32](), n, c)
				g := newGenerator[float32](&s, Normal, seed)
				inputs := make([][]float32, n)
				for r := range inputs {
					inputs[r] = make([]float32, s.In(r))
					g.fill(inputs[r], r, 0)
				}
				apart := must(Run(build(t, s, tr.plan), inputs))
				s.InPlace = true
				if !reflect.DeepEqual(apart, must(Run(build(t, s, tr.plan), inputs))) {
					return false
				}
			}
			return true
		}, ranks, count, seed))
	laws.TestingRun(t)
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func plus(x, z [][]int32) [][]int32 {
	sum := make([][]int32, len(x))
	for r := range x {
		sum[r] = append([]int32{}, x[r]...)
		for i := range z[r] {
			sum[r][i] += z[r][i]
		}
	}
	return sum
}
