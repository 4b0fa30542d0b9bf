package reference

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// A numpyCase is a reduction for testdata/reductions.py: the bytes of every rank's input and
// output, in hexadecimal, and in which order each element of an output is added up: a rank, or a
// pair.
type numpyCase struct {
	Name, Type, Op string
	Inputs, Output []string
	Orders         [][]any // by rank and element
}

// TestNumPy holds reductions of bools, of the bits of integers and of complex numbers against
// numpy's: logical_and.reduce and its like, and sums of complex numbers in the schedule's order,
// bit for bit.
func TestNumPy(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("left out: there is no python3")
	}
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil {
		t.Skipf("left out: python3 cannot import numpy: %s", out)
	}
	var cases []numpyCase
	for _, name := range []string{"ring", "recursive-doubling", "one-shot", "double-binary-tree"} {
		a, err := algos.Find(collective.AllReduce, name)
		require.NoError(t, err)
		for _, typ := range []dtype.Type{dtype.Bool, dtype.Int16, dtype.Uint64, dtype.Complex64,
			dtype.Complex128} {
			for _, op := range []collective.Op{collective.Sum, collective.And, collective.Or,
				collective.Xor} {
				if collective.CheckOp(op, typ) != nil {
					continue
				}
				s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: op, Type: typ, Ranks: 6,
					Count: 35}, algos.Options{})
				require.NoError(t, err)
				cases = append(cases, numpyOf(t, name, s))
			}
		}
	}
	text, err := json.Marshal(cases)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cases.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	out, err := exec.Command(python, filepath.Join("testdata", "reductions.py"), path).CombinedOutput()
	require.NoError(t, err, string(out))
	t.Log(string(out))
}

// numpyOf is a schedule on normal data, as this package executes it.
func numpyOf(t *testing.T, name string, s *schedule.Schedule) numpyCase {
	t.Helper()
	spec := &s.Spec
	c := numpyCase{Name: name, Type: spec.Type.String(), Op: spec.Op.String()}
	in := normal(t, s, 5)
	out, err := RunBytes(s, in, RunOptions{})
	require.NoError(t, err)
	for rank := range spec.Ranks {
		c.Inputs = append(c.Inputs, hex.EncodeToString(in[rank]))
		c.Output = append(c.Output, hex.EncodeToString(out[rank]))
		var orders []any
		for e := range spec.Out(rank) {
			order, err := proof.OrderOf(s, rank, e)
			require.NoError(t, err)
			orders = append(orders, pairs(order))
		}
		c.Orders = append(c.Orders, orders)
	}
	return c
}

// pairs is a term as nested pairs of ranks.
func pairs(order *schedule.Term) any {
	if order.Left == nil {
		return order.Rank
	}
	return [2]any{pairs(order.Left), pairs(order.Right)}
}
