package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// wanted is what a communication makes of every rank's tensor by its definition: packed, exchanged
// and unpacked, in elements of one byte. Where ranks have no result it is nil.
func wanted(t *testing.T, c *collective.Communication, given [][]byte) (want [][]byte) {
	t.Helper()
	n := len(given)
	spec, err := c.Spec(n)
	require.NoError(t, err)
	flat := make([][]byte, n)
	for i := range flat {
		flat[i] = make([]byte, spec.In(i))
		for _, m := range c.Pack(i, n) {
			copy(flat[i][m.Flat:m.Flat+m.Len], given[i][m.Tensor:])
		}
	}
	shapes, err := c.Shapes(c.Inputs(n))
	require.NoError(t, err)
	for i := range flat {
		out := make([]byte, spec.Out(i))
		for _, piece := range spec.Want(i) {
			for k := range piece.Len {
				if piece.From != collective.AllRanks {
					out[piece.Off+k] = flat[piece.From][piece.InOff+k]
					continue
				}
				for _, x := range flat {
					out[piece.Off+k] = max(out[piece.Off+k], x[piece.InOff+k])
				}
			}
		}
		tensor := make([]byte, shapes[i].Elements())
		moves := c.Unpack(i, n)
		for _, m := range moves {
			copy(tensor[m.Tensor:m.Tensor+m.Len], out[m.Flat:])
		}
		if moves == nil {
			tensor = nil
		}
		want = append(want, tensor)
	}
	return want
}

// single lowers a program of one call, proves and computes it, and holds it to the definition.
func single(t *testing.T, call string, ranks int, shape collective.Shape) *program.Lowered {
	t.Helper()
	p := &program.Program{Name: "single", Ranks: ranks, Iterations: 2, Tensors: []program.Tensor{{
		Name: "x", Type: dtype.Uint8, Shape: shape}}, Ops: []program.Op{{Name: "call", Call: call,
		In: []string{"x"}, Out: "y"}}}
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err, call)
	_, found := proof.Verify(low.Schedule, proof.Options{})
	require.Empty(t, found, call)
	given, got := runOnNormal(t, low.Schedule)
	c, err := collective.ParseCommunication(call)
	require.NoError(t, err)
	c.Type, c.Shape = dtype.Uint8, shape
	where := low.Where["y"].Tensor - schedule.FirstTensor
	for rank, want := range wanted(t, c, given[low.Where["x"].Tensor-schedule.FirstTensor]) {
		require.Equal(t, string(want), string(got[where][rank][:len(want)]), "%s, rank %d", call, rank)
	}
	report, err := reference.Check(low.Schedule, reference.CheckOptions{})
	require.NoError(t, err, call)
	require.Equal(t, reference.NumbersExact, report.Numbers, call)
	return low
}

// TestLayout: along axes that do not lie in front, calls do what their definition says; of axes of
// which nothing stands before, there is no copy.
func TestLayout(t *testing.T) {
	for call, want := range map[string]string{
		"all_gather axis 1":                    "a copy behind it (axis 1",
		"all_gather axis 2":                    "a copy behind it (axis 2",
		"gather axis 1 root 1":                 "a copy behind it (axis 1",
		"reduce_scatter max axis 2":            "a copy before it (axis 2",
		"scatter axis 1 root 2":                "a copy before it (axis 1",
		"all_to_all axis 1":                    "a copy before it (axis 1 or 0",
		"all_to_all concat 2":                  "a copy behind it (axis 0 or 2",
		"all_to_all axis 2 concat 1":           "a copy before it, and a copy behind it (axis 2 or 1",
		"all_to_all axis 1 concat 1":           "a copy before it, and a copy behind it (axis 1",
		"all_to_all axis 1 concat 2":           "a copy before it, and a copy behind it (axis 1 or 2",
		"all_gather":                           "",
		"reduce max root 1":                    "",
		"all_gatherv splits 6,0,2":             "",
		"reduce_scatterv max splits 1,5,0":     "",
		"all_to_allv splits 1,2,3/0,4,2/3,0,0": "",
	} {
		low := single(t, call, 3, collective.Shape{6, 12, 18})
		if want == "" {
			require.Empty(t, notesOf(low), call)
		} else {
			require.Equal(t, "layout [call]: "+want+" of 6x12x18 does not lie in front)",
				notesOf(low)[0])
		}
	}
	require.Empty(t, notesOf(single(t, "all_gather axis 1", 3, collective.Shape{1, 4, 5})))
	require.Empty(t, notesOf(single(t, "all_to_all axis 2 concat 1", 3, collective.Shape{1, 1, 6})))
}
