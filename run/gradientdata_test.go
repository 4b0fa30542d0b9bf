package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/fidelity"
	"collsim/formats/arrays"
	"collsim/reference"
	"collsim/run"
	"collsim/schedule"
	"collsim/sim"
)

// files answers for data files: a list of ranks each, nil for ranks without data.
type files map[string][]arrays.Array

func (f files) read(path string, _ arrays.Want) ([]arrays.Array, error) {
	if ranks, ok := f[path]; ok {
		return ranks, nil
	}
	return nil, errors.New("no such file: " + path)
}

// tensor is an array of T.
func tensor[T dtype.Number](shape []int64, values ...T) arrays.Array {
	a := arrays.Array{Type: dtype.Of[T](), Width: dtype.Of[T]().Width(), Shape: shape,
		Data: make([]byte, len(values)*dtype.Of[T]().Width())}
	dtype.Put(a.Data, values)
	return a
}

func numbersOf[T dtype.Number](a arrays.Array) []T {
	x := make([]T, len(a.Data)/dtype.Of[T]().Width())
	dtype.Get(x, a.Data)
	return x
}

const network = `
[topology]
preset = "switch"
ranks = 3
bandwidth = "100 Gbit/s"
latency = "500 ns"
[[collective]]
gradient_of_input = "gradients.npz"
`

// passes runs a scenario of one collective, and returns the results of both passes.
func passes(t *testing.T, f files, text string) (forward, back *run.Result) {
	t.Helper()
	s, err := run.Load("s.toml", []byte(network+text),
		run.LoadOptions{ReadArrays: f.read})
	require.NoError(t, err)
	report, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	require.Len(t, report.Results, 2)
	require.Equal(t, "exact", report.Results[1].Gradient.Law)
	return report.Results[0], report.Results[1]
}

// TestMeanBack: the gradient of a mean is the mean of gradients, the n-th part of each; the third
// part of 1, rounded, is not that of 3 divided by 9.
func TestMeanBack(t *testing.T) {
	for _, c := range []struct {
		avg  string
		want float32
	}{{"nccl", float32(7) * float32(1.0/3)}, {"post", float32(7) / 3}} {
		up := []arrays.Array{tensor([]int64{2}, float32(1), 0), tensor([]int64{2}, float32(2), 1),
			tensor([]int64{2}, float32(4), 2)}
		_, back := passes(t, files{"up.npz": up}, `kind = "all_reduce"
op = "avg"
avg = "`+c.avg+`"
algorithm = "ring"
count = 2
gradient = "full"
gradient_of_output = "up.npz"
`)
		for rank := range 3 {
			require.Equal(t, []float32{c.want, 1}, numbersOf[float32](back.Outputs[rank]))
		}
		require.Zero(t, back.Wrong)
		require.True(t, back.Good())
	}
}

// TestMaskBack: of max, along an axis of tensors, each of those that tie gets all of it: the
// output comes to all ranks by a pass of its own.
func TestMaskBack(t *testing.T) {
	in := []arrays.Array{tensor([]int64{2, 3}, int32(1), 5, 2, 7, 0, 0),
		tensor([]int64{2, 3}, int32(1), 4, 3, 7, 1, 0), tensor([]int64{2, 3}, int32(0), 5, 3, 6, 1, 0)}
	up := []arrays.Array{tensor([]int64{2, 1}, int32(10), 11), tensor([]int64{2, 1}, int32(20), 21),
		tensor([]int64{2, 1}, int32(30), 31)}
	want := [][]int32{{10, 20, 0, 11, 0, 31}, {10, 0, 30, 11, 21, 31}, {0, 20, 30, 0, 21, 31}}
	theirs := make([]arrays.Array, 3)
	for rank := range theirs {
		theirs[rank] = tensor([]int64{2, 3}, want[rank]...)
	}
	f := files{"in.npz": in, "up.npz": up, "theirs.npz": theirs}
	text := `kind = "reduce_scatter"
op = "max"
dtype = "int32"
algorithm = "ring"
input = "in.npz"
axis = 1
gradient = "full"
gradient_of_output = "up.npz"
compare_gradient = "theirs.npz"
`
	_, back := passes(t, f, text)
	for rank := range 3 {
		require.Equal(t, []int64{2, 3}, back.Outputs[rank].Shape)
		require.Equal(t, want[rank], numbersOf[int32](back.Outputs[rank]), "rank %d", rank)
	}
	require.Equal(t, 2, back.Gradient.Passes)
	require.True(t, back.Comparison.Equal())
	require.False(t, back.Comparison.Shared, "each rank has its own mask")

	theirs[2] = tensor([]int64{2, 3}, int32(0), 20, 30, 0, 21, 30)
	_, back = passes(t, f, text)
	require.EqualValues(t, 1, back.Comparison.Different)
	require.Equal(t, 2, back.Comparison.First.Rank)
	require.EqualValues(t, 5, back.Comparison.First.Element)
	require.True(t, back.Comparison.Undefined)
}

