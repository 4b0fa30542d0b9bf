package reference

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// tester is a type with what tests alone do in it.
type tester interface {
	inputs(spec collective.Spec, data Data, seed uint64) ([][]byte, error)
	runAndCompare(x *Case) ([][]byte, Report, error)
}

func (as[T]) inputs(spec collective.Spec, data Data, seed uint64) (all [][]byte, err error) {
	inputs, err := Inputs[T](spec, data, seed)
	for _, in := range inputs {
		all = append(all, put(in))
	}
	return all, err
}

func (as[T]) runAndCompare(x *Case) (all [][]byte, r Report, err error) {
	var inputs [][]T
	for _, in := range x.Inputs {
		inputs = append(inputs, getAll[T](in))
	}
	outputs, r, err := RunAndCompare(x.Schedule, inputs, RunOptions{Accumulate: x.Accumulate})
	for _, out := range outputs {
		all = append(all, put(out))
	}
	return all, r, err
}

func (c complexes[T]) inputs(spec collective.Spec, data Data, seed uint64) ([][]byte, error) {
	return c.as.inputs(spec.InComponents(), data, seed)
}

func (c complexes[T]) runAndCompare(x *Case) ([][]byte, Report, error) {
	on := *x
	on.Schedule = schedule.InComponents(x.Schedule)
	return c.as.runAndCompare(&on)
}

// normal are a schedule's inputs of normal data.
func normal(t *testing.T, s *schedule.Schedule, seed uint64) [][]byte {
	t.Helper()
	in, err := typeOf(s.Spec.Type).(tester).inputs(s.Spec, Normal, seed)
	require.NoError(t, err)
	return in
}

// execute carries the case out, whose ranks are the schedule's, and returns the outputs.
func (t *Case) execute(test *testing.T) (out [][]byte) {
	test.Helper()
	var err error
	out, t.Report, err = typeOf(t.Schedule.Spec.Type).(tester).runAndCompare(t)
	require.NoError(test, err)
	for rank := range t.Schedule.Spec.Ranks {
		t.Ranks = append(t.Ranks, rank)
	}
	return out
}

// compared is what comes of comparing a schedule's outputs, damaged by a function that is given
// the bytes of every rank's inputs and outputs, with what they were.
func compared(t *testing.T, s *schedule.Schedule, in [][]byte,
	damage func(in, out [][]byte)) *BitComparison {
	t.Helper()
	x := &Case{Schedule: s, Inputs: in, TermsOf: proof.TermsOf}
	if in == nil {
		x.Inputs = normal(t, s, 1)
	}
	ours := x.execute(t)
	damaged := make([][]byte, s.Spec.Ranks)
	for rank, out := range ours {
		damaged[rank] = append([]byte{}, out...)
	}
	damage(x.Inputs, damaged)
	c := &BitComparison{}
	require.NoError(t, x.Compare(damaged, ours, c))
	return c
}

