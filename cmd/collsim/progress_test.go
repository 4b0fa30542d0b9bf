package main

import (
	"bytes"
	"os"
	"testing"
	"time"

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
		case 13:
			p.weigh([]float64{1, 2, 3})
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
		"\r\x1b[K1 of 3 results, 13 s, about 59s left: b"+
		"\r\x1b[Knote: it takes long\n[no line was there]"+
		"\r\x1b[K2 of 3 results, 14 s, about 14s left: c\\x1b"+
		"\r\x1b[Ka row\n\r\x1b[K3 of 3 results, 15 s\r\x1b[K", text)
}

// TestProgressOfUnequal: what takes next to nothing says nothing of how fast the rest goes, and
// nothing is said of what takes longer than it was to.
func TestProgressOfUnequal(t *testing.T) {
	p := &progress{what: "results", names: []string{"a", "b", "c"}, live: true}
	text := watched(t, p, func(second int) {
		if second == 1 {
			p.weigh([]float64{0.001, 20, 6})
			p.step()
		}
	}, 1, 10, 40)
	require.Equal(t, "\r\x1b[K1 of 3 results, 1 s, about 26s left: b"+
		"\r\x1b[K1 of 3 results, 10 s, about 17s left: b"+
		"\r\x1b[K1 of 3 results, 40 s: b\r\x1b[K", text)
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

// TestForecast: a run that takes more than five seconds says so, and what it takes them for; its
// progress knows the shares of its points.
func TestForecast(t *testing.T) {
	text := "[topology]\npreset = \"switch\"\nranks = 8\nbandwidth = \"1 GB/s\"\n" +
		"latency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\n" +
		"algorithm = \"ring\"\ndtype = \"float32\"\n" +
		"bytes = [\"1 KiB\", \"64 MiB\"]\n[check]\nfull = true\ndata = \"normal\"\n" +
		"memory = \"4 GiB\"\n"
	for set, want := range map[string]string{
		"seed=1": "",
		"collective.bytes=[\"1 KiB\", \"256 MiB\"]": "note: about 14 s on one core, 100 % of it to " +
			"check numbers: check.numbers = false does without\n",
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel() // it waits for a second
			s, err := run.Load("s.toml", []byte(text), run.LoadOptions{Set: []string{set}})
			require.NoError(t, err)
			b := &bytes.Buffer{}
			p := &progress{w: b, names: idsOf(s), stop: make(chan struct{})}
			(&app{err: b}).forecast(s, p, true)
			require.Equal(t, want, b.String())
			require.Len(t, p.shares, 2)
			require.Greater(t, p.shares[1], 1000*p.shares[0])
		})
	}
}
