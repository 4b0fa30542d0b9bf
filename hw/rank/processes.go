package rank

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"collsim/hw"
)

// Processes is a Launcher that runs this program again for every worker of this machine. It
// announces the workers of other machines, which are started by hand.
type Processes struct {
	// Environ returns what a worker finds in its environment, in addition to this process's. The
	// secret is passed there: other users could see it among the arguments.
	Environ func(Rendezvous) []string
	// Host returns the machine of a worker; "" and "localhost" are this one. Nil: all are here.
	Host func(worker, workers int) string
	// Announce is called with the workers of other machines, before the coordinator waits for them.
	Announce func([]Placed)

	at      Rendezvous
	here    map[int]*process // by worker
	running sync.WaitGroup
}

// A Placed is a worker of another machine.
type Placed struct {
	Host string
	Rendezvous
}

// Local reports whether a machine's name means this one.
func Local(host string) bool { return host == "" || host == "localhost" }

// A process is a worker's process that this one started.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	stderr Head
}

// Start implements Launcher.
func (l *Processes) Start(at Rendezvous, workers int, ended func(Ended)) error {
	l.at, l.here = at, map[int]*process{}
	var announced []Placed
	for number := range workers {
		one := Placed{Rendezvous: at}
		one.Worker = number
		if l.Host != nil {
			one.Host = l.Host(number, workers)
		}
		if !Local(one.Host) {
			announced = append(announced, one)
			continue
		}
		p, err := launch(l.Environ(one.Rendezvous))
		if err != nil {
			return err
		}
		l.here[number] = p
		l.running.Go(func() {
			p.cmd.Wait()
			ended(Ended{Worker: number, How: p.state()})
			close(p.done)
		})
	}
	if len(announced) > 0 {
		l.Announce(announced)
	}
	return nil
}

// Patience implements Launcher. The end of a child process is known at once.
func (l *Processes) Patience() time.Duration { return 250 * time.Millisecond }

// Stop implements Launcher. A process that has not connected cannot be asked to end, and is killed.
func (l *Processes) Stop(come []int, lost int, grace time.Duration) {
	late := time.NewTimer(grace)
	defer late.Stop()
	for number, p := range l.here {
		if number == lost || !slices.Contains(come, p.cmd.Process.Pid) {
			p.cmd.Process.Kill() // it may be stopped by a signal
		}
	}
	for _, p := range l.here {
		select {
		case <-p.done:
		case <-late.C:
			late.Reset(0)
			p.cmd.Process.Kill()
		}
	}
	l.running.Wait()
	l.here = nil
}

// launch runs this program again, with additions to its environment.
func launch(environ []string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program's own file: %w", err)
	}
	p := &process{cmd: exec.Command(self), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), environ...)
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("a process for ranks: %w", err)
	}
	return p, nil
}

// state reports how the process ended, with the first line that it wrote to stderr.
func (p *process) state() *hw.Error {
	e := &hw.Error{Call: "process", Rank: -1, Lane: -1, Step: -1,
		Code: strings.TrimPrefix(p.cmd.ProcessState.String(), "signal: "),
		Text: fmt.Sprintf("ended: %v", p.cmd.ProcessState)}
	if first, _, _ := strings.Cut(p.stderr.String(), "\n"); first != "" {
		e.Text += ": " + first
	}
	return e
}

// Address returns the coordinator's address for the workers started last.
func (l *Processes) Address() string { return l.at.Address }

// Process returns the number of a worker's process on this machine; 0 once the coordinator knows
// that it has ended.
func (l *Processes) Process(worker int) int {
	p := l.here[worker]
	select {
	case <-p.done:
		return 0
	default:
		return p.cmd.Process.Pid
	}
}
