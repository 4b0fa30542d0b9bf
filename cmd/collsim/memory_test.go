package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// TestFitsFile: a file that takes more memory to be read than there is, is refused unread.
func TestFitsFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "long.xml")
	f, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(10<<20))
	require.NoError(t, f.Close())
	require.ErrorContains(t, fitsFile(name, run.Memory{Bytes: 59 * unit.MiB, Of: "this machine"}),
		"has 10 MiB, and takes about 6 times that of memory to be read: this machine has 59 MiB left")
	for _, fits := range []run.Memory{{}, {Bytes: 60 * unit.MiB}} {
		require.NoError(t, fitsFile(name, fits))
	}
	require.NoError(t, fitsFile(t.TempDir(), run.Memory{Bytes: 1}))
	require.NoError(t, fitsFile("nowhere", run.Memory{Bytes: 1}))
}

// TestNoteTooLarge: check says which points would be refused here and now.
func TestNoteTooLarge(t *testing.T) {
	point := func(id string, memory unit.Bytes) *run.Estimate {
		return &run.Estimate{Point: &scenarios.Point{ID: id}, Memory: memory}
	}
	list := []*run.Estimate{point("a", 1), point("b", 9), point("c", 8)}
	require.Empty(t, noteTooLarge(list, run.Memory{}))
	require.Empty(t, noteTooLarge(list, run.Memory{Bytes: 9}))
	require.Equal(t, "note: this machine has 8 B left: 1 point takes more than that, beginning "+
		"with b\n", noteTooLarge(list, run.Memory{Bytes: 8, Of: "this machine"}))
	require.Contains(t, noteTooLarge(list, run.Memory{Bytes: 7}), "2 points take more than that")
}
