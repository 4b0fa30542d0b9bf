package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
)

// Rendezvous is how a rank finds the others: what the command line that starts one by hand needs.
type Rendezvous struct {
	Host    string // the machine that it is meant for, for people
	Network string // "tcp" or "unix"
	Address string // of the coordinator
	Rank    int
	Secret  gate.Secret // that all of the run know
	// Timeout bounds the wait for a coordinator that is not there yet; hw.DefaultTimeout if 0.
	Timeout time.Duration
}

// environment is how Child knows that it is one.
const environment = "COLLSIM_HOST_RANK"

// Environ is what to add to the environment of this very program so that Child makes it this rank:
// a "key=value" as of os.Environ. The secret is part of it: other users do not see a process's
// environment, as they see its arguments. The timeout is not.
func (r Rendezvous) Environ() string {
	return fmt.Sprintf("%s=%d %s %s %s", environment, r.Rank, r.Network, r.Secret.Text(), r.Address)
}

// Child does the work of a rank if this process was started for that, and returns the code to exit
// with. The main of a program that uses this package, and the TestMain of a test, must call it
// before anything else.
func Child() (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), " ", 4)
	if len(words) != 4 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // the coordinator gets it too, and knows what to do
	number, notOne := strconv.Atoi(words[0])
	secret, err := gate.ParseSecret(words[2])
	if notOne != nil || err != nil {
		return 2, true
	}
	r := Rendezvous{Network: words[1], Secret: secret, Address: words[3], Rank: number}
	if err := Worker(context.Background(), r); err != nil {
		return 1, true
	}
	return 0, true
}

// listen opens where peers reach this rank: beside the coordinator's socket, or at the address by
// which this machine reaches the coordinator.
func listen(r Rendezvous, local net.Addr) (net.Listener, error) {
	address := filepath.Join(filepath.Dir(r.Address), strconv.Itoa(r.Rank))
	if r.Network == "tcp" {
		host, _, err := net.SplitHostPort(local.String())
		if err != nil {
			return nil, err
		}
		address = net.JoinHostPort(host, "0")
	}
	l, err := rank.Listen(r.Network, address)
	if err != nil {
		return nil, rank.CallError(r.Rank, "listen", err)
	}
	return l, nil
}

// launcher starts a process for every rank of this machine, and announces those of others.
type launcher struct {
	config    *Config
	at        rank.Rendezvous
	processes map[int]*process // by rank
	running   sync.WaitGroup
}

// Start implements rank.Launcher.
func (s *launcher) Start(at rank.Rendezvous, ranks int, ended func(rank.Ended)) error {
	s.at, s.processes = at, map[int]*process{}
	var announced []Rendezvous
	for number := range ranks {
		r := Rendezvous{Network: at.Network, Address: at.Address, Rank: number,
			Secret: at.Secret}
		if r.Host = s.config.hostOf(number, ranks); !local(r.Host) {
			announced = append(announced, r)
			continue
		}
		p, err := launch(r)
		if err != nil {
			return err
		}
		s.processes[number] = p
		s.running.Go(func() {
			p.cmd.Wait()
			ended(rank.Ended{Worker: number, How: p.state()})
			close(p.done)
		})
	}
	if len(announced) > 0 {
		s.config.Announce(announced)
	}
	return nil
}

// Patience implements rank.Launcher: the end of a process is known at once.
func (s *launcher) Patience() time.Duration { return 250 * time.Millisecond }

// Stop implements rank.Launcher. A process that has not come knows of no end.
func (s *launcher) Stop(come []int, lost int, grace time.Duration) {
	late := time.NewTimer(grace)
	defer late.Stop()
	for number, p := range s.processes {
		if number == lost || !slices.Contains(come, p.cmd.Process.Pid) {
			p.cmd.Process.Kill() // it may be stopped
		}
	}
	for _, p := range s.processes {
		select {
		case <-p.done:
		case <-late.C:
			late.Reset(0)
			p.cmd.Process.Kill()
		}
	}
	s.running.Wait()
	s.processes = nil
}

// process is a rank's, started by us.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	stderr rank.Head
}

// launch runs this very program again, as a rank.
func launch(r Rendezvous) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("host: this program's own file: %w", err)
	}
	p := &process{cmd: exec.Command(self), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), r.Environ())
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("host: a process for rank %d: %w", r.Rank, err)
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
