package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collsim/hw"
	"collsim/hw/callbacks"
	"collsim/hw/cuda"
	"collsim/hw/gate"
	"collsim/hw/host"
	"collsim/hw/lab"
	"collsim/hw/mpi"
	"collsim/hw/nccl"
	"collsim/hw/rank"
	"collsim/internal/memory"
	"collsim/internal/nearest"
	"collsim/run"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// child does the work of a rank if this process was started for that.
func child() (code int, is bool) {
	for _, f := range []func() (int, bool){host.Child, lab.Child, mpi.Child, cuda.Child,
		nccl.Child} {
		if code, is := f(); is {
			return code, true
		}
	}
	return 0, false
}

// announcer prints the commands to start on other machines: ranks of host, or machines of cuda.
type announcer interface {
	announce([]host.Rendezvous)
	announceMachines([]rank.Placed)
}

// executors returns the table of executors. Listing them needs no announcer.
func executors(a announcer) []hw.Row {
	return []hw.Row{hostRow(a), callbacksRow(), mpiRow(), cudaRow(a), ncclRow()}
}

func hostRow(a announcer) hw.Row {
	return hw.Row{Name: "host", About: "the processors of this machine or of several: goroutines, " +
		"or processes over Unix sockets or TCP",
		Keys:    []string{"transport", "network", "hosts", "listen"},
		Missing: func(context.Context) error { return nil },
		Open: func(ctx context.Context, s hw.Settings) (hw.Executor, error) {
			return openHost(ctx, s, a)
		}}
}

func callbacksRow() hw.Row {
	return hw.Row{Name: "callbacks", About: "one thread that waits for nothing: callbacks, which " +
		"run when their messages are there",
		Keys:    []string{"delivery"},
		Missing: func(context.Context) error { return nil },
		Open: func(_ context.Context, s hw.Settings) (hw.Executor, error) {
			if s.Random {
				return callbacks.New(callbacks.Shuffled(s.Seed)), nil
			}
			return callbacks.New(callbacks.Config{}), nil
		}}
}

func mpiRow() hw.Row {
	return hw.Row{Name: "mpi", About: "Open MPI, by our steps or by its own algorithms",
		Keys: []string{"library", "network", "hosts", "listen"}, Open: openMPI,
		Missing: func(ctx context.Context) error {
			_, err := mpi.Available(ctx, mpi.Config{})
			return err
		}}
}

func cudaRow(a announcer) hw.Row {
	return hw.Row{Name: "cuda", About: "our steps and kernels on the GPUs of this machine or of " +
		"several, as virtual ranks",
		Keys: []string{"hosts", "listen"},
		Missing: func(ctx context.Context) error {
			_, err := cuda.Available(ctx)
			return err
		},
		Open: func(ctx context.Context, s hw.Settings) (hw.Executor, error) {
			if len(s.Hosts) > 0 {
				return openMachines(s, a)
			}
			if _, err := cuda.Available(ctx); err != nil {
				return nil, err
			}
			return cuda.New(), nil
		}}
}

func ncclRow() hw.Row {
	return hw.Row{Name: "nccl", About: "NCCL on the GPUs of this machine, by its own algorithms",
		Keys: []string{"transport"},
		Missing: func(context.Context) error {
			_, err := nccl.Available(nccl.Config{})
			return err
		},
		Open: func(_ context.Context, s hw.Settings) (hw.Executor, error) {
			if _, err := nccl.Available(nccl.Config{}); err != nil {
				return nil, err
			}
			return nccl.New(nccl.Config{Apart: s.Transport == host.Unix.String()}), nil
		}}
}

// listExecutors lists the executors, with what this machine lacks for each.
func listExecutors(ctx context.Context) (list []entry) {
	for _, row := range executors(nil) {
		e := entry{Name: row.Name, Takes: row.Keys, About: row.About}
		var missing *hw.Missing
		switch err := row.Missing(ctx); {
		case errors.As(err, &missing):
			e.Missing = missing.Why + "; " + missing.Get
		case err != nil:
			e.Missing = err.Error()
		}
		list = append(list, e)
	}
	return list
}

// executorNames returns the values of --hw; "sim" means none.
func executorNames() []string {
	names := []string{"sim"}
	for _, row := range executors(nil) {
		names = append(names, row.Name)
	}
	return names
}

// builtNames lists the executors, as in "host, callbacks or mpi".
func builtNames() string {
	names := executorNames()[1:]
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// checkExecutor refuses what --hw does not know.
func checkExecutor(name string) error {
	names := executorNames()
	if slices.Contains(names, name) {
		return nil
	}
	e := &usageError{Text: fmt.Sprintf("--hw %q: no executor of that name", name),
		Hint: "there are " + strings.Join(names, ", ")}
	if near := nearest.To(name, names, 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return e
}

// unavailable makes an error of an executor, which is nobody's mistake in a scenario.
func unavailable(err error) error {
	var missing *hw.Missing
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &missing):
		return &unavailableError{missing.What + ": " + missing.Why, missing.Get}
	}
	return &unavailableError{what: err.Error()}
}

