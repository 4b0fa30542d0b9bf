package ramp

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// of is the profile of a list of times.
func of(times []unit.Time) Profile {
	var p Profile
	for i, t := range times {
		p = p.Push(Ramp{From: int32(i), At: t}, 1)
	}
	return p
}

// list is the times of a profile.
func list(p Profile, size int) []unit.Time {
	var times []unit.Time
	p.Each(int32(size), func(n int32, t unit.Time) {
		if int(n) != len(times) {
			panic("numbers are left out")
		}
		times = append(times, t)
	})
	return times
}

// some is random times: stretches that grow evenly, and times as they come.
func some(rng *rand.Rand, size int) []unit.Time {
	var times []unit.Time
	for len(times) < size {
		at, slope := unit.Time(rng.IntN(40)), unit.Time(rng.IntN(9)-4)
		for range 1 + rng.IntN(6) {
			times = append(times, at)
			at += slope
		}
	}
	return times[:size]
}

// TestTimes: what is done to profiles is what is done to the lists of their times.
func TestTimes(t *testing.T) {
	for i := range 20_000 {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		n := 1 + rng.IntN(24)
		a, b, by := some(rng, n), some(rng, n), rng.IntN(n)
		x, y, size := of(a), of(b), int32(n)
		require.Equal(t, a, list(x, n))
		later, plus, turn := make([]unit.Time, n), make([]unit.Time, n), make([]unit.Time, n)
		reaches, exceeds, latest := true, true, a[0]
		for k := range a {
			later[k], plus[k], turn[k] = max(a[k], b[k]), a[k]+b[k], a[(k+by)%n]
			reaches, exceeds = reaches && a[k] >= b[k], exceeds && a[k] > b[k]
			latest = max(latest, a[k])
		}
		require.Equal(t, later, list(Profile(nil).Later(x, y, size), n), "%v %v", a, b)
		require.Equal(t, plus, list(Profile(nil).Plus(x, y, size), n), "%v %v", a, b)
		require.Equal(t, turn, list(Profile(nil).Turn(x, int32(by), size), n), "%v by %d", a, by)
		require.Equal(t, reaches, x.Reaches(y, false, size), "%v %v", a, b)
		require.Equal(t, exceeds, x.Reaches(y, true, size), "%v %v", a, b)
		require.True(t, Profile(nil).Later(x, y, size).Reaches(y, false, size))
		require.Equal(t, latest, x.Latest(size))
	}
}

// TestFew: a profile has no ramp more than it needs where what is added goes on evenly.
func TestFew(t *testing.T) {
	require.Len(t, of([]unit.Time{5, 5, 5, 5, 9, 8, 7, 6, 5, 4}), 2)
	up, down := Profile{{At: 0, Slope: 1}}, Profile{{At: 9, Slope: -1}}
	require.Equal(t, Profile{{At: 9, Slope: -1}, {From: 5, At: 5, Slope: 1}},
		Profile(nil).Later(up, down, 10))
	p := Profile{{At: 3}, {From: 4, At: 8, Slope: 2}}
	require.Equal(t, p, Profile(nil).Turn(Profile(nil).Turn(p, 3, 10), 7, 10))
}
