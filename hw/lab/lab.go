package lab

import (
	"context"
	"errors"
	"fmt"
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
	"collsim/hw/host"
	"collsim/hw/mpi"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// Lab is a network in namespaces, and an executor: a process for every rank executes there what it
// is given, over TCP. It is used by one goroutine at a time.
type Lab struct {
	ranks  []string // their namespaces
	spaces []string // all; the control network's is last
	prefix string   // of their names
	buffer int      // of a socket, for what it sends
	dir    string   // that Open MPI uses, "" if there is none
	host   *host.Host
	mpi    []*mpi.Executor
	cancel context.CancelCauseFunc // ends the run

	running sync.WaitGroup
	mu      sync.Mutex
	workers []*exec.Cmd // that have not ended
}

// Open builds the network of a topology, whose latencies are not used, after it has removed what
// dead owners have left. It takes some tenths of a second. The caller must Close it, also when
// interrupted: whoever asks signal.NotifyContext for the context is told in time. What this machine
// lacks is an *hw.Missing.
func Open(ctx context.Context, g *topology.Graph) (*Lab, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	if _, err := Sweep(); err != nil {
		return nil, err
	}
	prefix, err := free()
	if err != nil {
		return nil, err
	}
	p, err := newPlan(g, prefix)
	if err != nil {
		return nil, err
	}
	l := &Lab{prefix: prefix, buffer: p.buffers.send}
	for _, node := range g.Ranks {
		l.ranks = append(l.ranks, p.spaces[node])
	}
	err = p.build(ctx)
	l.spaces = p.made
	if err == nil {
		l.host, err = host.New(host.Config{Transport: host.TCP, Hosts: l.ranks,
			Listen: coordinator + ":0", Announce: l.start})
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// SendBuffer is how many bytes a socket of the lab takes before its sender must wait: tcp_wmem, of
// which the kernel's own share of each packet is a part.
func (l *Lab) SendBuffer() unit.Bytes { return unit.Bytes(l.buffer) }

// free is a prefix that no lab of this process has.
func free() (string, error) {
	all, err := spaces()
	if err != nil {
		return "", err
	}
	for i := 0; ; i++ {
		prefix := fmt.Sprintf("%s-%d", owned(), i)
		if !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, prefix+"-") }) {
			return prefix, nil
		}
	}
}

var errClosed = errors.New("lab: the lab is closed")

// Run executes a job of as many ranks as the lab has.
func (l *Lab) Run(ctx context.Context, job *hw.Job) (result *hw.Result, err error) {
	if _, err := job.Check(); err != nil {
		return nil, err
	}
	if n := job.Schedule.Spec.Ranks; n != len(l.ranks) {
		return nil, fmt.Errorf("lab: a schedule of %d ranks: the lab has %d", n, len(l.ranks))
	}
	if l.host == nil {
		return nil, errClosed
	}
	ctx, l.cancel = context.WithCancelCause(ctx)
	defer l.cancel(nil)
	// The socket at which the coordinator awaits the ranks is opened where this runs.
	err = within(l.spaces[len(l.spaces)-1], func() error {
		result, err = l.host.Run(ctx, job)
		return err
	})
	if err != nil {
		l.reap()
		return nil, err
	}
	result.RanOn.Transport = fmt.Sprintf("tcp in %d network namespaces", len(l.spaces)-1)
	return result, nil
}

// Needs implements hw.Sizer: all ranks are here.
func (l *Lab) Needs(s *schedule.Schedule) int64 {
	return hw.Apart(s, func(int) bool { return true })
}

// Close ends the ranks and removes the network.
func (l *Lab) Close() error {
	var all []error
	for _, e := range l.mpi {
		all = append(all, e.Close())
	}
	l.mpi = nil
	if l.host != nil {
		all = append(all, l.host.Close())
		l.reap()
		l.host = nil
	}
	all = append(all, remove(l.spaces))
	l.spaces = nil
	if l.dir != "" {
		all = append(all, os.RemoveAll(l.dir))
		l.dir = ""
	}
	return errors.Join(all...)
}

// environment is how Child knows that it is one.
const environment = "COLLSIM_LAB_RANK"

// start starts the ranks in their namespaces.
func (l *Lab) start(all []host.Rendezvous) {
	self, err := os.Executable()
	for _, r := range all {
		if err != nil {
			break
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", environment, r.Rank,
			r.Secret.Text(), r.Address))
		if err = within(l.ranks[r.Rank], cmd.Start); err == nil {
			l.track(cmd)
		}
	}
	if err != nil {
		l.cancel(fmt.Errorf("lab: a process for a rank: %w", err))
	}
}

// track knows a process until it ends.
func (l *Lab) track(cmd *exec.Cmd) {
	l.mu.Lock()
	l.workers = append(l.workers, cmd)
	l.mu.Unlock()
	l.running.Go(func() {
		cmd.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.workers = slices.DeleteFunc(l.workers, func(c *exec.Cmd) bool { return c == cmd })
	})
}

// reap returns when all processes have ended; who does not, soon, is killed.
func (l *Lab) reap() {
	late := time.AfterFunc(time.Second, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, cmd := range l.workers {
			cmd.Process.Kill()
		}
	})
	defer late.Stop()
	l.running.Wait()
}

// Child does the work of a rank if this process was started for that, or of what takes a daemon of
// Open MPI's to its rank, and returns the code to exit with. The main of a program that uses this
// package, and the TestMain of a test, must call it before anything else, and before package mpi's.
func Child() (code int, child bool) {
	if dir, name := filepath.Split(os.Args[0]); name == agent && beAgent(dir, os.Args[1:]) != nil {
		return 1, true // mpirun says which daemon it could not start
	}
	words := strings.SplitN(os.Getenv(environment), " ", 3)
	if len(words) != 3 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // the coordinator gets it too, and knows what to do
	n, notOne := strconv.Atoi(words[0])
	secret, err := gate.ParseSecret(words[1])
	if notOne != nil || err != nil {
		return 2, true
	}
	r := host.Rendezvous{Network: "tcp", Secret: secret, Address: words[2], Rank: n}
	if err := host.Worker(context.Background(), r); err != nil {
		return 1, true
	}
	return 0, true
}