// openHardware returns what executes schedules, as a scenario says, on a network if that is to be
// the topology's.
func (a *app) openHardware(ctx context.Context, h *scenarios.Hardware,
	g *topology.Graph) (hw.Executor, error) {
	e, err := run.OpenWith(executors(a)...)(ctx, h, g)
	return e, unavailable(err)
}

// openMachines returns the GPUs of several machines: what each lacks, its own process says.
func openMachines(s hw.Settings, a announcer) (hw.Executor, error) {
	secret, err := secretOfRun()
	if err != nil {
		return nil, err
	}
	return cuda.NewMachines(cuda.Config{Hosts: s.Hosts, Listen: s.Listen, Secret: secret,
		Announce: a.announceMachines})
}

func openHost(ctx context.Context, s hw.Settings, a announcer) (hw.Executor, error) {
	if s.Lab {
		return lab.Open(ctx, s.Graph)
	}
	t, err := host.ParseTransport(s.Transport)
	if err != nil {
		return nil, err
	}
	secret, err := secretOfRun()
	if err != nil {
		return nil, err
	}
	return host.New(host.Config{Transport: t, Hosts: s.Hosts, Listen: s.Listen, Secret: secret,
		Announce: a.announce})
}

// openMPI returns Open MPI, in a lab if that is asked for.
func openMPI(ctx context.Context, s hw.Settings) (hw.Executor, error) {
	c := mpi.Config{Listen: s.Listen}
	if len(s.Hosts) > 0 {
		slots := (len(s.Graph.Ranks) + len(s.Hosts) - 1) / len(s.Hosts)
		c.Arguments = []string{"--host",
			strings.Join(s.Hosts, fmt.Sprintf(":%d,", slots)) + fmt.Sprintf(":%d", slots)}
	}
	if _, err := mpi.Available(ctx, c); err != nil {
		return nil, err
	}
	mode := func(e *mpi.Executor) hw.Executor {
		if s.Library {
			return e.Library()
		}
		return e
	}
	if !s.Lab {
		return mode(mpi.New(c)), nil
	}
	l, err := lab.Open(ctx, s.Graph)
	if err != nil {
		return nil, err
	}
	e, err := l.MPI(c)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &guest{mode(e), l}, nil
}

// memoryLeft returns the memory that this process may still take, in whole MiB, which is how
// people read it.
func memoryLeft() (bytes int64, of string, known bool) {
	free, known := memory.Read()
	return free.Bytes >> 20 << 20, free.String(), known
}

// freeMemory returns memoryLeft as package run takes it. Zero bytes left are known, too.
func freeMemory() (m run.Memory) {
	if bytes, of, known := memoryLeft(); known {
		m = run.Memory{Bytes: max(unit.Bytes(bytes), 1), Of: of}
	}
	return m
}

// guest is an executor in a lab, which is closed with it.
type guest struct {
	hw.Executor
	lab *lab.Lab
}

// Needs asks the guest.
func (g *guest) Needs(s *schedule.Schedule) int64 { return g.Executor.(hw.Sizer).Needs(s) }

// Close closes both.
func (g *guest) Close() error { return errors.Join(g.Executor.Close(), g.lab.Close()) }

// startWorker returns the command that starts a worker. It does not show a secret that somebody
// else has made.
func startWorker(secret gate.Secret) string {
	if given, err := secretOfRun(); err == nil && given.None() {
		return "start: " + secretVariable + "=" + secret.Text() + " collsim worker"
	}
	return "with the same secret, start: collsim worker"
}

// announceMachines says what to start on other machines, for their GPUs.
func (a *app) announceMachines(list []rank.Placed) {
	for _, m := range list {
		a.print(a.err, fmt.Sprintf("on %s, %s --at %s --machine %d\n", m.Host, startWorker(m.Secret),
			m.Address, m.Worker))
	}
}

// announce says what to start on other machines.
func (a *app) announce(ranks []host.Rendezvous) {
	for i := 0; i < len(ranks); {
		first := ranks[i]
		last := first.Rank
		for i++; i < len(ranks) && ranks[i].Host == first.Host && ranks[i].Rank == last+1; i++ {
			last++
		}
		list := fmt.Sprint(first.Rank)
		if last > first.Rank {
			list += fmt.Sprintf("-%d", last)
		}
		a.print(a.err, fmt.Sprintf("on %s, %s --at %s --ranks %s\n", first.Host,
			startWorker(first.Secret), first.Address, list))
	}
}
