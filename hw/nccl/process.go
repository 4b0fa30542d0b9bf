package nccl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
)

// environment is how Child knows that it is a worker: its number, where the coordinator is, what
// that wants to hear, and which libraries to load.
const environment = "COLLSIM_NCCL_WORKER"

// Child does the work of ranks if this process was started for that, and returns the code to exit
// with. The main of a program that uses this package, and the TestMain of a test, must call it
// before anything else, in the goroutine that main runs in.
func Child() (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), "\n", 5)
	if len(words) != 5 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // the coordinator gets it too, and knows what to do
	number, notOne := strconv.Atoi(words[0])
	secret, err := gate.ParseSecret(words[2])
	if notOne != nil || err != nil {
		return 2, true
	}
	runtime.LockOSThread() // the only thread that calls the libraries
	r := rank.Rendezvous{Network: "unix", Address: words[1], Worker: number, Secret: secret}
	if work(r, &Config{Library: words[3], Driver: words[4]}) != nil {
		return 1, true
	}
	return 0, true
}

// work goes to the coordinator and does what it says.
func work(r rank.Rendezvous, c *Config) error {
	ctx := context.Background()
	w, err := rank.Come(ctx, r)
	if err != nil {
		return err
	}
	p, on, err := begin(c, w.Clock)
	if err != nil {
		w.Failed(err)
		w.Close()
		return err
	}
	return w.Serve(ctx, p, rank.Ready{RanOn: hw.Here("nccl", on)})
}

// launcher starts the processes of ranks.
type launcher struct {
	config    *Config
	journal   *journal
	processes []*process
	running   sync.WaitGroup
}

// process is one of them.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	stderr rank.Head
}

// Start implements rank.Launcher: it runs this very program again, so many times.
func (l *launcher) Start(at rank.Rendezvous, workers int, ended func(rank.Ended)) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("nccl: this program's own file: %w", err)
	}
	l.processes = nil
	for number := range workers {
		p := &process{cmd: exec.Command(self), done: make(chan struct{})}
		words := []string{strconv.Itoa(number), at.Address, at.Secret.Text(), l.config.Library,
			l.config.Driver}
		p.cmd.Env = append(append(os.Environ(), l.journal.variables()...),
			environment+"="+strings.Join(words, "\n"))
		p.cmd.Stderr = &p.stderr
		if err := p.cmd.Start(); err != nil {
			return fmt.Errorf("nccl: a process for ranks: %w", err)
		}
		l.processes = append(l.processes, p)
		l.running.Go(func() {
			p.cmd.Wait()
			ended(rank.Ended{Worker: number, How: p.state()})
			close(p.done)
		})
	}
	return nil
}

// state says how it has ended, with the first line of what it had to say.
func (p *process) state() *hw.Error {
	e := &hw.Error{Call: "process", Rank: -1, Lane: -1, Step: -1,
		Code: strings.TrimPrefix(p.cmd.ProcessState.String(), "signal: "),
		Text: fmt.Sprintf("ended: %v", p.cmd.ProcessState)}
	if first, _, _ := strings.Cut(p.stderr.String(), "\n"); first != "" {
		e.Text += ": " + first
	}
	return e
}

// Patience implements rank.Launcher: the end of a process is known at once.
func (l *launcher) Patience() time.Duration { return 250 * time.Millisecond }

// Stop implements rank.Launcher. A process that has not come knows of no end.
func (l *launcher) Stop(come []int, lost int, grace time.Duration) {
	late := time.NewTimer(grace)
	defer late.Stop()
	for number, p := range l.processes {
		if number == lost || !slices.Contains(come, p.cmd.Process.Pid) {
			p.cmd.Process.Kill()
		}
	}
	for _, p := range l.processes {
		select {
		case <-p.done:
		case <-late.C:
			late.Reset(0)
			p.cmd.Process.Kill()
		}
	}
	l.running.Wait()
	l.processes = nil
}
