package arrays

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/internal/tensor"
)

// seed adds the files of testdata/files that have a format.
func seed(f *testing.F, format string) {
	files, err := filepath.Glob(filepath.Join("testdata", "files", "*"+format))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, name := range files {
		file, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(file)
	}
}

// try reads any bytes as a format: they are refused in one line, or what they hold has the size
// that its shape needs, no more than growth times the file, and is the same when it was written.
func try(t *testing.T, format string, file []byte, growth int) {
	name := "x" + format
	arrays, err := readBytes(name, file)
	if err != nil {
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, name, e.File)
		require.NotContains(t, err.Error(), "\n")
		require.Less(t, len(err.Error()), 4000)
		return
	}
	total := 0
	for _, a := range arrays {
		size, err := tensor.Size(a.Shape, a.Width)
		require.NoError(t, err)
		require.Len(t, a.Data, int(size))
		require.NotNil(t, a.Data)
		require.Equal(t, size, a.Count()*int64(a.Width))
		total += len(a.Data)
	}
	require.LessOrEqual(t, total, growth*len(file))
	again(t, format, arrays)
}

// again writes arrays that were read, and reads them.
func again(t *testing.T, format string, arrays []Array) {
	for i, a := range arrays {
		c, err := tensor.Checked(&a)
		require.NoError(t, err)
		arrays[i] = c
	}
	if err := checkNames(format, arrays); err != nil {
		require.True(t, arrays[0].Name == "" || strings.Contains(err.Error(), `""`), err)
		return // an archive's ".npy" has no name that may be written
	}
	var file bytes.Buffer
	require.NoError(t, encode(&file, format, arrays, false))
	got, err := readBytes("x"+format, file.Bytes())
	require.NoError(t, err)
	require.Len(t, got, len(arrays))
	if format == tensor.Safetensors {
		return // in another order; its names are compared by TestThereAndBack
	}
	for i, a := range arrays {
		require.Equal(t, a.Name, got[i].Name)
		require.Equal(t, a.Shape, got[i].Shape)
		require.Equal(t, a.Data, got[i].Data)
	}
}

func FuzzNPY(f *testing.F) {
	seed(f, tensor.NPY)
	f.Fuzz(func(t *testing.T, file []byte) { try(t, tensor.NPY, file, 1) })
}

func FuzzNPZ(f *testing.F) {
	seed(f, tensor.NPZ)
	const most = 1032 // bytes that deflate can make of one
	f.Fuzz(func(t *testing.T, file []byte) { try(t, tensor.NPZ, file, most+1) })
}

func FuzzSafetensors(f *testing.F) {
	seed(f, tensor.Safetensors)
	f.Fuzz(func(t *testing.T, file []byte) { try(t, tensor.Safetensors, file, 1) })
}
