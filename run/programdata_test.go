package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/arrays"
	"collsim/run"
	"collsim/scenarios"
)

// layerOf is the example of a layer of torch with tensors of a type, in a folder with its files.
func layerOf(t *testing.T, dtype string) (path, text string) {
	t.Helper()
	dir, name := t.TempDir(), "torch-layer-"+dtype+".safetensors"
	file, err := os.ReadFile(filepath.Join("..", "scenarios", "examples", name))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), file, 0o600))
	return filepath.Join(dir, "layer.toml"), strings.ReplaceAll(example(t, "torch-layer"), "float32",
		dtype)
}

// runLayer runs a program whose files lie beside it.
func runLayer(t *testing.T, path, text string, set ...string) (*run.ProgramResult, error) {
	t.Helper()
	s, err := run.Load(path, []byte(text), run.LoadOptions{Set: set})
	if err != nil {
		return nil, err
	}
	report, err := s.Run(t.Context(), run.RunOptions{})
	if err != nil {
		return nil, err
	}
	return report.Programs[0], nil
}

// equals lists the tensors with the same bits as theirs.
func equals(r *run.ProgramResult) (names []string) {
	for i := range r.Compared {
		if c := &r.Compared[i]; c.Elements > 0 && c.Different == 0 {
			names = append(names, c.Tensor)
		}
	}
	slices.Sort(names)
	return names
}

// TestLayerOfTorch: what torch and gloo have computed on four processes is right in every tensor,
// forward and backward. In bfloat16 all matmuls have its bits; the order of gloo's ring explains
// every element of its sums in both types.
func TestLayerOfTorch(t *testing.T) {
	for dtype, same := range map[string][]string{
		"float32": {"partial_grad", "tokens"},
		"bfloat16": {"down_grad", "h", "h_grad", "partial", "partial_grad", "tokens", "tokens_grad", "u",
			"u_grad", "up_grad"},
	} {
		path, text := layerOf(t, dtype)
		r, err := runLayer(t, path, text)
		require.NoError(t, err)
		require.True(t, r.Good())
		require.Equal(t, "bounded", r.Numbers)
		require.Zero(t, r.Scaled)
		require.Len(t, r.Compared, 12)
		require.Equal(t, same, equals(r), dtype)
		for i := range r.Compared {
			c := &r.Compared[i]
			require.Zero(t, c.Beyond, "%s %s", dtype, c.Tensor)
			require.False(t, c.Unbounded, "%s %s", dtype, c.Tensor)
			sum := c.Tensor == "y" || c.Tensor == "x_grad"
			require.Equal(t, sum, c.Order != nil, c.Tensor)
			if !sum {
				continue
			}
			require.Positive(t, c.Order.Different)
			require.True(t, c.Order.First.All(), "%s %s", dtype, c.Tensor)
			require.Equal(t, []string{"the reverse, rotated by 1: r3 first"}, c.Order.First.Gives)
		}
	}
}

// TestWrongLayer: of a layer that is not torch's, the op is named that is not, and none that only
// passes on what it is given.
func TestWrongLayer(t *testing.T) {
	swapped := "\n[[program.group]]\nname = \"swapped\"\nranks = [[1, 0, 2, 3]]\n"
	for _, c := range []struct {
		name, set, more string
		wrong           []string
		ranks           int
	}{
		{"a weight is transposed", "program.op[1].kernel=matmul transpose=b", "",
			[]string{"u", "tokens_grad", "up_grad"}, 4},
		{"two ranks have each other's tokens", "program.tensor[0].group=swapped", swapped,
			[]string{"tokens", "x_grad"}, 4},
		{"a gradient is another's", "program.tensor[9].gradient_of_output=x.npy", "",
			[]string{"partial_grad"}, 4},
		{"an activation is left out", "program.op[2].kernel=scale by=1", "", []string{"h", "u_grad"}, 4},
	} {
		path, text := layerOf(t, "bfloat16")
		writeFirst(t, filepath.Join(filepath.Dir(path), "x.npy"), filepath.Dir(path))
		r, err := runLayer(t, path, text+c.more, c.set)
		require.NoError(t, err, c.name)
		require.False(t, r.Good(), c.name)
		var wrong []string
		for i := range r.Compared {
			if r.Compared[i].Beyond > 0 {
				wrong = append(wrong, r.Compared[i].Tensor)
			}
		}
		require.Equal(t, c.wrong, wrong, c.name)
		first := run.FirstOf(r.Compared, func(c *run.TensorComparison) bool { return c.Beyond > 0 })
		require.Equal(t, c.wrong[0], first.Tensor, c.name)
		require.Equal(t, c.ranks, first.BeyondRanks, c.name)
	}
}

// writeFirst writes a tensor x of a layer's file into a file of its own.
func writeFirst(t *testing.T, to, dir string) {
	t.Helper()
	f, err := arrays.Open(filepath.Join(dir, "torch-layer-bfloat16.safetensors"), 0)
	require.NoError(t, err)
	defer f.Close()
	for i, a := range f.Arrays() {
		if a.Name == "x" {
			a, err = f.Read(i)
			require.NoError(t, err)
			require.NoError(t, arrays.Write(to, []arrays.Array{a}))
		}
	}
}

