package arrays

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// TestGoldenBytes pins what is written; .npy and .safetensors are also what NumPy and safetensors
// write (TestPython).
func TestGoldenBytes(t *testing.T) {
	arrays := []Array{
		{Name: "rank0", Type: dtype.BFloat16, Shape: []int64{3}, Data: unhex(t, "803f004040c0")},
		{Name: "rank1", Type: dtype.BFloat16, Shape: []int64{}, Data: unhex(t, "803f")},
	}
	dir := t.TempDir()
	written := func(name string, arrays []Array) string {
		path := filepath.Join(dir, name)
		require.NoError(t, Write(path, arrays))
		first, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, Write(path, arrays))
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, first, again, "twice the same")
		return string(first)
	}
	require.Equal(t, "\x93NUMPY\x01\x00\x76\x00"+
		"{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }"+
		"                                                            \n"+
		"\x80\x3f\x00\x40\x40\xc0", written("a.npy", arrays[:1]))
	require.Equal(t, "\x78\x00\x00\x00\x00\x00\x00\x00"+
		`{"rank0":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]},`+
		`"rank1":{"dtype":"BF16","shape":[],"data_offsets":[6,8]}}    `+
		"\x80\x3f\x00\x40\x40\xc0\x80\x3f", written("a.safetensors", arrays))
	require.Equal(t, "\x08\x00\x00\x00\x00\x00\x00\x00{}      ", written("none.safetensors", nil))
	npz := written("a.npz", arrays)
	require.Equal(t, "504b03041400080000000000210000000000000000000000000009000900", // local header
		hex.EncodeToString([]byte(npz[:30])))
	require.Equal(t, "rank0.npy", npz[30:39])
}

// TestAlignment writes wide elements first, and keeps the order of equal ones.
func TestAlignment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.safetensors")
	require.NoError(t, Write(path, []Array{
		{Name: "narrow", Type: dtype.Uint8, Shape: []int64{3}, Data: []byte{1, 2, 3}},
		{Name: "wide", Type: dtype.Uint32, Shape: []int64{1}, Data: []byte{4, 5, 6, 7}},
		{Name: "also", Type: dtype.Int8, Shape: []int64{1}, Data: []byte{8}},
	}))
	f, err := Open(path, 0)
	require.NoError(t, err)
	var names []string
	for _, a := range f.Arrays() {
		names = append(names, a.Name)
	}
	require.Equal(t, []string{"wide", "narrow", "also"}, names)
	require.NoError(t, f.Close())
}

func TestWriteErrors(t *testing.T) {
	one := Array{Name: "a", Type: dtype.Uint8, Shape: []int64{1}, Data: []byte{1}}
	with := func(change func(a *Array)) []Array {
		a := one
		change(&a)
		return []Array{a}
	}
	tests := []struct {
		file   string
		arrays []Array
		want   string
	}{
		{"x.txt", nil, "a name that ends in .npy, .npz or .safetensors is expected"},
		{"x.npy", nil, "a .npy holds one array, not 0"},
		{"x.npy", []Array{one, one}, "a .npy holds one array, not 2"},
		{"x.npz", []Array{one, one}, `two tensors are called "a"`},
		{"x.npz", with(func(a *Array) { a.Name = "" }), `a tensor cannot be called ""`},
		{"x.safetensors", with(func(a *Array) { a.Name = "__metadata__" }),
			`a tensor cannot be called "__metadata__"`},
		{"x.safetensors", with(func(a *Array) { a.Type, a.Width = 0, 1 }),
			`tensor "a": is void of 1 byte; a .safetensors has types alone`},
		{"x.npz", with(func(a *Array) { a.Type, a.Width = 0, 3 }),
			`tensor "a": has neither a type nor a width of 1, 2, 4 or 8 bytes`},
		{"x.npz", with(func(a *Array) { a.Type = 200 }),
			`tensor "a": has type dtype.Type(200), which does not exist`},
		{"x.npz", with(func(a *Array) { a.Shape = []int64{2} }),
			`tensor "a": has 1 byte of data; its shape (2,) of uint8 needs 2`},
		{"x.npz", with(func(a *Array) { a.Shape = []int64{-1} }),
			`tensor "a": has shape (-1,); axes of 0 or more are expected`},
		{"none/x.npz", []Array{one}, "cannot be written: no such file or directory"},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		path := filepath.Join(dir, tt.file)
		require.EqualError(t, Write(path, tt.arrays), ""+path+": "+tt.want)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, "nothing stays behind")
	}
}

