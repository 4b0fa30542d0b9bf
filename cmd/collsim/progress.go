package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"collsim/run"
)

// progress says how far a command is and what it is at: on a terminal by a line that is replaced,
// once it has taken a second; in a log by a line now and then.
type progress struct {
	w     io.Writer
	what  string   // that is counted
	names []string // of what is done one after the other
	live  bool     // on a terminal
	width int      // of it, in letters; 0 is without bounds
	now   func() time.Time
	stop  chan struct{}
	ended sync.WaitGroup

	mu     sync.Mutex
	done   int
	seen   int           // of done, when the time was last looked at
	at     time.Duration // when they had been seen first
	active []*active     // phases that are under way, in the order in which they began
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

// budget is the time after which a phase is noted that has not ended, with what is cheaper.
const budget = 10 * time.Second

// active is a phase of a point that is under way.
type active struct {
	id          string
	phase       run.Phase
	begun       time.Time
	done, total int64     // of the phase, as far as it has reported; no total: it has not
	since, last time.Time // when it has begun to count, and reported last
	said        bool
}

// share returns how much of a phase is done, and, from one per cent on, how much longer the rest
// takes if it goes on as before: " 43 %, about 25s left". It is empty if the phase has not
// reported.
func (a *active) share(now time.Time) string {
	if a.total == 0 {
		return ""
	}
	text := fmt.Sprintf(" %.0f %%", 100*float64(a.done)/float64(a.total))
	if a.done < a.total/100 || a.done == 0 {
		return text
	}
	pace := float64(a.last.Sub(a.since)) / float64(a.done)
	left := time.Duration(pace*float64(a.total-a.done)) - now.Sub(a.last)
	if left > 0 {
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	return text
}

// newProgress begins to wait. The caller must call end.
func (a *app) newProgress(what string, names []string, quiet bool) *progress {
	p := &progress{w: a.err, what: what, names: names, live: terminal(a.err), now: time.Now,
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
			p.note(now)
			if now.Sub(begun) >= patience {
				p.show(now, now.Sub(begun))
			}
		case <-p.stop:
			p.say("")
			return
		}
	}
}

// show writes the line.
func (p *progress) show(now time.Time, since time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		p.write("collsim: " + p.line(now, since) + "\n")
		return
	}
	p.shown, p.width = true, columnsOf(p.w)
	p.write("\r\x1b[K" + p.line(now, since))
}

// line returns one line of progress: how many are done, since when, how much longer it takes, what
// is not done yet, and how much of its phase is: "2 of 30 results, 12 s, about 40s left:
// all_reduce/ring/1024, simulation 43 %, about 2s left".
func (p *progress) line(now time.Time, since time.Duration) string {
	text := fmt.Sprintf("%d of %d %s, %.0f s", p.done, len(p.names), p.what, since.Seconds())
	if left, ok := p.left(since); ok {
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	if p.done < len(p.names) && p.names[p.done] != "" {
		after := ""
		for _, a := range slices.Backward(p.active) {
			if a.id == p.names[p.done] {
				after = ", " + a.phase.Name + a.share(now)
			}
		}
		return fit(text+": ", harmless(p.names[p.done]), after, p.width)
	}
	return fit(text, "", "", p.width)
}

// phase notes that a phase of a point begins, and returns what notes how much of it is done, and
// its end.
func (p *progress) phase(id string, phase run.Phase) (run.Progress, func()) {
	now := p.now()
	a := &active{id: id, phase: phase, begun: now, since: now}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = append(p.active, a)
	return func(done, total int64) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if a.last = p.now(); done < a.done { // it has begun anew
				a.since = a.last
			}
			a.done, a.total = done, total
		}, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.active = slices.DeleteFunc(p.active, func(b *active) bool { return a == b })
		}
}

// note reports each phase once that has taken more than its budget and is still under way.
func (p *progress) note(now time.Time) {
	var text string
	p.mu.Lock()
	for _, a := range p.active {
		if took := now.Sub(a.begun); !a.said && took >= budget {
			a.said = true
			far := ""
			if share := a.share(now); share != "" {
				far = "," + share
			}
			text += fmt.Sprintf("note: %s: its %s has taken %.0f s so far%s: %s\n", harmless(a.id),
				a.phase.Name, took.Seconds(), far, a.phase.Cheaper)
		}
	}
	p.mu.Unlock()
	if text != "" {
		p.say(text)
	}
}

// left extrapolates how long the rest takes from what is done. It reports false where nothing is
// done, and where the present one has taken longer than that already.
func (p *progress) left(since time.Duration) (left time.Duration, ok bool) {
	if p.seen != p.done {
		p.seen, p.at = p.done, since
	}
	if p.done == 0 || p.done >= len(p.names) {
		return 0, false
	}
	pace := float64(p.at) / float64(p.done)
	left = time.Duration(pace*float64(len(p.names)-p.done)) - (since - p.at)
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
