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

// Processes is the Launcher that runs this very program again for every worker of this machine,
// and has somebody else start those of others.
type Processes struct {
	// Environ is what a worker finds in its environment beside what is in this process's: there its
	// secret is not seen by other users, as it would be among its arguments.
	Environ func(Rendezvous) []string
	// Host is the machine of a worker, "" and "localhost" this one; nil: all are here.
	Host func(worker, workers int) string
	// Announce is posted of the workers of other machines, before they are awaited.
	Announce func([]Placed)

	at      Rendezvous
	here    map[int]*process // by worker
	running sync.WaitGroup
}

// Placed is a worker of another machine.
type Placed struct {
	Host string
	Rendezvous
}

// Local reports whether a machine's name stands for this one.
func Local(host string) bool { return host == "" || host == "localhost" }

// process is a worker's, started by us.
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

// Patience implements Launcher: the end of a process is known at once.
func (l *Processes) Patience() time.Duration { return 250 * time.Millisecond }

// Stop implements Launcher. A process that has not come knows of no end.
func (l *Processes) Stop(come []int, lost int, grace time.Duration) {
	late := time.NewTimer(grace)
	defer late.Stop()
	for number, p := range l.here {
		if number == lost || !slices.Contains(come, p.cmd.Process.Pid) {
			p.cmd.Process.Kill() // it may be stopped
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

// launch runs this very program again, with more in its environment.
func launch(environ []string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("hw: this program's own file: %w", err)
	}
	p := &process{cmd: exec.Command(self), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), environ...)
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("hw: a process for ranks: %w", err)
	}
	return p, nil
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

// Address is where the coordinator of the workers started last awaits them.
func (l *Processes) Address() string { return l.at.Address }

// Process is the number of a worker's process on this machine, 0 once the coordinator has been
// posted that it has ended.
func (l *Processes) Process(worker int) int {
	p := l.here[worker]
	select {
	case <-p.done:
		return 0
	default:
		return p.cmd.Process.Pid
	}
}
