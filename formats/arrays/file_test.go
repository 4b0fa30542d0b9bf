package arrays

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// TestStarts shows what is said of files that are something else than their names say.
func TestStarts(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"x.npy", "", "is empty; a .npy is expected"},
		{"x.npy", "\x93NUM", "ends after 4 bytes; a .npy is expected"},
		{"x.npy", "\x93NUMPY\x01\x00", "ends within its header"},
		{"x.npy", "\x93NUMPY\x01\x00\x10", "ends within its header"},
		{"x.npy", "PK\x03\x04\x14\x00\x00\x00", "begins like a zip archive (a .npz, or a pickle of" +
			" PyTorch); a .npy is expected"},
		{"x.npz", "\x93NUMPY\x01\x00", "begins like a .npy; a .npz is expected"},
		{"x.npz", "\x10\x00\x00\x00\x00\x00\x00\x00{}", `begins like "\x10\x00\x00\x00\x00\x00\x00` +
			`\x00"; a .npz is expected`},
		{"x.npz", "", "is empty; a .npz is expected"},
		{"x.safetensors", "1234567", "ends after 7 bytes; a .safetensors is expected"},
		{"x.safetensors", "\x93NUMPY\x01\x00", "begins like a .npy; a .safetensors is expected"},
		{"x.safetensors", "\x00\x00\x00\x00\x00\x00\x00\x00", `its header begins with ""; '{' is` +
			` expected`},
		{"x.safetensors", "\x03\x00\x00\x00\x00\x00\x00\x00 {}", `its header begins with " {}"; '{'` +
			` is expected`},
		{"x.safetensors", "\x04\x00\x00\x00\x00\x00\x00\x00{\"\xff\"", "its header is not in UTF-8"},
		{"x.csv", "", "a name that ends in .npy, .npz or .safetensors is expected"},
		{"x.pt", "", "a name that ends in .npy, .npz or .safetensors is expected; a pickle of" +
			" PyTorch becomes one with safetensors.torch.save_file"},
	}
	for _, tt := range tests {
		_, err := readBytes(tt.name, []byte(tt.file))
		require.EqualError(t, err, ""+tt.name+": "+tt.want)
	}
}

// TestClaimsTakeNoMemory opens files whose headers claim much more than they have.
func TestClaimsTakeNoMemory(t *testing.T) {
	head := func(header string, version byte, length uint32) []byte {
		file := append([]byte(tensor.MagicNPY), version, 0)
		return append(binary.LittleEndian.AppendUint32(file, length), header...)
	}
	shape := func(s string) []byte {
		header := "{'descr': '<f8', 'fortran_order': True, 'shape': (" + s + ",)}"
		return head(header, 2, uint32(len(header)))
	}
	tests := []struct {
		name string
		file []byte
	}{
		{"x.npy", shape("1000000000000")},
		{"x.npy", shape(strings.Repeat("9,", 19) + "9")},
		{"x.npy", head("{}", 2, 1<<20)},
		{"x.npy", head("{}", 3, 1<<32-1)},
		{"x.safetensors", append(binary.LittleEndian.AppendUint64(nil, tensor.MaxHeader), '{')},
		{"x.safetensors", []byte("\x40\x00\x00\x00\x00\x00\x00\x00" +
			`{"a":{"dtype":"F64","shape":[125000000000],"data_offsets":[0,1e12]}}`)[:8+64]},
		{"x.npz", archive(t, member{make([]byte, 200), honest("a.npy", shape("9")).FileHeader})},
		{"x.npz", archive(t, honest("a.npy", shape("1000000000000")))},
	}
	for _, tt := range tests {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewFile(tt.name, bytes.NewReader(tt.file), int64(len(tt.file)), 0)
		runtime.ReadMemStats(&after)
		require.Error(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<10), "%v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none.npy"), 0)
	require.EqualError(t, err, ""+filepath.Join(dir, "none.npy")+
		": no such file or directory")
	require.ErrorIs(t, err, fs.ErrNotExist)
	var e *Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, filepath.Join(dir, "none.npy"), e.File)

	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.npz"), 0o755))
	_, err = Open(filepath.Join(dir, "dir.npz"), 0)
	require.ErrorContains(t, err, "is a directory")
	_, err = Open("anything.txt", 0)
	require.ErrorContains(t, err, "a name that ends in .npy, .npz or .safetensors is expected")
}

