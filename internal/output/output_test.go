package output

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// names are the files of a directory.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestWrite: a file is complete under its name, with the permissions of what was there or of a new
// file, and nothing else is left.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	require.NoError(t, Bytes(a, []byte("one")))
	require.NoError(t, os.Chmod(a, 0o640))
	require.NoError(t, Bytes(a, []byte("two")))
	text, err := os.ReadFile(a)
	require.NoError(t, err)
	require.Equal(t, "two", string(text))
	info, err := os.Stat(a)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
	require.Equal(t, []string{"a"}, names(t, dir))

	made := filepath.Join(dir, "made") // with the permissions of a new file, whatever the umask is
	require.NoError(t, os.WriteFile(made, nil, 0o666))
	b := filepath.Join(dir, strings.Repeat("b", 255)) // the longest name that there can be
	require.NoError(t, Bytes(b, nil))
	want, err := os.Stat(made)
	require.NoError(t, err)
	info, err = os.Stat(b)
	require.NoError(t, err)
	require.Equal(t, want.Mode(), info.Mode())
}

// TestWriteFails: whatever goes wrong halfway, and panics too, the file is as it was, nothing is
// left beside it, and the error does not know the temporary name.
func TestWriteFails(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: ".collsim-1-0", Err: syscall.ENOSPC}
	for _, there := range []bool{false, true} {
		dir := t.TempDir()
		a := filepath.Join(dir, "a.svg")
		var want []string
		if want = nil; there {
			require.NoError(t, os.WriteFile(a, []byte("before"), 0o666))
			want = []string{"a.svg"}
		}
		half := func(w io.Writer, end func() error) error {
			_, err := w.Write(make([]byte, 1<<20))
			require.NoError(t, err)
			return end()
		}
		err := Write(a, func(w io.Writer) error { return half(w, func() error { return full }) })
		var path *fs.PathError
		require.ErrorAs(t, err, &path)
		require.Equal(t, a, path.Path)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.Equal(t, want, names(t, dir))

		boom := errors.New("boom")
		require.Equal(t, boom, Write(a, func(w io.Writer) error {
			return half(w, func() error { return boom })
		}))
		require.Panics(t, func() {
			_ = Write(a, func(w io.Writer) error { return half(w, func() error { panic("x") }) })
		})
		require.Equal(t, want, names(t, dir))
		if there {
			text, err := os.ReadFile(a)
			require.NoError(t, err)
			require.Equal(t, "before", string(text))
		}
	}
}

// TestNoPlace: what cannot be a file is told with the name that was given.
func TestNoPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	require.NoError(t, os.Mkdir("dir", 0o777))
	require.NoError(t, os.Symlink("loop", "loop"))
	for name, want := range map[string]error{"dir": syscall.EISDIR, "file/a": syscall.ENOTDIR,
		"none/a": syscall.ENOENT, "loop": syscall.ELOOP} {
		for _, err := range []error{Bytes(name, nil), new(Plan).Take(name, "it")} {
			var path *fs.PathError
			require.ErrorAs(t, err, &path, name)
			require.Equal(t, name, path.Path)
			require.ErrorIs(t, err, want, name)
		}
	}
}

// TestDevices: what is no file is written to as it is, and what a device says is heard.
func TestDevices(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	require.NoError(t, Bytes(os.DevNull, []byte("x")))
	require.ErrorIs(t, Bytes("/dev/full", []byte("x")), syscall.ENOSPC)
	require.NoError(t, os.Symlink("/dev/full", "full"))
	require.ErrorIs(t, Bytes("full", []byte("x")), syscall.ENOSPC)
	require.Equal(t, []string{"full"}, names(t, "."))
	var p Plan
	require.NoError(t, p.Take(os.DevNull, "one"))
	require.NoError(t, p.Take(os.DevNull, "two"))
}

// TestLinks: a link goes on to point to where it did, also where nothing is yet.
func TestLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("dir", 0o777))
	require.NoError(t, os.Symlink("dir/a", "one"))
	require.NoError(t, os.Symlink("one", "two"))
	require.NoError(t, os.Symlink("../two", "dir/three"))
	require.NoError(t, Bytes("dir/three", []byte("x")))
	require.Equal(t, []string{"a", "three"}, names(t, "dir"))
	require.Equal(t, []string{"dir", "one", "two"}, names(t, "."))
}

// TestPlan: a file has one use, whatever its names are, and what is kept is not overwritten.
func TestPlan(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("dir", 0o777))
	require.NoError(t, os.WriteFile("in", []byte("in"), 0o666))
	require.NoError(t, os.Symlink("../in", "dir/link"))
	require.NoError(t, os.Link("in", "hard"))
	require.NoError(t, os.Symlink("out", "same"))
	absolute, err := filepath.Abs("dir/../out")
	require.NoError(t, err)

	var p Plan
	info, err := os.Stat("in")
	require.NoError(t, err)
	p.Keep(info, "the input in")
	for _, name := range []string{"in", "./in", "dir/../in", "dir/link", "hard"} {
		err := p.Take(name, "it")
		require.Equal(t, &Clash{Name: name, What: "it", Other: "the input in", Kept: true}, err)
		require.EqualError(t, err, name+": it would overwrite the input in")
	}
	require.NoError(t, p.Take("out", "one"))
	for _, name := range []string{"out", "./out", "dir/../out", absolute, "same"} {
		err := p.Take(name, "two")
		require.Equal(t, &Clash{Name: name, What: "two", Other: "one"}, err)
		require.EqualError(t, err, "one and two would both be written to "+name)
	}
	require.NoError(t, p.Take("dir/out", "two"))
	require.Equal(t, []string{"dir", "hard", "in", "same"}, names(t, "."), "nothing is changed")
	require.Equal(t, []string{"link"}, names(t, "dir"))
}

// TestPermissions: what may not be written is told in time.
func TestPermissions(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("dir", 0o555))
	require.NoError(t, os.WriteFile("file", nil, 0o444))
	var p Plan
	require.ErrorIs(t, p.Take("dir/a", "it"), fs.ErrPermission)
	require.ErrorIs(t, p.Take("file", "it"), fs.ErrPermission)
}

// TestBelow: links count, and so does what is not there yet.
func TestBelow(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("here/in", 0o777))
	require.NoError(t, os.Mkdir("there", 0o777))
	require.NoError(t, os.Symlink("../there", "here/out"))
	require.NoError(t, os.Symlink("in", "here/still"))
	require.NoError(t, os.Symlink("../there/x", "here/file"))
	for name, want := range map[string]bool{"here/a": true, "here/in/a": true, "here/still/a": true,
		"here/in/../a": true, "here/out/a": false, "here/file": false, "here/../a": false,
		"/tmp/a": false, "there/a": false, "hereby": false} {
		got, err := Below("here", name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	_, err := Below("here", "here/none/a")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