// scheduleOf is an algorithm's schedule of a sum, of bools xor, or of what moves.
func scheduleOf(t *testing.T, kind collective.Kind, name string, typ dtype.Type, ranks int,
	count int64) *schedule.Schedule {
	t.Helper()
	spec := collective.Spec{Kind: kind, Type: typ, Ranks: ranks, Count: count}
	if kind.Reduces() {
		if spec.Op = collective.Sum; typ == dtype.Bool {
			spec.Op = collective.Xor
		}
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
		{dtype.Uint64, 0x7ff0000000000001, 0xfff8000000000000}, {dtype.Bool, 1, 0},
		{dtype.Complex64, 0x7f8000013f800000, 0xffc123453f800000}, // 1 and a NaN
		{dtype.Complex128, 0x7ff0000000000001, 0xfff8000000000000},
	} {
		t.Run(c.t.String(), func(t *testing.T) {
			width := c.t.Width()
			bits := func(x uint64) []byte {
				b := make([]byte, 16)
				dtype.Put(b, []uint64{x})
				return b[:width]
			}
			n := &Case{typed: typeOf(c.t)}
			require.Equal(t, c.t.IsFloat(), n.same(bits(c.one), bits(c.other)))
			require.Equal(t, c.t == dtype.Bool, n.same(bits(c.other), bits(0)))
			// Rank 1 passes a NaN in element 2, and theirs has another NaN there.
			s := scheduleOf(t, collective.AllReduce, "ring", c.t, 4, 8)
			in := normal(t, s, 1)
			copy(in[1][2*width:], bits(c.one))
			got := compared(t, s, in, func(_, out [][]byte) {
				if !c.t.IsFloat() {
					return
				}
				for _, o := range out {
					require.True(t, n.typed.isNaN(o[2*width:3*width]))
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
			got = compared(t, s, in, func(_, out [][]byte) {
				if out[3][2*width] ^= 1; c.t.IsFloat() {
					copy(out[3][2*width:], bits(0))
				}
			})
			require.EqualValues(t, 1, got.Different)
		})
	}
	require.Len(t, dtype.All(), 17)
	require.True(t, math.IsNaN(dtype.Value(dtype.E5M2(0x7d))))
}

// positive are a collective's inputs without signs, so that a result without a part of them is far
// from right in every type.
func positive(t *testing.T, s *schedule.Schedule) [][]byte {
	t.Helper()
	width, in := s.Spec.Type.Component().Width(), normal(t, s, 2)
	for _, x := range in {
		for at := width - 1; at < len(x) && s.Spec.Type.IsFloat(); at += width {
			x[at] &= 0x7f
		}
	}
	return in
}

// beyond counts the elements of a rank's float outputs that are further from the exact sum than any
// order takes them, worked out from the formula of docs/numbers.md.
func beyond(s *schedule.Schedule, in [][]byte, out []byte) (count int64) {
	each, width := s.Spec.Type.Components(), s.Spec.Type.Component().Width()
	value := func(element []byte) float64 {
		switch s.Spec.Type.Component() {
		case dtype.Float64:
			return get[float64](element)
		case dtype.Float32:
			return float64(get[float32](element))
		case dtype.Float16:
			return dtype.Value(get[dtype.F16](element))
		case dtype.BFloat16:
			return dtype.Value(get[dtype.BF16](element))
		case dtype.Float8E4M3:
			return dtype.Value(get[dtype.E4M3](element))
		case dtype.Float8E5M2:
			return dtype.Value(get[dtype.E5M2](element))
		}
		panic(s.Spec.Type)
	}
	u, last := math.Ldexp(1, -s.Spec.Type.Precision()), -1
	for at := 0; at < len(out); at += width {
		sum, all := 0.0, 0.0
		for _, x := range in {
			sum, all = sum+value(x[at:at+width]), all+math.Abs(value(x[at:at+width]))
		}
		off := math.Abs(value(out[at:at+width]) - sum)
		if off > 1.001*(float64(len(in)-1)*u*all+u*math.Abs(sum)) && at/width/each != last {
			count, last = count+1, at/width/each // each complex number once
		}
	}
	return count
}

// TestCompareSaysThreeThings, in every type: of a right run, of another order, of one damaged
// element, and of twenty that were never overwritten.
func TestCompareSaysThreeThings(t *testing.T) {
	for _, typ := range dtype.All() {
		t.Run(typ.String(), func(t *testing.T) {
			s := scheduleOf(t, collective.AllReduce, "ring", typ, 5, 100)
			width, in := typ.Width(), positive(t, s)
			right := compared(t, s, in, func(_, _ [][]byte) {})
			require.Zero(t, right.Different)
			require.Zero(t, right.Wrong+right.Different)
			require.True(t, right.Shared)
			require.Nil(t, right.Disagree)

			tree := scheduleOf(t, collective.AllReduce, "recursive-doubling", typ, 5, 100)
			other := (&Case{Schedule: tree, Inputs: in}).execute(t)
			order := compared(t, s, in, func(_, out [][]byte) {
				for rank := range out {
					copy(out[rank], other[rank])
				}
			})
			require.Equal(t, !typ.IsFloat(), order.Different == 0)
			require.Zero(t, order.Wrong, order.Outside)
			require.Nil(t, order.Disagree)
			require.Equal(t, typ.IsFloat(), order.First != nil)

			// The highest bit but the sign flips; of a bool the one that it has.
			flip := byte(0x40)
			if typ == dtype.Bool {
				flip = 1
			}
			damaged := compared(t, s, in, func(_, out [][]byte) { out[3][42*width-1] ^= flip })
			require.EqualValues(t, 1, damaged.Wrong)
			require.Len(t, damaged.Outside, 1)
			require.Equal(t, [2]int64{3, 41}, [2]int64{int64(damaged.Outside[0].Rank),
				damaged.Outside[0].Element})
			require.NotEqual(t, damaged.Outside[0].Theirs, damaged.Outside[0].Right)
			defined, err := typeOf(typ).define(&s.Spec, in)
			require.NoError(t, err)
			require.Equal(t, bitsOf(typeOf(typ), defined[3][41*width:42*width]), damaged.Outside[0].Right)
			require.Nil(t, damaged.First)
			require.Equal(t, [2]int{0, 3}, damaged.Disagree.Ranks)
			require.EqualValues(t, 1, damaged.Disagree.Elements)
			require.EqualValues(t, 41, damaged.Disagree.First)

			var broken []byte
			stale := compared(t, s, in, func(in, out [][]byte) {
				copy(out[2][50*width:70*width], in[2][50*width:])
				broken = out[2]
			})
			if typ.IsFloat() {
				require.Equal(t, beyond(s, in, broken), stale.Wrong)
			}
			if typ != dtype.Bool { // of which half happen to be right
				require.GreaterOrEqual(t, stale.Wrong, int64(15))
			}
			require.Positive(t, stale.Wrong)
			require.LessOrEqual(t, stale.Wrong, int64(20))
			require.EqualValues(t, stale.Wrong, len(stale.Outside))
			for _, o := range stale.Outside {
				require.Equal(t, 2, o.Rank)
				require.Equal(t, []string{"the rank's own input"}, o.Looks)
			}
			require.Equal(t, [2]int{0, 2}, stale.Disagree.Ranks)
			require.LessOrEqual(t, stale.Wrong, stale.Disagree.Elements)
		})
	}
}

// TestLooks: which rank is missing, or in twice, which partial sum or which other input it is.
func TestLooks(t *testing.T) {
	for _, typ := range dtype.All() {
		for _, op := range collective.OpsOf(typ) {
			spec := collective.Spec{Kind: collective.AllReduce, Type: typ, Ranks: 4, Count: 60, Op: op,
				Factor: 2}
			if op != collective.PremulSum {
				spec.Factor = 0
			}
			a, err := algos.Find(spec.Kind, "ring")
			require.NoError(t, err)
			s, err := a.Build(spec, algos.Options{})
			require.NoError(t, err)
			n, in := typeOf(typ), positive(t, s)
			for _, twice := range []bool{false, true} {
				changed := append([][]byte{}, in...)
				what := op.String() + " without r2"
				x := &suspect{Case: &Case{Schedule: s, typed: n}}
				executed := s
				switch changed[2] = x.neutral(in, 2); {
				case twice && (op == collective.Min || op == collective.Max || op >= collective.And):
					continue
				case twice && op == collective.Prod:
					changed[2], what = in[2], "prod with r2 twice"
					changed = append(changed, in[2])
					spec.Ranks++
					executed, err = a.Build(spec, algos.Options{})
					require.NoError(t, err)
				case twice:
					changed[2], what = n.twice(in[2]), op.String()+" with r2 twice"
				}
				theirs := (&Case{Schedule: executed, Inputs: changed}).execute(t)
				got := compared(t, s, in, func(_, out [][]byte) {
					for rank := range out {
						copy(out[rank], theirs[rank])
					}
				})
				if typ.Width() > 1 || !typ.IsFloat() { // of 8 bits the bound may take it in
					require.Positive(t, got.Wrong, "%v %s", typ, what)
				}
				for _, o := range got.Outside {
					found := false
					for _, look := range o.Looks {
						found = found || look == "the "+what
					}
					require.True(t, found || typ.Width() == 1 || len(got.Outside) < 5, "%v %s: %v", typ,
						what, o)
				}
			}
		}
	}
	s := scheduleOf(t, collective.AllReduce, "ring", dtype.Float32, 4, 60)
	in := positive(t, s)
	got := compared(t, s, in, func(in, out [][]byte) { copy(out[1][:40], in[3]) })
	require.EqualValues(t, 10, got.Wrong)
	require.Equal(t, []string{"the input of r3"}, got.Outside[0].Looks)
	got = compared(t, s, in, func(_, out [][]byte) { copy(out[1][:40], make([]byte, 40)) })
	require.Equal(t, []string{"0, as where nothing was written"}, got.Outside[9].Looks)
	half := (&Case{Schedule: scheduleOf(t, collective.AllReduce, "ring", dtype.Float32, 2, 60),
		Inputs: in[:2]}).execute(t)
	got = compared(t, s, in, func(_, out [][]byte) { copy(out[1][:40], half[0]) })
	require.Equal(t, []string{"a partial sum, r0 + r1 alone"}, got.Outside[0].Looks)
	got = compared(t, s, in, func(_, out [][]byte) { copy(out[1][:4], []byte{0, 0, 0, 0x7f}) })
	require.Empty(t, got.Outside[0].Looks)

	// What only moves: a block of another rank, and ranks that need not agree.
	s = scheduleOf(t, collective.AllGather, "ring", dtype.BFloat16, 4, 10)
	got = compared(t, s, nil, func(in, out [][]byte) { copy(out[1][40:60], in[0]) })
	require.EqualValues(t, 10, got.Wrong)
	require.Nil(t, got.First)
	require.Equal(t, []string{"the input of r0"}, got.Outside[3].Looks)
	require.EqualValues(t, 23, got.Outside[3].Element)
	s = scheduleOf(t, collective.AllToAll, "pairwise", dtype.BFloat16, 4, 10)
	got = compared(t, s, nil, func(_, out [][]byte) { out[1][4]++ })
	require.EqualValues(t, 1, got.Wrong)
	require.False(t, got.Shared)
}
