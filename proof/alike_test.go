package proof

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// addition is a schedule of some ranks, each of which adds two given tensors.
func addition(t *testing.T, ranks, given, sum string) *schedule.Schedule {
	t.Helper()
	const op = "(add 4 float32+float32->float32)"
	text := "schedule sum\ncollective custom float32\nranks " + ranks + "\n" + given +
		"tensor c result float32 4\ndefine c = " + op + " of " + sum + "\n"
	for rank := range ranks[0] - '0' {
		text += "rank " + string('0'+rank) + "\n  lane 0\n    compute " + op + " " + sum + " into c @0\n"
	}
	s, err := schedule.Parse(text)
	require.NoError(t, err, text)
	_, violations := Verify(s, Options{})
	require.Empty(t, violations)
	return s
}

// TestAlike: two programs are alike if they define the same of what is given by the same names,
// wherever it lies; the first rank where they don't is told, and if they are not of as many ranks.
func TestAlike(t *testing.T) {
	const given = " given float32 4\n"
	const a, b, z = "tensor a" + given, "tensor b" + given, "tensor z" + given
	plain := addition(t, "2", a+b, "a, b")
	at := schedule.Place{Tensor: schedule.FirstTensor + 2}
	own := schedule.Place{Tensor: schedule.FirstTensor + 3, Offsets: []int64{1}}
	for _, c := range []struct {
		other *schedule.Schedule
		want  string
	}{
		{addition(t, "2", a+b, "a, b"), ""},
		{addition(t, "2", b+a, "a, b"), ""},
		{addition(t, "2", a+b, "a, a"), "proof: c of rank 0 is not the same"},
		{addition(t, "2", a+z, "a, z"), "proof: c of rank 0 is not the same"},
		{addition(t, "3", a+b, "a, b"), "proof: 2 and 3 ranks"},
		{addition(t, "1", a+b, "a, b"), "proof: 2 and 1 ranks"},
	} {
		err := Alike(plain, c.other, []Pair{{Name: "c", A: at, B: at, Count: 4}})
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.want)
	}
	more := addition(t, "2", a+b+z, "a, b")
	shifted := schedule.Place{Tensor: at.Tensor, Offsets: []int64{1}}
	require.NoError(t, Alike(plain, more, []Pair{{Name: "c", A: shifted, B: own, Count: 3}}))
	require.Error(t, Alike(plain, more, []Pair{{Name: "c", A: shifted, B: at, Count: 3}}))
	require.Error(t, Alike(plain, more, []Pair{{Name: "c", A: at, B: own, Count: 3}}))
}