// TestScaleBack: a factor is carried out where the gradient is only copied, too.
func TestScaleBack(t *testing.T) {
	up := make([]arrays.Array, 3)
	up[1] = tensor([]int64{2}, float32(6), -8)
	_, back := passes(t, files{"up.npz": up}, `kind = "reduce"
op = "premulsum(factor=0.5)"
algorithm = "binomial"
count = 2
root = 1
gradient = "full"
gradient_of_output = "up.npz"
`)
	for rank := range 3 {
		require.Equal(t, []float32{3, -4}, numbersOf[float32](back.Outputs[rank]))
	}
	require.Equal(t, 0.5, back.Gradient.Scale)
	require.Equal(t, collective.Broadcast, back.Point.Spec.Kind)
}

// TestLinearBack: the gradients of kinds that only move, on tensors and on made data, are what the
// definition of the transposed collective gives.
func TestLinearBack(t *testing.T) {
	for _, text := range []string{"kind = \"all_gather\"\nshape = [2, 3]\naxis = 1",
		"kind = \"all_to_all\"\nshape = [6, 2]\naxis = 0\nconcat = 1",
		"kind = \"broadcast\"\nshape = [5]\nroot = 2", "kind = \"gather\"\nshape = [2, 2]\naxis = 1",
		"kind = \"send_recv\"\nshape = [4, 2]", "kind = \"scatter\"\ncount = 3\nroot = 1",
		"kind = \"all_gatherv\"\nshape = [2, 4]\naxis = 1\nsplits = [1, 0, 3]"} {
		_, back := passes(t, nil, text+"\ndtype = \"int64\"\ngradient = \"full\"\n")
		p := back.Point
		in, err := reference.Inputs[int64](p.Spec, reference.Exact, uint64(p.Seed))
		require.NoError(t, err)
		want, err := reference.Define(p.Spec, in)
		require.NoError(t, err)
		for rank := range 3 {
			flat := append([]int64{}, want[rank]...)
			if c := p.TensorOf(3); c != nil {
				for _, m := range c.Unpack(rank, 3) {
					copy(flat[m.Tensor:m.Tensor+m.Len], want[rank][m.Flat:m.Flat+m.Len])
				}
			}
			require.Equal(t, flat, append([]int64{}, numbersOf[int64](back.Outputs[rank])...), text)
		}
	}
}

// TestLocalBack: local gradients take and give data, scaled and masked.
func TestLocalBack(t *testing.T) {
	up := []arrays.Array{tensor([]int64{2}, float32(3), 6), tensor([]int64{2}, float32(9), 12),
		tensor([]int64{2}, float32(15), 18)}
	f := files{"up.npz": up}
	_, back := passes(t, f, `kind = "reduce_scatter"
op = "avg"
avg = "post"
algorithm = "ring"
count = 2
gradient = "local"
gradient_of_output = "up.npz"
`)
	require.Equal(t, []float32{0, 0, 3, 4, 0, 0}, numbersOf[float32](back.Outputs[1]))
	require.Equal(t, []float32{1, 2, 0, 0, 0, 0}, numbersOf[float32](back.Outputs[0]))
	f["in.npz"] = []arrays.Array{tensor([]int64{2}, float32(1), 7), tensor([]int64{2}, float32(2), 7),
		tensor([]int64{2}, float32(2), 0)}
	_, back = passes(t, f, `kind = "all_reduce"
op = "max"
algorithm = "ring"
input = "in.npz"
gradient = "local"
gradient_of_output = "up.npz"
`)
	require.Equal(t, [][]float32{{0, 6}, {9, 12}, {15, 0}}, [][]float32{
		numbersOf[float32](back.Outputs[0]), numbersOf[float32](back.Outputs[1]),
		numbersOf[float32](back.Outputs[2])})
}

