package reference

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// parse reads a schedule that must be one.
func parse(t testing.TB, text string) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text)
	require.NoError(t, err, text)
	return s
}

// gatherMatmul is all_gather of a, 4 rows of 8 on a rank, by gets, and a matmul of each block with
// b as soon as it is there.
func gatherMatmul(ranks int) string {
	text := fmt.Sprintf(`schedule gather-matmul
collective custom bfloat16
ranks %d
group %[1]d
tensor a given bfloat16 4x8 symmetric
tensor b given bfloat16 8x3
tensor all result bfloat16 %[2]dx8
cut all block even %[1]d by rank
tensor c result float32 %[2]dx3
cut c block even %[1]d by rank
define all = all_gather count=32 of a
define c = (matmul m=%[2]d k=8 n=3 bfloat16*bfloat16->float32) of all, b
rank *
  lane 0
%s    compute (matmul m=4 k=8 n=3 bfloat16*bfloat16->float32) a, b into c[0] @0
    copy a into all[0] @0
`, ranks, 4*ranks, barrier(ranks))
	for i := 1; i < ranks; i++ {
		text += fmt.Sprintf(`    copy get %d a into all[%[1]d] @0
    compute (matmul m=4 k=8 n=3 bfloat16*bfloat16->float32) all[%[1]d], b into c[%[1]d] @0
`, i)
	}
	return text + barrier(ranks)
}

// barrier has every rank signal to all others, and await them.
func barrier(ranks int) (text string) {
	for i := 1; i < ranks; i++ {
		text += fmt.Sprintf("    signal to pad %d @0\n", i)
	}
	for i := 1; i < ranks; i++ {
		text += fmt.Sprintf("    wait from pad %d @0\n", i)
	}
	return text
}

// The definition, the interpreter, and a loop over float32 agree in every bit, on any data.
func TestGatherMatmul(t *testing.T) {
	for ranks := 2; ranks <= 4; ranks++ {
		s := parse(t, gatherMatmul(ranks))
		for _, data := range []Data{Exact, Uniform, Normal} {
			r, err := Check(s, CheckOptions{Data: data, Seed: 3})
			require.NoError(t, err)
			require.Equal(t, Report{Numbers: NumbersExact, Checked: int64(32 * ranks),
				RanksAgree: true}, r)
			given, err := GivenTensors(s, data, 3)
			require.NoError(t, err)
			got, err := RunTensors(s, given, RunOptions{})
			require.NoError(t, err)
			want, err := defineTensors(s, given)
			require.NoError(t, err)
			require.Equal(t, want, got)
			for rank := range ranks {
				b := getAll[dtype.BF16](given[1][rank])
				var all, c []float32
				for from := range ranks {
					a := getAll[dtype.BF16](given[0][from])
					for i := range 4 {
						row := values(a[8*i : 8*i+8])
						all = append(all, row...)
						for j := range 3 {
							c = append(c, naive(row, values(column(b, 8, j))))
						}
					}
				}
				require.Equal(t, all, values(getAll[dtype.BF16](got[2][rank])))
				require.Equal(t, c, getAll[float32](got[3][rank]))
			}
		}
	}
}

// column is the j-th of three, of so many rows.
func column[T any](b []T, rows, j int) (list []T) {
	for k := range rows {
		list = append(list, b[3*k+j])
	}
	return list
}

func values[T dtype.Number](x []T) []float32 {
	y := make([]float32, len(x))
	dtype.Widen(y, x)
	return y
}

// naive adds products up in their order, each rounded.
func naive(a, b []float32) (sum float32) {
	for i := range a {
		product := float32(a[i] * b[i])
		sum = float32(sum + product)
	}
	return sum
}