// TestFileShrinks reads elements of a file that was cut after it was opened.
func TestFileShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	a := Array{Type: dtype.Float32, Shape: []int64{4}, Data: make([]byte, 16)}
	require.NoError(t, Write(path, []Array{a}))
	f, err := Open(path, 0)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 128+6))
	_, err = f.Read(0)
	require.EqualError(t, err, ""+path+": ends after 6 of the 16 bytes that its shape needs")
	require.NoError(t, f.Close())
}

// TestCallersCannotChangeAFile changes what a file gave out.
func TestCallersCannotChangeAFile(t *testing.T) {
	file := whole(t, Array{Type: dtype.Int16, Shape: []int64{2}, Data: []byte{1, 2, 3, 4}})
	f, err := NewFile("x.npy", bytes.NewReader(file), int64(len(file)), 0)
	require.NoError(t, err)
	first, err := f.Read(0)
	require.NoError(t, err)
	first.Data[0], first.Shape[0] = 9, 9
	f.Arrays()[0].Name = "other"
	f.Arrays()[0].Shape[0] = 9
	again, err := f.Read(0)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3, 4}, again.Data)
	require.Equal(t, []int64{2}, again.Shape)
	require.Empty(t, again.Name)
}

// TestDevices writes to what is no ordinary file, and reads no such file.
func TestDevices(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip("left out: there is no /dev/null")
	}
	path := filepath.Join(t.TempDir(), "null.npy")
	require.NoError(t, os.Symlink("/dev/null", path))
	require.NoError(t, Write(path, []Array{{Type: dtype.Uint8, Data: []byte{1}}}))
	_, err := Open(path, 0)
	require.EqualError(t, err, ""+path+": is a device; a regular file is expected")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "it is still there")
}

// TestAnyCount: a rank with Any may have any number of elements, one with Nothing none at all.
func TestAnyCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "any.npz")
	require.NoError(t, WriteRanks(path, []Array{
		{Type: dtype.Uint8, Shape: []int64{3}, Data: []byte{1, 2, 3}},
		{Type: dtype.Uint8, Shape: []int64{1, 1}, Data: []byte{4}},
	}))
	ranks, err := ReadRanks(path, Want{Ranks: 2, Type: dtype.Uint8, Counts: []int64{Any, Nothing}})
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3}, ranks[0].Data)
	require.Nil(t, ranks[1].Data)
	_, err = ReadRanks(path, Want{Ranks: 2, Type: dtype.Uint8, Counts: []int64{Any, 2}})
	require.ErrorContains(t, err, "a count of 1; a count of 2 is expected")
}

// TestReadAsBools: bytes of another type are taken for bools if all are 0 or 1, and complex128 is
// in no .safetensors.
func TestReadAsBools(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npz")
	for _, last := range []byte{1, 2} {
		require.NoError(t, Write(path, []Array{{Name: "rank0", Type: dtype.Uint8, Shape: []int64{2},
			Data: []byte{0, last}}}))
		ranks, err := ReadRanks(path, Want{Ranks: 1, Type: dtype.Bool})
		if last == 1 {
			require.NoError(t, err)
			require.Equal(t, dtype.Bool, ranks[0].Type)
			continue
		}
		require.ErrorContains(t, err, `tensor "rank0": element 1 is 2; 0 or 1 is expected of a bool`)
		_, err = ReadRanks(path, Want{Ranks: 1, Type: dtype.Uint8})
		require.NoError(t, err)
	}
	wide := filepath.Join(dir, "x.safetensors")
	err := Write(wide, []Array{{Name: "z", Type: dtype.Complex128, Shape: []int64{1},
		Data: make([]byte, 16)}})
	require.ErrorContains(t, err, "is of complex128, which a .safetensors cannot have")
	require.NoFileExists(t, wide)
}
