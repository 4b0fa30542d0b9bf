package dtype

import (
	"math/rand"
	"testing"
)

// BenchmarkKernels has a million elements a second as "MB/s".
func BenchmarkKernels(b *testing.B) {
	benchmark[float64](b)
	benchmark[float32](b)
	benchmark[F16](b)
	benchmark[BF16](b)
	benchmark[E4M3](b)
	benchmark[E5M2](b)
	benchmark[int8](b)
	benchmark[int32](b)
}

func benchmark[T Number](b *testing.B) {
	const n = 1 << 14
	rng := rand.New(rand.NewSource(1))
	x, y, wide, file := make([]T, n), make([]T, n), make([]float32, n), make([]byte, 8*n)
	for i := range x {
		x[i], y[i] = From[T](rng.NormFloat64()), From[T](rng.NormFloat64()/100)
		wide[i] = float32(rng.NormFloat64())
	}
	one := From[T](1)
	for _, k := range []struct {
		name string
		run  func()
	}{
		{"sum", func() { Sum(x, y) }},
		{"prod", func() { Prod(x, y) }},
		{"min", func() { Min(x, y) }},
		{"scale", func() { Scale(x, one) }},
		{"divide", func() { Divide(x, 1) }},
		{"widen", func() { Widen(wide, x) }},
		{"narrow", func() { Narrow(x, wide) }},
		{"put", func() { Put(file, x) }},
	} {
		b.Run(Of[T]().String()+"/"+k.name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				k.run()
			}
		})
	}
}
