package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress is a line on a terminal that says how far a run is, once it has taken a second.
// Elsewhere it says nothing.
type progress struct {
	w     io.Writer
	total int
	stop  chan struct{}
	ended sync.WaitGroup

	mu   sync.Mutex
	done int
}

// patience is how long a run may take without a word, and how often there is one then.
const (
	patience = time.Second
	interval = 200 * time.Millisecond
)

// newProgress begins to wait. Whoever calls it calls end.
func (a *app) newProgress(total int, quiet bool) *progress {
	p := &progress{w: a.err, total: total, stop: make(chan struct{})}
	if quiet || !terminal(a.err) {
		return p
	}
	tick := time.NewTicker(interval)
	p.ended.Go(func() {
		defer tick.Stop()
		p.watch(time.Now(), tick.C)
	})
	return p
}

// terminal reports whether somebody may be looking.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// watch writes the line at every tick from one second on, and takes it away in the end.
func (p *progress) watch(begun time.Time, ticks <-chan time.Time) {
	shown := false
	for {
		select {
		case now := <-ticks:
			if now.Sub(begun) >= patience {
				shown = true
				p.write(p.line(now.Sub(begun)))
			}
		case <-p.stop:
			if shown {
				p.write("\r\x1b[K")
			}
			return
		}
	}
}

// line says how many results there are, and since when.
func (p *progress) line(since time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("\r\x1b[K%d of %d results, %.0f s", p.done, p.total, since.Seconds())
}

// write writes to the terminal. If that fails there is nobody to tell.
func (p *progress) write(text string) { _, _ = io.WriteString(p.w, text) }

// step counts a result.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// end takes the line away.
func (p *progress) end() {
	close(p.stop)
	p.ended.Wait()
}
