package arrays

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// described is a tensor as testdata/roundtrip.py speaks of it.
type described struct {
	DType string  `json:"dtype"`
	Shape []int64 `json:"shape"`
	Hex   string  `json:"hex"`
}

type manifest map[string]map[string]described // by file and tensor

// TestPython has NumPy, ml_dtypes and safetensors read what this package wrote, and then this
// package what they write: each type in each format, big-endian, in Fortran order, deflated. A .npy
// or .safetensors of Go's must be what numpy.save or save_file write, byte for byte.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("left out: there is no python3")
	}
	need := exec.Command(python, "-c", "import numpy, ml_dtypes, safetensors.numpy")
	if out, err := need.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Skip("left out: python3 cannot import numpy, ml_dtypes and safetensors: ",
			lines[len(lines)-1])
	}
	dir := t.TempDir()
	writeAll(t, dir)
	script := exec.Command(python, filepath.Join("testdata", "roundtrip.py"), dir)
	out, err := script.CombinedOutput()
	require.NoError(t, err, string(out))

	text, err := os.ReadFile(filepath.Join(dir, "python.json"))
	require.NoError(t, err)
	var written manifest
	require.NoError(t, json.Unmarshal(text, &written))
	require.Len(t, written, 104)
	for _, file := range slices.Sorted(maps.Keys(written)) {
		f, err := Open(filepath.Join(dir, file), 0)
		require.NoError(t, err)
		arrays, err := readAll(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Len(t, arrays, len(written[file]), file)
		for _, a := range arrays {
			want, ok := written[file][a.Name]
			require.True(t, ok, "%s: %q", file, a.Name)
			require.Equal(t, want, describe(t, a, want.DType), "%s: %q", file, a.Name)
		}
	}
}

// writeAll writes each type and some shapes in each format, and go.json.
func writeAll(t *testing.T, dir string) {
	written := manifest{}
	write := func(file string, arrays ...Array) {
		require.NoError(t, Write(filepath.Join(dir, file), arrays))
		written[file] = map[string]described{}
		for _, a := range arrays {
			if strings.HasSuffix(file, tensor.NPY) {
				a.Name = ""
			}
			written[file][a.Name] = describe(t, a, a.Type.String())
		}
	}
	shapes := [][]int64{{2, 3, 4}, {}, {5}, {0, 3}}
	source := rand.NewChaCha8([32]byte{1})
	for i, dt := range dtype.All() {
		var arrays []Array
		for j, shape := range shapes {
			size, err := tensor.Size(shape, dt.Width())
			require.NoError(t, err)
			a := Array{Name: fmt.Sprintf("rank%d", j), Type: dt, Shape: shape,
				Data: make([]byte, size)}
			_, err = source.Read(a.Data)
			require.NoError(t, err)
			for k := range a.Data {
				if dt == dtype.Bool {
					a.Data[k] &= 1
				}
			}
			arrays = append(arrays, a)
		}
		write(dt.String()+tensor.NPY, arrays[i%3])
		write(dt.String()+tensor.NPZ, arrays...)
		if dt != dtype.Complex128 { // which the format lacks
			write(dt.String()+tensor.Safetensors, arrays...)
		}
	}
	write("empty.npy", Array{Type: dtype.Float32, Shape: []int64{0, 3}, Data: []byte{}})
	ranks := []Array{{Type: dtype.Float32, Shape: []int64{2}, Data: make([]byte, 8)},
		{Type: dtype.Float32, Shape: []int64{2}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 64}}}
	for _, ending := range []string{tensor.NPY, tensor.NPZ, tensor.Safetensors} {
		file := filepath.Join(dir, "marked"+ending)
		require.NoError(t, WriteRanks(file, ranks))
		f, err := Open(file, 0)
		require.NoError(t, err)
		arrays, err := readAll(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		written["marked"+ending] = map[string]described{}
		for _, a := range arrays {
			written["marked"+ending][a.Name] = describe(t, a, a.Type.String())
		}
	}
	text, err := json.Marshal(written)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.json"), text, 0o644))
}

// describe returns an array as one of a type that is named.
func describe(t *testing.T, a Array, name string) described {
	dt, err := dtype.Parse(name)
	require.NoError(t, err)
	a, err = a.As(dt)
	require.NoError(t, err)
	return described{a.Type.String(), a.Shape, hex.EncodeToString(a.Data)}
}
