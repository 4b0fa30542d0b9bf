package dtype

import (
	"math"
	"math/rand"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

func TestLaws(t *testing.T) {
	laws[float64](t)
	laws[float32](t)
	laws[F16](t)
	laws[BF16](t)
	laws[E4M3](t)
	laws[E5M2](t)
	laws[int8](t)
	laws[int16](t)
	laws[int32](t)
	laws[int64](t)
	laws[uint8](t)
	laws[uint16](t)
	laws[uint32](t)
	laws[uint64](t)
	laws[B8](t)
}

// laws are what holds of random slices of a type, of lengths that are no multiple of anything.
func laws[T Number](t *testing.T) {
	dt := Of[T]()
	draw := func(seed int64) (a, b []T) {
		rng := rand.New(rand.NewSource(seed))
		n := rng.Intn(40)
		return randomElements[T](rng, n), randomElements[T](rng, n)
	}
	operators := []func(dst, src []T){Sum[T], Prod[T], Min[T], Max[T]}
	if !dt.IsFloat() {
		operators = append(operators, And[T], Or[T], Xor[T])
	}
	all := map[string]func(a, b []T) bool{
		"order of operands does not matter": func(a, b []T) bool {
			for _, op := range operators {
				if !same(applied(op, a, b), applied(op, b, a)) {
					return false
				}
			}
			return true
		},
		"elements do not depend on their neighbours": func(a, b []T) bool {
			for _, op := range operators {
				whole := applied(op, a, b)
				for i := range a {
					if !same(whole[i:i+1], applied(op, a[i:i+1], b[i:i+1])) {
						return false
					}
				}
			}
			return true
		},
		"scaling is a product": func(a, b []T) bool {
			if len(b) == 0 {
				return true
			}
			factor := make([]T, len(a))
			for i := range factor {
				factor[i] = b[0]
			}
			got := append([]T(nil), a...)
			Scale(got, b[0])
			return same(got, applied(Prod[T], a, factor))
		},
		"what is written is read": func(a, _ []T) bool {
			file := make([]byte, len(a)*dt.Width()+3)
			Put(file, a)
			got := make([]T, len(a))
			Get(got, file)
			return same(a, got)
		},
		"one element is converted as many": func(a, _ []T) bool {
			wide := make([]float64, len(a))
			Widen(wide, a)
			narrow := make([]T, len(a))
			Narrow(narrow, wide)
			for i, x := range a {
				if math.Float64bits(wide[i]) != math.Float64bits(Value(x)) && wide[i] == wide[i] ||
					Bits(narrow[i]) != Bits(From[T](wide[i])) {
					return false
				}
			}
			return true
		},
		"least and greatest are the operands": func(a, b []T) bool {
			low, high := applied(Min[T], a, b), applied(Max[T], a, b)
			for i := range a {
				l, h, x, y := Value(low[i]), Value(high[i]), Value(a[i]), Value(b[i])
				if dt == Float8E5M2 && !(isFinite(x) && isFinite(y)) || x != x || y != y {
					continue // that saturates; NaN are in a table
				}
				if l > h || l != x && l != y || h != x && h != y || (l == x) != (h == y) && x != y {
					return false
				}
			}
			return true
		},
	}
	t.Run(dt.String(), func(t *testing.T) {
		check(t, "rounding is monotone", func(seed int64) bool {
			rng := rand.New(rand.NewSource(seed))
			x := math.Float64frombits(rng.Uint64())
			y := x * (1 + rng.Float64()*math.Ldexp(1, -rng.Intn(50)))
			if rng.Intn(2) == 0 {
				x, y = rng.NormFloat64()*100, rng.NormFloat64()*100
			}
			if x > y {
				x, y = y, x
			}
			return x != x || y != y || Value(From[T](x)) <= Value(From[T](y))
		})
		check(t, "rounding commutes with negation", func(seed int64) bool {
			x := math.Float64frombits(rand.New(rand.NewSource(seed)).Uint64())
			if !dt.IsFloat() || x != x {
				return true
			}
			return Bits(From[T](-x)) == Bits(From[T](x))^1<<(8*dt.Width()-1)
		})
		for _, name := range []string{"order of operands does not matter",
			"elements do not depend on their neighbours", "scaling is a product",
			"what is written is read", "one element is converted as many",
			"least and greatest are the operands"} {
			holds := all[name]
			require.NotNil(t, holds, name)
			check(t, name, func(seed int64) bool { return holds(draw(seed)) })
		}
	})
}

func check(t *testing.T, name string, holds func(seed int64) bool) {
	parameters := gopter.DefaultTestParametersWithSeed(7)
	parameters.MinSuccessfulTests = 200
	p := gopter.NewProperties(parameters)
	p.Property(name, prop.ForAll(holds, gen.Int64Range(0, 1<<40)))
	p.TestingRun(t)
}

func applied[T Number](op func(dst, src []T), a, b []T) []T {
	got := append([]T(nil), a...)
	op(got, b)
	return got
}

func same[T Number](a, b []T) bool {
	for i := range a {
		if Bits(a[i]) != Bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestBytesOfFiles shows the order of bytes, and what a processor of the other order would do.
func TestBytesOfFiles(t *testing.T) {
	file := make([]byte, 8)
	Put(file, []F16{0x3c00, 0xfbff, 1, 0x8000})
	require.Equal(t, []byte{0x00, 0x3c, 0xff, 0xfb, 0x01, 0x00, 0x00, 0x80}, file)
	Put(file, []int32{-2, 0x01020304})
	require.Equal(t, []byte{0xfe, 0xff, 0xff, 0xff, 4, 3, 2, 1}, file)
	swap(file, 4)
	require.Equal(t, []byte{0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4}, file)
	swap(file, 8)
	require.Equal(t, []byte{4, 3, 2, 1, 0xfe, 0xff, 0xff, 0xff}, file)
	require.EqualValues(t, 0xfe, Bits(int8(-2)))
	require.EqualValues(t, 0x3ff0000000000000, Bits(1.0))
}

func TestNothingIsAllocated(t *testing.T) {
	nothingIsAllocated[float32](t)
	nothingIsAllocated[F16](t)
	nothingIsAllocated[BF16](t)
	nothingIsAllocated[E4M3](t)
	nothingIsAllocated[int8](t)
	nothingIsAllocated[B8](t)
}

func nothingIsAllocated[T Number](t *testing.T) {
	a, b, wide := make([]T, 100), make([]T, 100), make([]float32, 100)
	file := make([]byte, 100*Of[T]().Width())
	var bits uint64
	all := func() {
		for _, op := range []func(dst, src []T){Sum[T], Prod[T], Min[T], Max[T]} {
			op(a, b)
		}
		Scale(a, b[0])
		Divide(a, 3)
		Widen(wide, a)
		Narrow(a, wide)
		Put(file, a)
		Get(a, file)
		bits += Bits(From[T](Value(a[0])))
	}
	all() // makes the tables
	require.Zero(t, testing.AllocsPerRun(10, all), Of[T]())
}
