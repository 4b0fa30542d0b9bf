package run_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/run"
)

// spectra is a program of all kernels that take complex numbers, with TYPE for the type of its
// tensors and an axis more, of two, where they are floats.
const spectra = `
[topology]
preset = "full-mesh"
ranks = 4
bandwidth = "10 GB/s"
latency = "1 us"
[[program.tensor]]
name = "z"
input = "z.npy"
[[program.tensor]]
name = "w"
input = "w.npy"
[[program.tensor]]
name = "s"
THEIRS = "s.npz"
[[program.tensor]]
name = "sums"
THEIRS = "sums.npz"
[[program.tensor]]
name = "part"
output = "part.npy"
[[program.tensor]]
name = "rows"
output = "rows.npy"
[[program.op]]
name = "plus"
kernel = "add"
in = ["z", "w"]
out = "s"
[[program.op]]
name = "sum"
call = "all_reduce"
in = "s"
out = "sums"
algorithm = "ring"
[[program.op]]
name = "half"
kernel = "scale by=0.3"
in = "sums"
out = "scaled"
[[program.op]]
name = "scatter"
call = "reduce_scatter avg axis 1"
in = "scaled"
out = "part"
[[program.op]]
name = "mean"
kernel = "mean axis=0"
in = "scaled"
out = "rows"
`

// TestComplexProgramIsOneOfPairs: a program on complex numbers has the bytes of the same program on
// pairs of floats.
func TestComplexProgramIsOneOfPairs(t *testing.T) {
	text := strings.ReplaceAll(spectra, "THEIRS", "output")
	outputs := map[dtype.Type]map[string][]byte{}
	for _, typ := range []dtype.Type{dtype.Complex64, dtype.Float32} {
		dir := spectraFiles(t, typ)
		r, err := runLayer(t, filepath.Join(dir, "p.toml"), text)
		require.NoError(t, err)
		require.True(t, r.Good())
		require.Equal(t, "bounded", r.Numbers)
		outputs[typ] = map[string][]byte{}
		for _, out := range r.Outputs {
			for _, a := range out.Arrays {
				require.Equal(t, typ, a.Type)
				outputs[typ][out.Name] = append(outputs[typ][out.Name], a.Data...)
			}
		}
	}
	require.Len(t, outputs[dtype.Float32], 4)
	require.Len(t, outputs[dtype.Float32]["part"], 4*6*2*8)
	require.Equal(t, outputs[dtype.Float32], outputs[dtype.Complex64])
}

// spectraFiles writes z.npy and w.npy for 4 ranks, of complex numbers or of pairs of floats.
func spectraFiles(t *testing.T, typ dtype.Type) string {
	t.Helper()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	shape := []int64{4, 6, 8, 2}
	if typ.IsComplex() {
		shape = shape[:3]
	}
	for _, name := range []string{"z.npy", "w.npy"} {
		var data []byte
		for range 4 * 6 * 8 * 2 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(rng.NormFloat64())))
		}
		require.NoError(t, arrays.Write(filepath.Join(dir, name),
			[]arrays.Array{{Type: typ, Shape: shape, Data: data}}))
	}
	return dir
}

// TestComplexCompared: elements of theirs are counted, not their components; a part that is wrong
// is told of its complex number.
func TestComplexCompared(t *testing.T) {
	dir := spectraFiles(t, dtype.Complex64)
	path := filepath.Join(dir, "p.toml")
	r, err := runLayer(t, path, strings.ReplaceAll(spectra, "THEIRS", "output"))
	require.NoError(t, err)
	require.NoError(t, arrays.WriteRanks(filepath.Join(dir, "s.npz"), tensorOf(r, "s").Arrays))
	var theirs []arrays.Array
	for rank, a := range tensorOf(r, "sums").Arrays {
		a.Data = append([]byte{}, a.Data...)
		if rank == 2 { // both parts of one number, and the imaginary one of another
			a.Data[8*9+3] ^= 0x40
			a.Data[8*9+7] ^= 0x40
			a.Data[8*13+7] ^= 0x40
		}
		theirs = append(theirs, a)
	}
	require.NoError(t, arrays.WriteRanks(filepath.Join(dir, "sums.npz"), theirs))
	r, err = runLayer(t, path, strings.ReplaceAll(spectra, "THEIRS", "compare"))
	require.NoError(t, err)
	require.Len(t, r.Compared, 2)
	require.Zero(t, r.Compared[0].Different)
	c := &r.Compared[1]
	require.EqualValues(t, 4*6*8, c.Elements)
	require.EqualValues(t, 2, c.Different)
	require.EqualValues(t, 2, c.Beyond)
	require.LessOrEqual(t, c.Rounded, c.Elements-2) // the ring rounds otherwise than the definition
	require.EqualValues(t, 9, c.FirstBeyond.Element)
	require.Equal(t, 2, c.FirstBeyond.Rank)
	require.Regexp(t, `^0x[0-9a-f]{8},0x[0-9a-f]{8} \(.*i\)$`, c.FirstBeyond.Theirs.String())
	require.NotNil(t, c.Order)
	require.EqualValues(t, 2, c.Order.Wrong)
}

// tensorOf is what a program gives out of a tensor.
func tensorOf(r *run.ProgramResult, name string) *run.TensorOutput {
	for i := range r.Outputs {
		if r.Outputs[i].Name == name {
			return &r.Outputs[i]
		}
	}
	panic("no tensor of that name")
}
