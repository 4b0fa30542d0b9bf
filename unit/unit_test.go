package unit

import (
	"math"
	"math/big"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

func TestOver(t *testing.T) {
	tests := []struct {
		name string
		b    Bytes
		r    Rate
		want Time
	}{
		// 1 B / 12.5 GB/s = 80 ps
		{"one byte at 100 Gbit/s", 1, 12_500_000_000, 80},
		// 2^26 B · 80 ps/B = 5 368 709 120 ps
		{"64 MiB at 100 Gbit/s", 64 * MiB, 12_500_000_000, 5_368_709_120},
		// 10^12 / 3 = 333 333 333 333.33…, up
		{"rounds up", 1, 3, 333_333_333_334},
		{"whole", 3, 3, Second},
		{"faster than a byte a picosecond", 1, 2_000_000_000_000, 1},
		{"nothing", 0, 1, 0},
		{"unlimited", math.MaxInt64, Unlimited, 0},
		{"nothing, unlimited", 0, Unlimited, 0},
		// 2^63 · 10^12 needs 103 bits and ends at 10^12 ps: more than 64 bits only on the way
		{"128 bits on the way", math.MaxInt64, math.MaxInt64 - 1, Second + 1},
		{"quotient above 64 bits", math.MaxInt64, 1, Forever},
		{"quotient above Forever", 4 * TiB, 1_000_000, Forever},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.b.Over(tt.r)) })
	}
}

func TestMisuseOfOurOwnPanics(t *testing.T) {
	require.Panics(t, func() { Bytes(-1).Over(1) })
	require.Panics(t, func() { Bytes(1).Over(0) })
	require.Panics(t, func() { Bytes(1).Over(-1) })
	require.Panics(t, func() { Rate(0).Times(1) })
	require.Panics(t, func() { Rate(1).Times(-1) })
}

func TestSumOfTwoForeversIsNoOverflow(t *testing.T) {
	require.Greater(t, Forever+Forever, Forever)
}

func TestTimes(t *testing.T) {
	const fast = Rate(12_500_000_000)
	tests := []struct {
		name string
		r    Rate
		s    Share
		want Rate
	}{
		{"half", fast, whole / 2, 6_250_000_000},
		{"all", fast, whole, fast},
		{"double", fast, 2 * whole, 2 * fast},
		{"rounds down", 3, whole / 2, 1},
		{"nothing left", 1, whole / 2, 0},
		{"unlimited", Unlimited, 1, Unlimited},
		{"too fast", Unlimited - 1, 2 * whole, Unlimited},
		{"far too fast", Unlimited - 1, math.MaxInt64, Unlimited},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.r.Times(tt.s)) })
	}
}

// overBig is Over by the book: ⌈b · 10¹² / r⌉ in integers of any size.
func overBig(b Bytes, r Rate) Time {
	n := new(big.Int).Mul(big.NewInt(int64(b)), big.NewInt(int64(Second)))
	quo, rem := n.QuoRem(n, big.NewInt(int64(r)), new(big.Int))
	if rem.Sign() > 0 {
		quo.Add(quo, big.NewInt(1))
	}
	if !quo.IsInt64() || Time(quo.Int64()) > Forever {
		return Forever
	}
	return Time(quo.Int64())
}

func laws(t *testing.T) *gopter.Properties {
	t.Helper()
	p := gopter.DefaultTestParametersWithSeed(3)
	p.MinSuccessfulTests = 1000
	return gopter.NewProperties(p)
}

func TestOverLaws(t *testing.T) {
	p := laws(t)
	// Any magnitude is equally likely: a 63-bit number shifted right by 0…62.
	magnitude := func(raw int64, shift int) int64 { return raw >> shift }
	raw, shift := gen.Int64Range(0, math.MaxInt64-1), gen.IntRange(0, 62)
	p.Property("equals the quotient of big integers, rounded up", prop.ForAll(
		func(b int64, bs int, r int64, rs int) bool {
			size, rate := Bytes(magnitude(b, bs)), Rate(max(1, magnitude(r, rs)))
			return size.Over(rate) == overBig(size, rate)
		}, raw, shift, raw, shift))
	p.Property("two parts never take less than the whole, and at most 1 ps more", prop.ForAll(
		func(a, b int64, r int64, rs int) bool {
			rate := Rate(max(1, magnitude(r, rs)))
			apart := Bytes(a).Over(rate) + Bytes(b).Over(rate)
			together := Bytes(a + b).Over(rate)
			return together >= Forever || (apart >= together && apart <= together+1)
		}, gen.Int64Range(0, 1<<40), gen.Int64Range(0, 1<<40), raw, shift))
	p.Property("a faster wire never takes longer", prop.ForAll(
		func(b, r int64, more int64) bool {
			return Bytes(b).Over(Rate(r+more)) <= Bytes(b).Over(Rate(r))
		}, gen.Int64Range(0, 1<<50), gen.Int64Range(1, 1<<40), gen.Int64Range(0, 1<<40)))
	p.TestingRun(t)
}

func TestOverDoesNotAllocate(t *testing.T) {
	var sum Time
	require.Zero(t, testing.AllocsPerRun(100, func() { sum += (64 * MiB).Over(12_500_000_000) }))
	require.Positive(t, sum)
}