// TestOneElementIsFound: one changed element of one rank is what is reported, and where.
func TestOneElementIsFound(t *testing.T) {
	path, text := layerOf(t, "bfloat16")
	name := filepath.Join(filepath.Dir(path), "torch-layer-bfloat16.safetensors")
	f, err := arrays.Open(name, 0)
	require.NoError(t, err)
	var all []arrays.Array
	for i, a := range f.Arrays() {
		a, err = f.Read(i)
		require.NoError(t, err)
		if a.Name == "partial" { // [4, 16, 32] of 2 bytes
			at := ((2*16+5)*32 + 7) * 2
			a.Data[at+1] ^= 0x80 // its sign
		}
		all = append(all, a)
	}
	require.NoError(t, f.Close())
	require.NoError(t, arrays.Write(name, all))
	r, err := runLayer(t, path, text)
	require.NoError(t, err)
	require.False(t, r.Good())
	first := run.FirstOf(r.Compared, func(c *run.TensorComparison) bool { return c.Beyond > 0 })
	require.Equal(t, "partial", first.Tensor)
	require.Equal(t, "fall", first.Op)
	require.EqualValues(t, 1, first.Beyond)
	require.Equal(t, 2, first.FirstBeyond.Rank)
	require.EqualValues(t, 5*32+7, first.FirstBeyond.Element)
	require.Equal(t, first.FirstBeyond.Element, first.First.Element)
	// The sum is one of what theirs have added up, the changed element among it: y is off by the
	// op's definition there, too, and nowhere else.
	last := run.FirstOf(r.Compared, func(c *run.TensorComparison) bool { return c.Tensor == "y" })
	require.EqualValues(t, 1, last.Beyond)
	require.Equal(t, 1, last.FirstBeyond.Rank, "rows 4 to 7 are rank 1's")
}

// TestDataMistakes: each is refused at its key, before anything is computed.
func TestDataMistakes(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"program.tensor[0].placement=shard(2)", "has shape 16x32 there; along axis 2"},
		{"program.tensor[0].placement=shard", `"shard" is no placement`},
		{"program.tensor[0].placement=[\"shard(0)\",\"replicate\"]",
			"2 placements; without a mesh one is expected"},
		{"program.tensor[3].placement=shard(0)", "has shape 16x32 there, 4x32 on a rank"},
		{"program.tensor[3].input=torch-layer-bfloat16.safetensors",
			"tokens is written by an op; input is of what is given"},
		{"program.tensor[0].compare=torch-layer-bfloat16.safetensors",
			"x is given; output and compare are of what an op writes"},
		{"program.tensor[0].dtype=float32", "bfloat16"},
		{"program.tensor[0].shape=[8, 32]", "it has shape 8x32 in the program"},
		{"program.tensor[0].group=tp", `no group is called "tp"`},
		{"program.tensor[7].group=all", "it says who has the whole tensor"},
		{"program.tensor[0].input=none.npy", "no such file"},
		{"program.tensor[0].input=x{rank}.npy", "a file a rank; with placement"},
		{"program.tensor[7].compare=x{kind}.npy", "stands for nothing"},
		{"program.tensor[7].memory=symmetric", "it takes a shape beside it"},
		{"program.tensor[7].name=nobody", "there is no tensor nobody"},
		{"program.gradient=none", "there is no backward pass"},
		{"check.numbers=false", "needs numbers"},
		{"check.memory=1KiB", "a program with data is computed at its own size"},
	} {
		path, text := layerOf(t, "bfloat16")
		_, err := runLayer(t, path, text, c.set)
		require.ErrorContains(t, err, c.want, c.set)
		var several *scenarios.Errors
		var one *scenarios.Error
		if errors.As(err, &several) {
			one = several.List[0]
		} else {
			require.ErrorAs(t, err, &one, c.set)
		}
		require.NotEmpty(t, one.Key, c.set)
		require.NotContains(t, err.Error(), "missing", c.set)
	}
}

// TestOutputsReadBack: what a program writes is what it is compared with: the same bits, whole, by
// rank, in one file or in several, under passes that leave no memory to a tensor.
func TestOutputsReadBack(t *testing.T) {
	path, text := layerOf(t, "float32")
	for name, shape := range map[string][]int64{"whole": {16, 128}, "ranks": {4, 16, 32}} {
		out := text
		if name == "ranks" { // the first axis is the rank, of what ops write
			head, tail, _ := strings.Cut(out, `name = "tokens"`)
			out = head + `name = "tokens"` + strings.NewReplacer("placement = \"replicate\"\n", "",
				"placement = \"shard(1)\"\n", "", "placement = \"shard(0)\"\n", "",
				"gradient_of_output = \"torch-layer-float32.safetensors\"\n", "").Replace(tail)
		}
		file := filepath.Join(filepath.Dir(path), name+".safetensors")
		made := strings.NewReplacer("compare_gradient = \"torch", "gradient_of_input = \""+name+"\" # ",
			"compare = \"torch", "output = \""+name+"\" # ").Replace(out)
		r, err := runLayer(t, path, made)
		require.NoError(t, err)
		require.Len(t, r.Outputs, 12)
		var all []arrays.Array
		for _, one := range r.Outputs {
			a := one.Arrays[0]
			if !one.Of.Whole {
				a, err = arrays.Stack(one.Arrays)
				require.NoError(t, err)
				a.Name = one.Name
			}
			all = append(all, a)
		}
		require.NoError(t, arrays.WriteResults(file, all))
		back := strings.NewReplacer("compare_gradient = \"torch-layer-float32", "compare_gradient = \""+
			name, "compare = \"torch-layer-float32", "compare = \""+name).Replace(out)
		for _, set := range [][]string{nil, {"lowering.reuse=true", "lowering.in_place=true"}} {
			r, err = runLayer(t, path, back, set...)
			require.NoError(t, err)
			require.Len(t, equals(r), 12, "%s %v", name, set)
			require.True(t, r.Good())
		}
		at := slices.IndexFunc(all, func(a arrays.Array) bool { return a.Name == "u" })
		require.Equal(t, shape, all[at].Shape)
	}
}
