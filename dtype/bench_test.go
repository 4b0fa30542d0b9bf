package dtype

import (
	"math/rand"
	"testing"
	"time"
)

// BenchmarkBandwidth holds sums of 64 MiB, which no cache has, against copies of as much, in turns
// and in pieces of 256 KiB. GB/s are all bytes that are read and written: two a byte copied,
// three a byte added. The best piece counts, so that others on the machine do not.
func BenchmarkBandwidth(b *testing.B) {
	const bytes, piece = 64 << 20, 1 << 18
	from, to := make([]byte, bytes), make([]byte, bytes)
	x, y := make([]float32, bytes/4), make([]float32, bytes/4)
	u, v := make([]BF16, bytes/2), make([]BF16, bytes/2)
	f, g := make([]F16, bytes/2), make([]F16, bytes/2)
	for i := range from {
		from[i] = byte(i)
	}
	for i := range x {
		x[i], y[i] = float32(i%1000), float32(i%77)
	}
	for i := range u {
		u[i], v[i] = BF16(0x3f80+i%100), BF16(0x3f80+i%70)
		f[i], g[i] = F16(0x3c00+i%100), F16(0x3c00+i%70)
	}
	jobs := []struct {
		name  string
		bytes float64
		run   func(at int)
	}{
		{"copy", 2 * piece, func(at int) { copy(to[at:at+piece], from[at:]) }},
		{"float32", 3 * piece, func(at int) { Sum(x[at/4:][:piece/4], y[at/4:][:piece/4]) }},
		{"bfloat16", 3 * piece, func(at int) { Sum(u[at/2:][:piece/2], v[at/2:][:piece/2]) }},
		{"float16", 3 * piece, func(at int) { Sum(f[at/2:][:piece/2], g[at/2:][:piece/2]) }},
	}
	best := make([]time.Duration, len(jobs))
	for b.Loop() {
		for i, job := range jobs {
			for at := 0; at < bytes; at += piece {
				start := time.Now()
				job.run(at)
				if took := time.Since(start); best[i] == 0 || took < best[i] {
					best[i] = took
				}
			}
		}
	}
	for i, job := range jobs {
		b.ReportMetric(job.bytes/best[i].Seconds()/1e9, job.name+"-GB/s")
	}
}

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