// TestGradientFilesRefused: what does not fit is said before anything is run, at its key.
func TestGradientFilesRefused(t *testing.T) {
	up := []arrays.Array{tensor([]int64{2}, float32(3), 6), tensor([]int64{2}, float32(9), 12),
		tensor([]int64{3}, float32(15), 18, 0)}
	for _, c := range []struct{ text, want string }{
		{"kind = \"all_reduce\"\ncount = 2\n", "collective.gradient_of_input = \"gradients.npz\": " +
			"there is no backward pass"},
		{"kind = \"all_reduce\"\ncount = 2\ngradient = \"full\"\ngradient_of_output = \"up.npz\"",
			"gradient_of_output = \"up.npz\": rank 2 has shape 3 there, 3 elements; its output has 2"},
		{"kind = \"all_reduce\"\nshape = [2]\ngradient = \"full\"\ngradient_of_output = \"up.npz\"",
			"gradient_of_output = \"up.npz\": rank 2 has shape 3 there; its output has shape 2"},
		{"kind = \"all_reduce\"\ncount = 2\ngradient = \"full\"\ngradient_of_output = \"no.npz\"",
			"no such file: no.npz"},
		{"kind = \"all_reduce\"\ncount = 2\ngradient = \"full\"\ncompare_gradient = \"no.npz\"",
			"compare_gradient = \"no.npz\": no such file: no.npz"},
	} {
		_, err := run.Load("s.toml", []byte(network+c.text),
			run.LoadOptions{ReadArrays: files{"up.npz": up}.read})
		require.ErrorContains(t, err, c.want)
	}
}

// TestTwoPasses: the second pass is timed as in a schedule that does all of it twice, and counts
// are those of both.
func TestTwoPasses(t *testing.T) {
	for _, c := range []struct {
		kind, algorithm string
		back            collective.Kind
	}{{"reduce", "chain", collective.Broadcast}, {"reduce", "binomial", collective.Broadcast},
		{"reduce", "flat", collective.Broadcast}, {"reduce_scatter", "ring", collective.AllGather},
		{"reduce_scatter", "pairwise", collective.AllGather}} {
		s, err := run.Load("s.toml", []byte(`[topology]
preset = "switch"
ranks = 4
bandwidth = "100 Gbit/s"
latency = "500 ns"
[[collective]]
kind = "`+c.kind+`"
op = "max"
algorithm = "`+c.algorithm+`"
bytes = "1 MiB"
gradient = "full"
[check]
numbers = false
`), run.LoadOptions{})
		require.NoError(t, err)
		report, err := s.Run(context.Background(), run.RunOptions{Trace: true})
		require.NoError(t, err)
		back := report.Results[1]
		a, err := algos.Find(c.back, c.algorithm)
		require.NoError(t, err)
		once, err := a.Build(back.Point.Spec, algos.Options{})
		require.NoError(t, err)
		twice, err := schedule.Parse(repeated(once.String()))
		require.NoError(t, err)
		graph, err := back.Point.Topology.Graph()
		require.NoError(t, err)
		ran, err := sim.Run(twice, sim.Env{Graph: graph, Device: *back.Point.Device, Slots: 8},
			sim.Options{})
		require.NoError(t, err)
		require.Equal(t, ran.Time, back.Time, c.algorithm)
		require.Equal(t, [2]int64{ran.Steps, ran.Messages}, [2]int64{back.Steps, back.Messages})
		require.Equal(t, ran.LinkBytes, back.LinkBytes)
		require.NoError(t, back.Trace.Validate())
		require.Len(t, back.Trace.Messages, int(ran.Messages))
		require.LessOrEqual(t, back.Bounds.Lower, back.Time)
		require.EqualValues(t, -1, back.ClosedForm)
	}
}

// repeated is the text of a schedule of one lane a rank, in which every lane does its steps twice.
func repeated(text string) string {
	var out, steps []string
	for _, line := range append(strings.Split(strings.TrimSpace(text), "\n"), "") {
		if strings.HasPrefix(line, "    ") {
			steps = append(steps, line)
			continue
		}
		out = append(append(append(out, steps...), steps...), line)
		steps = nil
	}
	return strings.Join(out, "\n") + "\n"
}

// TestValidateBack: backward passes are executed, those of two passes twice; local ones move
// nothing.
func TestValidateBack(t *testing.T) {
	for set, want := range map[string]string{
		`collective.gradient="full"`:  fidelity.Equal,
		`collective.gradient="local"`: fidelity.NotComparable,
	} {
		for _, kind := range []string{"all_reduce", "reduce_scatter"} {
			r := validated(t, four, nil, set, `collective.op="max"`, `collective.kind="`+kind+`"`,
				`collective.algorithm="fastest"`)
			require.Len(t, r.Results, 4)
			for i, result := range r.Results {
				if result.Gradient == nil {
					require.Equal(t, fidelity.Equal, result.Measured.Bits)
					continue
				}
				require.Equal(t, 1, i%2)
				require.Equal(t, want, result.Measured.Bits, result.Point.ID)
				require.Equal(t, want == fidelity.Equal, result.Measured.Executed())
			}
		}
	}
}
