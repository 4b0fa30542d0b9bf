package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgress: nothing before a second, then a line that is replaced, and nothing left in the end.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, total: 30, stop: make(chan struct{})}
	begun := time.Unix(1000, 0)
	ticks := make(chan time.Time)
	watched := make(chan struct{})
	go func() {
		p.watch(begun, ticks)
		close(watched)
	}()
	ticks <- begun.Add(999 * time.Millisecond)
	p.step()
	p.step()
	ticks <- begun.Add(time.Second)
	ticks <- begun // when it is taken, the line before has been written
	p.step()
	ticks <- begun.Add(12 * time.Second)
	p.end()
	<-watched
	require.Equal(t, "\r\x1b[K2 of 30 results, 1 s\r\x1b[K3 of 30 results, 12 s\r\x1b[K", b.String())
}

// TestNoProgress: what is no terminal is left alone.
func TestNoProgress(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/stderr")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	require.False(t, terminal(file))
	require.False(t, terminal(&bytes.Buffer{}))
	p := (&app{err: file}).newProgress(30, false)
	p.step()
	p.end()
	info, err := file.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Size())
}
