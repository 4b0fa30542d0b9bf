package clib

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBuild: a library is compiled once, by several at a time as well, and anew when what it
// includes is other; what nobody has used for long is removed, and what cannot be compiled is told
// and leaves nothing.
func TestBuild(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	files := []string{write("a.c", "#include \"a.h\"\nint a(void) { return A; }\n"),
		write("a.h", "#define A 1\n")}
	first, err := Build(files)
	if err != nil {
		t.Skip(err)
	}
	before, err := os.Stat(first)
	require.NoError(t, err)
	again, err := Build(files)
	require.NoError(t, err)
	require.Equal(t, first, again)
	after, err := os.Stat(again)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))

	root := filepath.Dir(filepath.Dir(first))
	long := time.Now().Add(-2 * unused)
	require.NoError(t, os.Chtimes(filepath.Dir(first), long, long))
	write("a.h", "#define A 2\n")
	var done sync.WaitGroup
	paths := make([]string, 4)
	for i := range paths {
		done.Go(func() { paths[i], _ = Build(files) })
	}
	done.Wait()
	for _, path := range paths {
		require.Equal(t, paths[0], path)
	}
	require.NotEqual(t, first, paths[0])
	left, err := os.ReadDir(filepath.Dir(paths[0]))
	require.NoError(t, err)
	require.Len(t, left, 1)
	folders, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Len(t, folders, 1)

	other, err := Build(files, "-O1")
	require.NoError(t, err)
	require.NotEqual(t, paths[0], other)
	_, err = Build([]string{write("b.c", "no C")})
	require.ErrorContains(t, err, "cc: exit status 1: ")
	made, err := filepath.Glob(filepath.Join(root, "*", "*"))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{paths[0], other}, made)
}
