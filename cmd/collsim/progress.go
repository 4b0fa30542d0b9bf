package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress says how far a command is and what it is at: on a terminal by a line that is replaced,
// once it has taken a second; in a log by a line now and then.
type progress struct {
	w     io.Writer
	what  string   // that is counted
	names []string // of what is done one after the other
	live  bool     // on a terminal
	stop  chan struct{}
	ended sync.WaitGroup

	mu     sync.Mutex
	done   int
	seen   int           // of done, when the time was last looked at
	at     time.Duration // when they had been seen first
	shares []float64     // of the work, by name; nil: all alike
	shown  bool          // a line that is to be taken away
	over   bool
}

// patience is the time that a run may take before a terminal shows its progress, interval the
// time between two updates there, and logged the time between two lines in a log.
const (
	patience = time.Second
	interval = 200 * time.Millisecond
	logged   = 30 * time.Second
)

// newProgress begins to wait. The caller must call end.
func (a *app) newProgress(what string, names []string, quiet bool) *progress {
	p := &progress{w: a.err, what: what, names: names, live: terminal(a.err),
		stop: make(chan struct{})}
	if quiet {
		return p
	}
	every := logged
	if p.live {
		every = interval
	}
	tick := time.NewTicker(every)
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

// watch writes a line at every tick from one second on, and takes it away in the end.
func (p *progress) watch(begun time.Time, ticks <-chan time.Time) {
	for {
		select {
		case now := <-ticks:
			if now.Sub(begun) >= patience {
				p.show(now.Sub(begun))
			}
		case <-p.stop:
			p.say("")
			return
		}
	}
}

// show writes the line.
func (p *progress) show(since time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		p.write("collsim: " + p.line(since) + "\n")
		return
	}
	p.shown = true
	p.write("\r\x1b[K" + p.line(since))
}

// line returns one line of progress: how many are done, since when, how much longer it takes, and
// what is not done yet: "2 of 30 results, 12 s, about 40 s left: all_reduce/ring/1024".
func (p *progress) line(since time.Duration) string {
	text := fmt.Sprintf("%d of %d %s, %.0f s", p.done, len(p.names), p.what, since.Seconds())
	if left, ok := p.left(since); ok {
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	if p.done < len(p.names) && p.names[p.done] != "" {
		text += ": " + harmless(p.names[p.done])
	}
	return text
}

// few is the part of the work that says nothing yet of how fast it goes: the rest is then taken to
// go as fast as estimated.
const few = 0.05

// left returns how long the rest takes at the pace of what is done. It is not ok where the rest
// has taken longer than that already.
func (p *progress) left(since time.Duration) (left time.Duration, ok bool) {
	if p.seen != p.done {
		p.seen, p.at = p.done, since
	}
	done, all := float64(p.done), float64(len(p.names))
	if p.shares != nil {
		done, all = 0, 0
		for i, share := range p.shares {
			if all += share; i < p.done {
				done += share
			}
		}
	}
	if p.done == 0 || done <= 0 || p.done >= len(p.names) {
		return 0, false
	}
	pace := float64(p.at) / done
	if p.shares != nil && done < few*all {
		pace = float64(time.Second)
	}
	left = time.Duration(pace*(all-done)) - (since - p.at)
	return left, left > 0
}

// write writes to the terminal. It ignores an error, since there is no other place to report it.
func (p *progress) write(text string) { _, _ = io.WriteString(p.w, text) }

// say writes lines in the place of that of the progress, which comes back with the next tick.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		text = "\r\x1b[K" + text
	}
	if text != "" && !p.over {
		p.write(text)
	}
}

// aside has something else printed that may be on the same terminal: in the place of the line,
// which comes back with the next tick.
func (p *progress) aside(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		p.write("\r\x1b[K")
	}
	print()
}

// weigh says how large the shares of the work are.
func (p *progress) weigh(shares []float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares = shares
}

// step counts one that is done.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// end takes the line away. Nothing is said after it.
func (p *progress) end() {
	close(p.stop)
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
