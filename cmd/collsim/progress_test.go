package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// watched has a progress see ticks at these seconds; between is called before each.
func watched(t *testing.T, p *progress, between func(second int), seconds ...int) string {
	t.Helper()
	b := &bytes.Buffer{}
	p.w, p.stop = b, make(chan struct{})
	begun := time.Unix(1000, 0)
	ticks := make(chan time.Time)
	p.ended.Go(func() { p.watch(begun, ticks) })
	for _, second := range seconds {
		between(second)
		ticks <- begun.Add(time.Duration(second) * time.Second)
		ticks <- begun // when it is taken, the line before has been written
	}
	p.end()
	return b.String()
}

// TestProgress: nothing before a second, then a line that is replaced, and nothing left in the end.
// It names what is not done yet, and tells the time left by the shares that are done.
func TestProgress(t *testing.T) {
	p := &progress{what: "results", names: []string{"a", "b", "c\x1b"}, live: true}
	text := watched(t, p, func(second int) {
		switch second {
		case 12:
			p.step()
		case 14:
			p.say("note: it takes long\n")
			p.step()
			p.aside(func() { p.write("[no line was there]") })
		case 15:
			p.aside(func() { p.write("a row\n") })
			p.step()
		}
	}, 0, 1, 12, 13, 14, 15)
	require.Equal(t, "\r\x1b[K0 of 3 results, 1 s: a"+
		"\r\x1b[K1 of 3 results, 12 s, about 24s left: b"+
		"\r\x1b[K1 of 3 results, 13 s, about 23s left: b"+
		"\r\x1b[Knote: it takes long\n[no line was there]"+
		"\r\x1b[K2 of 3 results, 14 s, about 7s left: c\\x1b"+
		"\r\x1b[Ka row\n\r\x1b[K3 of 3 results, 15 s\r\x1b[K", text)
}

// TestProgressInLog: a line now and then that ends as lines do.
func TestProgressInLog(t *testing.T) {
	p := &progress{what: "proofs", names: []string{"", ""}}
	text := watched(t, p, func(second int) {
		if second == 60 {
			p.step()
		}
	}, 30, 60)
	require.Equal(t, "collsim: 0 of 2 proofs, 30 s\ncollsim: 1 of 2 proofs, 60 s, about 1m0s left\n",
		text)
}

// TestNoProgress: in a log nothing is said of what is soon over.
func TestNoProgress(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/stderr")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	require.False(t, terminal(file))
	require.False(t, terminal(&bytes.Buffer{}))
	for _, quiet := range []bool{false, true} {
		p := (&app{err: file}).newProgress("results", make([]string, 30), quiet)
		p.step()
		p.end()
	}
	info, err := file.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Size())
}

// TestStages: the line has the stage that its point is in, how much of it is done and how much
// longer the rest takes. A stage that has taken more than its budget is noted once, with what is
// cheaper. One that begins anew counts anew.
func TestStages(t *testing.T) {
	clock := time.Unix(1000, 0)
	p := &progress{what: "results", names: []string{"a", "b"}, live: true,
		now: func() time.Time { return clock }}
	report, ended := p.phase("a", run.Phase{Name: "proof", Cheaper: "none is cheaper"})
	text := watched(t, p, func(second int) {
		clock = time.Unix(1000+int64(second), 0)
		switch second {
		case 2:
			report(1<<16, 1<<18)
		case 10:
			report(5<<15, 1<<18)
		case 11:
			report(1<<17, 1<<18)
		case 12:
			report(1<<17+1<<11, 1<<18)
		case 13:
			ended()
			p.step()
		}
	}, 1, 2, 10, 11, 12, 13)
	require.Equal(t, "\r\x1b[K0 of 2 results, 1 s: a, proof"+
		"\r\x1b[K0 of 2 results, 2 s: a, proof 25 %, about 6s left"+
		"\r\x1b[Knote: a: its proof has taken 10 s so far, 62 %, about 6s left: none is cheaper\n"+
		"\r\x1b[K0 of 2 results, 10 s: a, proof 62 %, about 6s left"+
		"\r\x1b[K0 of 2 results, 11 s: a, proof 50 %"+
		"\r\x1b[K0 of 2 results, 12 s: a, proof 51 %, about 1s left"+
		"\r\x1b[K1 of 2 results, 13 s, about 13s left: b\r\x1b[K", text)
}

// TestStageInLog: a log has how far a stage is with each line, and in the note.
func TestStageInLog(t *testing.T) {
	clock := time.Unix(1000, 0)
	p := &progress{what: "results", names: []string{"a"}, now: func() time.Time { return clock }}
	report, _ := p.phase("a", run.Phase{Name: "simulation", Cheaper: "fifo takes less"})
	text := watched(t, p, func(second int) {
		clock = time.Unix(1000+int64(second), 0)
		report(int64(second), 100)
	}, 30, 60)
	require.Equal(t, "note: a: its simulation has taken 30 s so far, 30 %, about 1m10s left: "+
		"fifo takes less\n"+
		"collsim: 0 of 1 results, 30 s: a, simulation 30 %, about 1m10s left\n"+
		"collsim: 0 of 1 results, 60 s: a, simulation 60 %, about 40s left\n", text)
}

// TestProgressFits: a line of progress fits its terminal, and still names the point and how much of
// it is done.
func TestProgressFits(t *testing.T) {
	now := time.Unix(1000, 0)
	p := &progress{what: "results", names: []string{"all_reduce/" + strings.Repeat("é", 200) +
		"/1073741824"}, now: func() time.Time { return now }}
	count, _ := p.phase(p.names[0], run.Phase{Name: "simulation"})
	count(1, 2)
	for _, width := range []int{20, 60, 80, 200} {
		p.width = width
		line := p.line(now, 3*time.Second)
		require.Equal(t, width-1, utf8.RuneCountInString(line), line)
	}
	p.width = 80
	require.Equal(t, "0 of 1 results, 3 s: all_reduce/ééééééééé…ééééééééé/1073741824, simulation 50 %",
		p.line(now, 3*time.Second))
}
