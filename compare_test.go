package collsim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/data"
	"collsim/dtype"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// compared is what comes of comparing a schedule's outputs, damaged by a function that is given
// the bytes of every rank's inputs and outputs, with what they were.
func compared(t *testing.T, s *schedule.Schedule, in [][]byte,
	damage func(in, out [][]byte)) *Comparison {
	t.Helper()
	run := &teamRun{point: &scenarios.Point{}, schedule: s, number: numberOf(s.Spec.Type)}
	var err error
	run.played, err = run.number.play(&play{schedule: s, in: in, data: reference.Normal, seed: 1})
	require.NoError(t, err)
	ours, theirs := make([]data.Array, s.Spec.Ranks), make([]data.Array, s.Spec.Ranks)
	damaged := make([][]byte, s.Spec.Ranks)
	for rank, out := range run.played.out {
		run.team = append(run.team, rank)
		ours[rank].Data = out
		damaged[rank] = append([]byte{}, out...)
		theirs[rank].Data = damaged[rank]
	}
	damage(run.played.in, damaged)
	c := &Comparison{File: "theirs.npz"}
	run.compare(theirs, ours, c)
	return c
}

// scheduleOf is an algorithm's schedule of a sum, or of what moves.
func scheduleOf(t *testing.T, kind collective.Kind, name string, typ dtype.Type, ranks int,
	count int64) *schedule.Schedule {
	t.Helper()
	spec := collective.Spec{Kind: kind, Type: typ, Ranks: ranks, Count: count}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	a, err := algos.Find(kind, name)
	require.NoError(t, err)
	s, err := a.Build(spec, algos.Options{})
	require.NoError(t, err)
	return s
}

// TestAnyNaNEqualsAny: of every float type, NaN that the type's other patterns spell are one value,
// in what is compared and in orders that are tried; integers with the same bits are not.
func TestAnyNaNEqualsAny(t *testing.T) {
	for _, c := range []struct {
		t          dtype.Type
		one, other uint64
	}{
		{dtype.Float64, 0x7ff0000000000001, 0xfff8000000000000},
		{dtype.Float32, 0x7f800001, 0xffc12345},
		{dtype.Float16, 0x7c01, 0xfe00},
		{dtype.BFloat16, 0x7f81, 0xffc0},
		{dtype.Float8E4M3, 0x7f, 0xff},
		{dtype.Float8E5M2, 0x7d, 0xfe},
		{dtype.Int8, 0x7f, 0xff}, {dtype.Int16, 0x7c01, 0xfe00}, {dtype.Int32, 0x7f800001, 0xffc12345},
		{dtype.Int64, 0x7ff0000000000001, 0xfff8000000000000}, {dtype.Uint8, 0x7f, 0xff},
		{dtype.Uint16, 0x7f81, 0xffc0}, {dtype.Uint32, 0x7f800001, 0xffc12345},
		{dtype.Uint64, 0x7ff0000000000001, 0xfff8000000000000},
	} {
		t.Run(c.t.String(), func(t *testing.T) {
			width := c.t.Width()
			bits := func(x uint64) []byte {
				b := make([]byte, 8)
				dtype.Put(b, []uint64{x})
				return b[:width]
			}
			n := numberOf(c.t)
			require.Equal(t, c.t.IsFloat(), n.same(bits(c.one), bits(c.other)))
			require.False(t, n.same(bits(c.one), bits(0)))
			// Rank 1 passes a NaN in element 2, and theirs has another NaN there.
			s := scheduleOf(t, collective.AllReduce, "ring", c.t, 4, 8)
			in, err := n.inputs(&play{schedule: s, data: reference.Normal, seed: 1})
			require.NoError(t, err)
			copy(in[1][2*width:], bits(c.one))
			got := compared(t, s, in, func(_, out [][]byte) {
				if !c.t.IsFloat() {
					return
				}
				for _, o := range out {
					require.True(t, n.isNaN(o[2*width:3*width]))
					if string(o[2*width:3*width]) == string(bits(c.other)) {
						copy(o[2*width:], bits(c.one))
					} else {
						copy(o[2*width:], bits(c.other))
					}
				}
			})
			require.Zero(t, got.Different)
			require.EqualValues(t, 32, got.Elements)
			// A number is not a NaN.
			got = compared(t, s, in, func(_, out [][]byte) { copy(out[3][2*width:], bits(0)) })
			require.EqualValues(t, 1, got.Different)
		})
	}
	require.Len(t, dtype.All(), 14)
	require.True(t, math.IsNaN(dtype.Value(dtype.E5M2(0x7d))))
}
