package report

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	tables "collsim/formats/measured"
	"collsim/hw"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// byNCCL is a result that NCCL has executed.
func byNCCL(spec collective.Spec, t unit.Time, wrong int64, chose string) *run.Result {
	c := &run.Comparison{}
	c.Wrong = wrong
	return &run.Result{Point: &scenarios.Point{Spec: spec},
		Algorithm: scenarios.Algorithm{Name: "nccl:auto"},
		Picked:    algos.Pick{What: "Ring LL, 1 of 2 channels"},
		Measured: &run.Measured{Executor: scenarios.NCCL, Time: t, Repetitions: 1, Comparison: c,
			Chose: chose}}
}

// TestNCCLTests: the columns are those of nccl-tests, which the reader of its logs reads: a call in
// place joins the same one out of place, what another executor has executed is left out, and so is
// what has failed.
func TestNCCLTests(t *testing.T) {
	sum := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 4, Count: 1 << 18}
	inPlace, root := sum, sum
	inPlace.InPlace = true
	root.Kind, root.Op, root.Root = collective.Broadcast, 0, 3
	other := byNCCL(sum, unit.Second, 0, "")
	other.Measured.Executor = scenarios.Host
	failed := byNCCL(root, unit.Second, 0, "")
	failed.Measured.Failure = &hw.Error{}
	var b strings.Builder
	writeNCCLTests([]*run.Result{other, byNCCL(sum, 100*unit.Microsecond, 0, "Ring LL, 2 channels"),
		failed, byNCCL(root, 123456789*unit.Microsecond, 0, ""),
		byNCCL(inPlace, 12345678*unit.Nanosecond, 7, "Tree Simple, 1 channel")}, &b)
	want, err := os.ReadFile("testdata/nccl-tests.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
	read, err := tables.ReadTables("x", []byte(b.String()))
	require.NoError(t, err)
	require.Len(t, read, 2)
	out, at := read[0].Rows[0], read[0].Rows[1]
	require.Equal(t, []any{unit.Bytes(1 << 20), int64(1 << 18), -1, 100 * unit.Microsecond, 7.},
		[]any{out.Size, out.Count, out.Root, out.Time, at.Wrong})
	require.Equal(t, 3, read[1].Rows[0].Root)

	b.Reset()
	writeNCCLTests([]*run.Result{other}, &b)
	require.Empty(t, b.String())
}

// TestFitted: numbers are as wide as nccl-tests has them.
func TestFitted(t *testing.T) {
	for _, c := range []struct {
		x     float64
		width int
		want  string
	}{{0, 6, "0.00"}, {123.456, 6, "123.46"}, {1234.567, 6, "1234.6"}, {123456.7, 6, "123457"},
		{1234567, 6, "1e+06"}, {123456789, 7, "1.2e+08"}, {9999.999, 7, "10000.0"[:7]}} {
		require.Equal(t, c.want, fitted(c.x, c.width))
	}
}