// TestReplace sees that a file keeps its mode, a link its target, and nothing stays behind.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.npy"), filepath.Join(dir, "link.npy")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Symlink("a.npy", link))
	a := Array{Type: dtype.Uint8, Shape: []int64{1}, Data: []byte{7}}
	require.NoError(t, Write(link, []Array{a}))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, whole(t, a), got)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2)
	require.Error(t, Write(dir+"/a.npy/b.npy", []Array{a}))
}

// TestRanksThereAndBack writes ranks in every way, and reads them.
func TestRanksThereAndBack(t *testing.T) {
	rank := func(data ...byte) Array {
		return Array{Type: dtype.Float8E5M2, Shape: []int64{int64(len(data))},
			Data: append([]byte{}, data...)}
	}
	even := []Array{rank(1, 2), rank(3, 4), rank(5, 6)}
	uneven := []Array{rank(1, 2), {}, rank()}
	tests := []struct {
		file   string
		ranks  []Array
		counts []int64
	}{
		{"a.npy", even, []int64{2, 2, 2}}, {"a.npz", even, nil}, {"a.safetensors", even, nil},
		{"a.npz", uneven, []int64{2, Nothing, 0}}, {"a.safetensors", uneven, []int64{2, Nothing, 0}},
		{"{rank}.npy", even, nil}, {"a-{rank}.npz", uneven, []int64{2, Nothing, 0}},
		{"{rank}-{rank}.safetensors", even, []int64{2, 2, 2}},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), tt.file)
		require.NoError(t, WriteRanks(path, tt.ranks), tt.file)
		got, err := ReadRanks(path, Want{Ranks: 3, Type: dtype.Float8E5M2, Counts: tt.counts})
		require.NoError(t, err, tt.file)
		require.Len(t, got, 3)
		for r, a := range got {
			require.Equal(t, tt.ranks[r].Type, a.Type, tt.file)
			require.Equal(t, tt.ranks[r].Shape, a.Shape, tt.file)
			require.True(t, bytes.Equal(tt.ranks[r].Data, a.Data), tt.file)
			require.Equal(t, tt.ranks[r].Data == nil, a.Data == nil, tt.file)
		}
	}
}

func TestRanksErrors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	a := Array{Type: dtype.Uint8, Shape: []int64{1}, Data: []byte{1}}
	b := Array{Type: dtype.Int8, Shape: []int64{1}, Data: []byte{1}}
	require.EqualError(t, WriteRanks(at("a.npy"), []Array{a, {}}), ""+at("a.npy")+
		": a .npy cannot leave out ranks, and 1 of 2 have data; .npz or .safetensors can")
	require.EqualError(t, WriteRanks(at("a.npy"), []Array{a, b}), ""+at("a.npy")+
		": rank0 is (1,) of uint8, rank1 is (1,) of int8; a .npy has one shape and type for all,"+
		" .npz and .safetensors do not")
	require.ErrorContains(t, WriteRanks(at("a.npy"), nil), "0 of 0 have data")
	require.ErrorContains(t, WriteRanks(at("a.npy"), []Array{{Shape: []int64{1}}}),
		"has neither a type nor a width")

	require.NoError(t, WriteRanks(at("{rank}.npy"), []Array{a, b}))
	_, err := ReadRanks(at("{rank}.npy"), Want{Ranks: 3})
	require.EqualError(t, err, ""+at("2.npy")+": no such file or directory")
	_, err = ReadRanks(at("{rank}.npy"), Want{Ranks: 0})
	require.ErrorContains(t, err, "0 ranks cannot have data")
	_, err = ReadRanks(at("{rank}.npy"), Want{Ranks: 2, Counts: []int64{1, 2}})
	require.EqualError(t, err, ""+at("1.npy")+
		": gives rank 1 shape (1,), a count of 1; a count of 2 is expected")
	require.NoError(t, WriteRanks(at("0.npz"), []Array{a, b}))
	_, err = ReadRanks(at("{rank}.npz"), Want{Ranks: 1})
	require.EqualError(t, err, ""+at("0.npz")+
		`: holds tensors "rank0", "rank1"; one is expected, that of rank 0`)
	require.PanicsWithValue(t, "arrays: 1 counts for 2 ranks", func() {
		_, _ = ReadRanks(at("0.npz"), Want{Ranks: 2, Counts: []int64{1}})
	})
}
