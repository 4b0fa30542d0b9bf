package reference

import (
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

func BenchmarkCheckRing8(b *testing.B)          { benchmarkRing(b, 8, dtype.Float32, Exact) }
func BenchmarkCheckRing256(b *testing.B)        { benchmarkRing(b, 256, dtype.Float32, Exact) }
func BenchmarkCheckRing256Float64(b *testing.B) { benchmarkRing(b, 256, dtype.Float64, Exact) }
func BenchmarkCheckRing256Int32(b *testing.B)   { benchmarkRing(b, 256, dtype.Int32, Exact) }
func BenchmarkCheckRing256Uniform(b *testing.B) { benchmarkRing(b, 256, dtype.Float32, Uniform) }
func BenchmarkCheckRing256Normal(b *testing.B)  { benchmarkRing(b, 256, dtype.Float32, Normal) }

// BenchmarkCheckRing256Types is the same in the narrow types, on data of each kind.
func BenchmarkCheckRing256Types(b *testing.B) {
	for _, t := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float8E4M3,
		dtype.Float8E5M2} {
		for _, data := range []Data{Exact, Normal} {
			b.Run(t.String()+"/"+data.String(), func(b *testing.B) { benchmarkRing(b, 256, t, data) })
		}
	}
}

// benchmarkRing checks an all-reduce of 64 MiB with 1 GiB of memory.
func benchmarkRing(b *testing.B, ranks int, t dtype.Type, data Data) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: t, Ranks: ranks}
	benchmark(b, spec.WithBytes(64<<20), data, ring)
}

// benchmark checks what an author's function makes of a spec.
func benchmark(b *testing.B, spec collective.Spec, data Data, plan func() schedule.Plan) {
	s := build(b, spec, plan)
	o := CheckOptions{Data: data, Rebuild: rebuilder(spec, plan)}
	for b.Loop() {
		r, err := Check(s, o)
		require.NoError(b, err)
		require.NotEqual(b, NumbersMismatch, r.Numbers)
		b.ReportMetric(float64(r.Checked), "checked")
	}
}

func BenchmarkCheckDirectAllToAll64(b *testing.B) {
	spec := collective.Spec{Kind: collective.AllToAll, Type: dtype.Float32, Ranks: 64}
	benchmark(b, spec.WithBytes(64<<20), Exact, direct)
}

func BenchmarkSurveyRing256(b *testing.B) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 256, Count: 1 << 20}
	s := build(b, spec, ring)
	for b.Loop() {
		_, err := look(s, lookOptions{limit: 1 << 28})
		require.NoError(b, err)
	}
}

func BenchmarkFill(b *testing.B) {
	for _, data := range []Data{Exact, Uniform, Normal} {
		b.Run(data.String(), func(b *testing.B) {
			spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
				Type: dtype.Float32, Ranks: 256, Count: block}
			g, dst := newGenerator[float32](&spec, data, 1), make([]float32, block)
			b.SetBytes(4 * block)
			for b.Loop() {
				g.fill(dst, 3, 0)
			}
		})
	}
}

// BenchmarkReduceStep reduces messages of 64 KiB in the caches: MB/s are bytes reduced.
func BenchmarkReduceStep(b *testing.B) {
	reduceStep[float32](b)
	reduceStep[float64](b)
	reduceStep[dtype.F16](b)
	reduceStep[dtype.BF16](b)
	reduceStep[dtype.E4M3](b)
	reduceStep[dtype.E5M2](b)
	reduceStep[int32](b)
}

func reduceStep[T dtype.Number](b *testing.B) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Of[T](),
		Ranks: 8, Count: 1 << 16 / int64(dtype.Of[T]().Width())}
	inputs, err := Inputs[T](spec, Normal, 1)
	require.NoError(b, err)
	b.Run(spec.Type.String(), func(b *testing.B) {
		b.SetBytes(1 << 16)
		for b.Loop() {
			combine(spec.Op, inputs[0], inputs[1])
		}
	})
}

// BenchmarkReduceRing8 runs a ring of 8 ranks on 8 MiB each: MB/s are the bytes of the 7 vectors
// that are added to one, in all chunks; what is moved besides is not counted.
func BenchmarkReduceRing8(b *testing.B) {
	for _, acc := range []Accumulate{Native, InFloat32} {
		reduceRing[float32](b, acc)
		reduceRing[dtype.F16](b, acc)
		reduceRing[dtype.BF16](b, acc)
		reduceRing[dtype.E4M3](b, acc)
	}
}

func reduceRing[T dtype.Number](b *testing.B, acc Accumulate) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Of[T](),
		Ranks: 8}
	spec = spec.WithBytes(8 << 20)
	inputs, err := Inputs[T](spec, Normal, 1)
	require.NoError(b, err)
	s := build(b, spec, ring)
	b.Run(spec.Type.String()+"/"+acc.String(), func(b *testing.B) {
		b.SetBytes(7 << 23)
		for b.Loop() {
			_, err := RunWith(s, inputs, RunOptions{Accumulate: acc})
			require.NoError(b, err)
		}
	})
}