// A block that is consumed before it has come is told, with the tensor.
func TestConsumedTooEarly(t *testing.T) {
	get := "    copy get 1 a into all[1] @0\n"
	s := parse(t, strings.Replace(gatherMatmul(2), get, "", 1)+get)
	r, err := Check(s, CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.Equal(t, int64(24), r.Wrong)
	require.Regexp(t, `^rank 0 c element 12 is NaN; -?\d+ is wanted$`, r.First.String())
}

// matmulScatter is a matmul whose rows are summed over the ranks and scattered: products of each
// block of rows are put into the workspace of the rank that they are for, and summed there.
func matmulScatter(t testing.TB, ranks int, out string) *schedule.Schedule {
	return parse(t, matmulScatterText(ranks, out))
}

func matmulScatterText(ranks int, out string) string {
	text := fmt.Sprintf(`schedule matmul-scatter
collective custom float32
ranks %d
group %[1]d
tensor a given bfloat16 %[2]dx8
cut a block even %[1]d by rank
tensor b given bfloat16 8x3
tensor mine inner %[3]s 2x3
tensor parts inner %[3]s %[1]dx2x3 symmetric
cut parts block even %[1]d by rank
tensor partial defined %[3]s %[2]dx3
tensor c result %[3]s 2x3
define partial = (matmul m=%[2]d k=8 n=3 bfloat16*bfloat16->%[3]s) of a, b
define c = reduce_scatter sum count=6 of partial
rank *
  lane 0
%[4]s    compute (matmul m=2 k=8 n=3 bfloat16*bfloat16->%[3]s) a[0], b into parts[0] @0
`, ranks, 2*ranks, out, barrier(ranks))
	for i := 1; i < ranks; i++ {
		text += fmt.Sprintf(`    compute (matmul m=2 k=8 n=3 bfloat16*bfloat16->%s) a[%d], b into mine @0
    put mine to %[2]d at parts[0] @0
    flush
`, out, i)
	}
	for i := 1; i < ranks; i++ {
		text += fmt.Sprintf("    wait from put %d @1\n", ranks-i)
	}
	text += fmt.Sprintf("    compute (sum %dx2x3 axis=0 %s->%[2]s) parts[0 x%[1]d] into c @1\n",
		ranks, out)
	return text + barrier(ranks)
}

// The products are those of the definition, so that their sum lies within the bound of sums: bit
// for bit, it is that of a reduction in the order of ranks that adds up in float32.
func TestMatmulScatter(t *testing.T) {
	mean := strings.NewReplacer("reduce_scatter sum", "reduce_scatter avg post", "(sum ", "(mean ")
	for ranks := 2; ranks <= 4; ranks++ {
		s := matmulScatter(t, ranks, "bfloat16")
		r, err := Check(s, CheckOptions{Seed: 1})
		require.NoError(t, err)
		require.Equal(t, NumbersExact, r.Numbers)
		require.Zero(t, r.MaxULP)
		scattered(t, s, collective.Sum)
		s = parse(t, mean.Replace(matmulScatterText(ranks, "bfloat16")))
		r, err = Check(s, CheckOptions{Seed: 1})
		require.NoError(t, err)
		if ranks != 3 { // thirds are no numbers
			require.Equal(t, NumbersExact, r.Numbers)
		}
		scattered(t, s, collective.Avg)
	}
}

// scattered holds a program's results on normal data against the definition, and in every bit
// against a reduce_scatter of products that a loop makes.
func scattered(t *testing.T, s *schedule.Schedule, op collective.Op) {
	t.Helper()
	ranks := s.Spec.Ranks
	given, err := GivenTensors(s, Normal, 1)
	require.NoError(t, err)
	got, err := RunTensors(s, given, RunOptions{})
	require.NoError(t, err)
	r, err := compareTensors(s, given, got, RunOptions{})
	require.NoError(t, err)
	require.NotEqual(t, NumbersMismatch, r.Numbers)
	require.NotEqual(t, NumbersUnbounded, r.Numbers)
	require.Equal(t, ranks-1, r.Depth)
	require.InDelta(t, float64(ranks-1)/256, r.Bound, 1e-4)

	spec := collective.Spec{Kind: collective.ReduceScatter, Op: op, Avg: collective.AvgPost,
		Type: dtype.BFloat16, Ranks: ranks, Count: 6}
	products := make([][]dtype.BF16, ranks)
	for rank := range ranks {
		a, b := getAll[dtype.BF16](given[0][rank]), getAll[dtype.BF16](given[1][rank])
		for i := range 2 * ranks {
			row := values(a[8*i : 8*i+8])
			for j := range 3 {
				sum := naive(row, values(column(b, 8, j)))
				products[rank] = append(products[rank], dtype.From[dtype.BF16](float64(sum)))
			}
		}
	}
	want, err := RunWith(inRankOrder(t, meant(spec)), products, RunOptions{Accumulate: InFloat32})
	require.NoError(t, err)
	for rank := range ranks {
		require.Equal(t, want[rank], getAll[dtype.BF16](got[5][rank]))
	}
}

// inRankOrder is a reduce_scatter that gets all blocks and adds them up in one step, in rank order.
func inRankOrder(t testing.TB, spec collective.Spec) *schedule.Schedule {
	s, err := schedule.Build(schedule.Plan{Name: "direct", Spec: spec, Chunks: spec.Ranks,
		Lane: func(l *schedule.Lane) {
			var all []schedule.Source
			for rank := range l.Ranks {
				if r := l.In(l.Rank); rank == l.Rank {
					all = append(all, l.Local(r))
				} else {
					all = append(all, l.Get(rank, r))
				}
			}
			l.Completes()
			l.Combine([]schedule.Region{l.Out(0)}, nil, all...)
		}})
	require.NoError(t, err)
	return s
}

// readProgram is one of the programs that hw/host executes, too.
func readProgram(t testing.TB, name string) *schedule.Schedule {
	t.Helper()
	text, err := os.ReadFile("testdata/programs/" + name + ".schedule")
	require.NoError(t, err)
	return parse(t, string(text))
}

// The programs are those that these tests speak of.
func TestProgramFiles(t *testing.T) {
	for name, want := range map[string]*schedule.Schedule{
		"gather-matmul-2":  parse(t, gatherMatmul(2)),
		"gather-matmul-4":  parse(t, gatherMatmul(4)),
		"matmul-scatter-3": matmulScatter(t, 3, "bfloat16"),
		"layer":            layer(t),
		"sums":             twoSums(t, dtype.BFloat16, true),
	} {
		require.Equal(t, want.String(), readProgram(t, name).String())
		_, found := proof.Verify(want, proof.Options{})
		require.Empty(t, found, name)
	}
	_, found := proof.Verify(readProgram(t, "scaled-matmul"), proof.Options{})
	require.Empty(t, found)
}

// A row-wise scaled matmul of 8-bit floats with a bias, against a loop.
func TestScaledProgram(t *testing.T) {
	s := readProgram(t, "scaled-matmul")
	for _, data := range []Data{Exact, Normal} {
		r, err := Check(s, CheckOptions{Data: data, Seed: 5})
		require.NoError(t, err)
		require.Equal(t, Report{Numbers: NumbersExact, Checked: 12, RanksAgree: true}, r)
		given, err := GivenTensors(s, data, 5)
		require.NoError(t, err)
		got, err := RunTensors(s, given, RunOptions{})
		require.NoError(t, err)
		for rank := range 2 {
			var want []float32
			b, sb := values(getAll[dtype.E5M2](given[2][rank])), getAll[float32](given[3][rank])
			bias := values(getAll[dtype.BF16](given[4][rank]))
			for row := range 4 {
				a := values(getAll[dtype.E4M3](given[0][row/2]))[row%2*4:][:4]
				scale := getAll[float32](given[1][row/2])[row%2]
				for j := range 3 {
					sum := naive(a, column(b, 4, j))
					sum = float32(float32(sum*scale) * sb[j])
					x := dtype.From[dtype.BF16](float64(float32(sum + bias[j])))
					want = append(want, float32(dtype.Value(x)))
				}
			}
			require.Equal(t, want, values(getAll[dtype.BF16](got[9][rank])))
		}
	}
}

// Exact data: nothing is rounded, in any order; and they are not empty.
func TestExactTensors(t *testing.T) {
	for _, out := range []string{"bfloat16", "float16", "float8_e4m3fn", "float32"} {
		s := matmulScatter(t, 4, out)
		given, err := GivenTensors(s, Exact, 9)
		require.NoError(t, err)
		kind, _ := dtype.Parse(out)
		d, err := scriptOf(s, RunOptions{}, 0)
		require.NoError(t, err)
		v, err := evaluate(d, given, false)
		require.NoError(t, err)
		for rank := range 4 {
			a, b := values(getAll[dtype.BF16](given[0][rank])), values(getAll[dtype.BF16](given[1][rank]))
			products := typedValues(kind, v.values[4][rank])
			filled := 0
			for i := range 8 {
				for j := range 3 {
					sum := 0.0
					for k := range 8 {
						sum += float64(a[8*i+k]) * float64(b[3*k+j])
					}
					require.Equal(t, sum, products[3*i+j], out)
					if sum != 0 {
						filled++
					}
				}
			}
			require.Greater(t, filled, 12, out)
		}
		for _, x := range [][]byte{v.values[5][0], v.values[5][3]} {
			for _, y := range typedValues(kind, x) {
				require.Less(t, math.Abs(y), math.Ldexp(1, kind.Precision())+1)
			}
		}
	}
}

func typedValues(t dtype.Type, b []byte) []float64 {
	switch t {
	case dtype.BFloat16:
		return widened64(getAll[dtype.BF16](b))
	case dtype.Float16:
		return widened64(getAll[dtype.F16](b))
	case dtype.Float8E4M3:
		return widened64(getAll[dtype.E4M3](b))
	}
	return widened64(getAll[float32](b))
}

func widened64[T dtype.Number](x []T) []float64 {
	y := make([]float64, len(x))
	dtype.Widen(y, x)
	return y
}
