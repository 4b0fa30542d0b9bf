package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// endless never ends.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	return len(b), nil
}

// packed is a text as gzip writes it.
func packed(t *testing.T, text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestLimit: what has as many bytes as the limit is read whole, what has one more is not, whether
// it is a file, a stream or unpacked.
func TestLimit(t *testing.T) {
	dir := t.TempDir()
	l := Limit{Bytes: 1000}
	for _, size := range []int{0, 1, 511, 512, 513, 999, 1000, 1001, 5000} {
		text := bytes.Repeat([]byte{'x'}, size)
		file := filepath.Join(dir, "file")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		all := func(r io.Reader, err error) ([]byte, error) {
			require.NoError(t, err)
			return l.All(r)
		}
		ways := map[string]func() ([]byte, error){
			"file":      func() ([]byte, error) { return l.File(file) },
			"in a tree": func() ([]byte, error) { return l.InFS(os.DirFS(dir), "file") },
			"stream":    func() ([]byte, error) { return l.All(bytes.NewReader(text)) },
			"slow": func() ([]byte, error) {
				return l.All(iotest.OneByteReader(bytes.NewReader(text)))
			},
			"plain": func() ([]byte, error) { return all(l.Unpacked(bytes.NewReader(text))) },
			"packed": func() ([]byte, error) {
				return all(l.Unpacked(bytes.NewReader(packed(t, text))))
			},
		}
		for name, read := range ways {
			got, err := read()
			if size <= 1000 {
				require.NoError(t, err, name)
				require.Equal(t, string(text), string(got), name)
				continue
			}
			require.ErrorContains(t, err, "has more than 1 KB unpacked, which is the limit of an input",
				name)
			var long *LongError
			require.ErrorAs(t, err, &long, name)
			require.Contains(t, long.Hint(), "input.limit")
		}
	}
	var path *fs.PathError
	_, err := l.File(filepath.Join(dir, "file"))
	require.ErrorAs(t, err, &path)
	require.Equal(t, filepath.Join(dir, "file"), path.Path, "the file is named")
}

// TestEndless: what has no end is not read far beyond the limit, nor are empty members of gzip, of
// which any number are nothing.
func TestEndless(t *testing.T) {
	in := &endless{}
	_, err := Limit{Bytes: 1 << 20}.All(in)
	require.Error(t, err)
	require.LessOrEqual(t, in.read, 1<<20+1)

	nothing := packed(t, nil)
	r, err := Limit{Bytes: 1000}.Unpacked(io.MultiReader(bytes.NewReader(nothing),
		&repeated{text: nothing}))
	require.NoError(t, err)
	_, err = Limit{}.All(r)
	require.Error(t, err)
	require.NotNil(t, r.Long(), "the limit is that of what is packed")
}

// repeated is a text again and again.
type repeated struct {
	text []byte
	at   int
}

func (r *repeated) Read(b []byte) (n int, err error) {
	for n < len(b) {
		m := copy(b[n:], r.text[r.at:])
		n, r.at = n+m, (r.at+m)%len(r.text)
	}
	return n, nil
}

// TestErrors: a reader that fails is not taken for one that ends, and a limit that is met once
// stays met.
func TestErrors(t *testing.T) {
	broken := errors.New("the cable was pulled")
	_, err := Limit{}.All(iotest.ErrReader(broken))
	require.Equal(t, broken, err)
	_, err = Limit{}.All(io.MultiReader(strings.NewReader("text"), iotest.ErrReader(broken)))
	require.Equal(t, broken, err)
	r := Limit{Bytes: 2}.Reader(strings.NewReader("long"))
	_, err = io.ReadAll(r)
	require.Error(t, err)
	_, again := r.Read(make([]byte, 1))
	require.Equal(t, err, again)
	require.Equal(t, "has more than 7 B unpacked, which is the limit of an input: this is why",
		(&LongError{Limit{Bytes: 7, Of: "this is why"}}).Error())
	require.Empty(t, (&LongError{Limit{Bytes: 7, Of: "this is why"}}).Hint())
	require.NoError(t, Limit{}.Allows(uint64(unit.GiB)))
	require.Error(t, Limit{}.Allows(uint64(unit.GiB)+1))
}

// TestKinds: what is no regular file is refused before it is opened, under a name and by a link.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	_, err := Limit{}.File(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Limit{}.File(dir)
	require.ErrorContains(t, err, "is a directory")

	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	_, err = Limit{}.File(socket)
	require.ErrorContains(t, err, "is a socket; a regular file is expected")

	device := filepath.Join(dir, "zero")
	require.NoError(t, os.Symlink(os.DevNull, device))
	_, err = Limit{}.File(device)
	require.ErrorContains(t, err, "is a device; a regular file is expected")
	require.EqualError(t, &KindError{fs.ModeNamedPipe}, "is a pipe; a regular file is expected")
}
