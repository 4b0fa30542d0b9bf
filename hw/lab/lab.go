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

// A Lab is a network in namespaces, and an executor: a process for each rank executes jobs there,
// over TCP. Only one goroutine at a time may use it.
type Lab struct {
	ranks  []string // of the ranks
	spaces []string // all namespaces; the control network's is last
	prefix string   // of the namespaces' names
	buffer int      // send buffer of a socket, in bytes
	dir    string   // for Open MPI, "" if there is none
	host   *host.Host
	mpi    []*mpi.Executor
	cancel context.CancelCauseFunc // ends the run

	running sync.WaitGroup
	mu      sync.Mutex
	workers []*exec.Cmd // that have not ended
}

// Open builds the network of a topology, without its latencies, after it has removed labs whose
// owners died. It takes some tenths of a second. The caller must Close it, also after an interrupt:
// use signal.NotifyContext for the context. A requirement that this machine lacks is an
// *hw.Missing.
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

// SendBuffer returns the send buffer of a socket in the lab (tcp_wmem). It includes the kernel's
// overhead of each packet.
func (l *Lab) SendBuffer() unit.Bytes { return unit.Bytes(l.buffer) }

// free returns a prefix that no other lab of this process has.
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

var errClosed = errors.New("the lab is closed")

// Run executes a job of as many ranks as the lab has.
func (l *Lab) Run(ctx context.Context, job *hw.Job) (result *hw.Result, err error) {
	if _, err := job.Check(); err != nil {
		return nil, err
	}
	if n := job.Schedule.Spec.Ranks; n != len(l.ranks) {
		return nil, fmt.Errorf("a schedule of %d ranks: the lab has %d", n, len(l.ranks))
	}
	if l.host == nil {
		return nil, errClosed
	}
	ctx, l.cancel = context.WithCancelCause(ctx)
	defer l.cancel(nil)
	// The coordinator's socket is opened in the namespace of this thread.
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

// Needs implements hw.Sizer: all ranks are on this machine.
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

// environment names the variable that makes a process a rank.
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
		l.cancel(fmt.Errorf("a process for a rank: %w", err))
	}
}

// track keeps a process in workers until it ends.
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

// reap waits until all processes have ended. After a second it kills the rest.
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

// Child runs a rank if this process was started as one, or starts a daemon of Open MPI's. It
// returns the exit code. The main of a program that uses this package, and the TestMain of a test,
// must call it first, before package mpi's.
func Child() (code int, child bool) {
	if dir, name := filepath.Split(os.Args[0]); name == agent && beAgent(dir, os.Args[1:]) != nil {
		return 1, true // mpirun reports which daemon it could not start
	}
	words := strings.SplitN(os.Getenv(environment), " ", 3)
	if len(words) != 3 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // a terminal sends it to the coordinator, too, which decides
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
