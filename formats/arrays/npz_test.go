package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
	"collsim/formats/npy"
)

// member is a file in an archive, with what the archive says of it.
type member struct {
	text []byte
	zip.FileHeader
}

// archive makes a zip archive of members as they are.
func archive(t *testing.T, members ...member) []byte {
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, m := range members {
		part, err := w.CreateRaw(&m.FileHeader)
		require.NoError(t, err)
		_, err = part.Write(m.text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// honest returns a member that says of itself what is true.
func honest(name string, text []byte) member {
	return member{text, zip.FileHeader{Name: name, CRC32: crc32.ChecksumIEEE(text),
		CompressedSize64: uint64(len(text)), UncompressedSize64: uint64(len(text))}}
}

// whole returns a .npy of one array.
func whole(t testing.TB, a Array) []byte {
	a, err := tensor.Checked(&a)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, npy.Write(&file, &a))
	return file.Bytes()
}

// TestArchivesThatLie lists what is wrong with archives, as it is said.
func TestArchivesThatLie(t *testing.T) {
	text := whole(t, Array{Type: dtype.Uint8, Shape: []int64{3}, Data: []byte{1, 2, 3}}) // 131 bytes
	changed := func(change func(*member)) []member {
		m := honest("rank0.npy", text)
		change(&m)
		return []member{m}
	}
	tests := []struct {
		name    string
		members []member
		want    string
	}{
		{"no array", []member{honest("read.me", text)},
			`tensor "read.me": is no .npy; arrays alone are expected`},
		{"twice", []member{honest("a.npy", text), honest("a.npy", text)},
			`tensor "a": is there twice`},
		{"no .npy inside", []member{honest("a.npy", []byte("0123456789"))},
			`tensor "a": begins like "01234567"; a .npy is expected`},
		{"shorter than its shape", []member{honest("a.npy", text[:130])},
			`tensor "a": has 2 bytes of elements; its shape (3,) of uint8 ("|u1") needs 3`},
		{"ends within the header", []member{honest("a.npy", text[:9])},
			`tensor "a": ends within its header`},
		{"encrypted", changed(func(m *member) { m.Flags |= 1 }),
			`tensor "rank0": is encrypted; arrays that anybody can read are expected`},
		{"other method", changed(func(m *member) { m.Method = 12 }),
			`tensor "rank0": is compressed by method 12; 0 (stored) or 8 (deflated) is expected`},
		{"stored, longer inside", changed(func(m *member) { m.UncompressedSize64 = 1 << 40 }),
			`tensor "rank0": claims 1099511627776 bytes that are stored as 131`},
		{"beyond the archive", changed(func(m *member) {
			m.CompressedSize64, m.UncompressedSize64 = 1<<40, 1<<40
		}), `tensor "rank0": claims 1099511627776 bytes of the archive, which has 275 more`},
		{"more than deflate can", changed(func(m *member) {
			m.Method, m.UncompressedSize64 = zip.Deflate, 1<<40
		}), `tensor "rank0": claims 1099511627776 bytes in 131 compressed ones; at most 1032 times` +
			` as many are possible`},
		{"deflated to less", changed(func(m *member) { m.Method = zip.Deflate }),
			`tensor "rank0": ends after 0 of 131 bytes`},
		{"not deflated", changed(func(m *member) {
			m.Method, m.text = zip.Deflate, bytes.Repeat([]byte{7}, 131)
		}), `tensor "rank0": its compressed bytes are damaged (flate: corrupt input before offset 1)`},
		{"checksum", changed(func(m *member) { m.CRC32++ }),
			`tensor "rank0": its checksum is not that of the archive's directory`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readBytes("x.npz", archive(t, tt.members...))
			require.EqualError(t, err, "x.npz: "+tt.want)
		})
	}
}

// TestOverlappingMembers has two members claim the same bytes, as a zip bomb does.
func TestOverlappingMembers(t *testing.T) {
	text := whole(t, Array{Type: dtype.Uint8, Shape: []int64{400}, Data: make([]byte, 400)})
	file := archive(t, honest("a.npy", text), honest("b.npy", text))
	// b's local header is at the offset that its entry in the directory ends with; a's is 0.
	entry := bytes.LastIndex(file, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(file[entry+42:], 0)
	_, err := readBytes("x.npz", file)
	require.NoError(t, err, "two members may claim the same bytes if the file has enough")
	short := slices.Concat(file[:len(text)+35], file[bytes.Index(file, []byte("PK\x01\x02")):])
	end := bytes.LastIndex(short, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint32(short[end+16:], uint32(len(text)+35))
	_, err = readBytes("x.npz", short)
	require.ErrorContains(t, err, `tensor "b": claims 528 bytes of the archive, which has`)
}

func TestDamagedDirectory(t *testing.T) {
	file := archive(t, honest("a.npy", whole(t, Array{Type: dtype.Uint8, Data: []byte{1}})))
	_, err := readBytes("x.npz", file[:len(file)-1])
	require.EqualError(t, err, "x.npz: its archive's directory cannot be read "+
		"(zip: not a valid zip file); is the file complete?")
}

// TestLargeMembers reads what needs more memory than is taken at first: compressed, memory grows.
func TestLargeMembers(t *testing.T) {
	data := make([]byte, 3*tensor.FirstMemory+5)
	_, err := rand.NewChaCha8([32]byte{7}).Read(data)
	require.NoError(t, err)
	copy(data, make([]byte, tensor.FirstMemory)) // so that some of it is really compressed
	text := whole(t, Array{Type: dtype.Int8, Shape: []int64{int64(len(data))}, Data: data})
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		part, err := w.CreateHeader(&zip.FileHeader{
			Name: strings.Repeat("a", int(method)+1) + tensor.NPY, Method: method})
		require.NoError(t, err)
		_, err = part.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	arrays, err := readBytes("x.npz", file.Bytes())
	require.NoError(t, err)
	require.Len(t, arrays, 2)
	for _, a := range arrays {
		require.True(t, bytes.Equal(data, a.Data), a.Name)
	}
}

// TestManyMembers needs a directory of zip64: more than 65,535 members.
func TestManyMembers(t *testing.T) {
	const many = 1<<16 + 1
	text := whole(t, Array{Type: dtype.Uint8, Data: []byte{5}})
	members := make([]member, many)
	for i := range members {
		members[i] = honest(fmt.Sprintf("rank%d.npy", i), text)
	}
	file := archive(t, members...)
	f, err := NewFile("x.npz", bytes.NewReader(file), int64(len(file)), 0)
	require.NoError(t, err)
	ranks, err := f.Ranks(Want{Ranks: many, Type: dtype.Uint8})
	require.NoError(t, err)
	require.Equal(t, "rank65536", ranks[many-1].Name)
	require.Equal(t, []byte{5}, ranks[many-1].Data)
}

// readBytes reads all arrays of a file in memory.
func readBytes(name string, file []byte) ([]Array, error) {
	f, err := NewFile(name, bytes.NewReader(file), int64(len(file)), 0)
	if err != nil {
		return nil, err
	}
	return readAll(f)
}
