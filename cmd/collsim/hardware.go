package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"collsim/hw"
	"collsim/hw/host"
	"collsim/hw/host/netns"
	"collsim/hw/mpi"
	"collsim/scenarios"
	"collsim/topology"
)

// child does the work of a rank if this process was started for that.
func child() (code int, is bool) {
	for _, f := range []func() (int, bool){host.Child, netns.Child, mpi.Child} {
		if code, is := f(); is {
			return code, true
		}
	}
	return 0, false
}

// unavailableError is what this machine lacks, and how to get it.
type unavailableError struct{ what, hint string }

func (e *unavailableError) Error() string {
	if e.hint == "" {
		return e.what
	}
	return e.what + "\n  " + e.hint
}

// unavailable makes an error of an executor, which is nobody's mistake in a scenario.
func unavailable(err error) error {
	var missing *mpi.Missing
	var lab *netns.Unavailable
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &missing):
		return &unavailableError{missing.What + ": " + missing.Why, missing.Get}
	case errors.As(err, &lab):
		return &unavailableError{"no network lab: " + lab.What, lab.Get}
	}
	return &unavailableError{what: err.Error()}
}

// executors are what --hw may name. Those that are not built are known all the same.
func executors() []string { return []string{"sim", "host", "mpi", "cuda", "nccl"} }

// openHardware returns what plays schedules, as a scenario says, on a network if that is to be the
// topology's.
func (a *app) openHardware(ctx context.Context, h *scenarios.Hardware,
	g *topology.Graph) (hw.Device, error) {
	d, err := a.executor(ctx, h, g)
	return d, unavailable(err)
}

func (a *app) executor(ctx context.Context, h *scenarios.Hardware,
	g *topology.Graph) (hw.Device, error) {
	lab := h.Network == "lab"
	switch {
	case h.Executor == "mpi":
		return a.openMPI(ctx, h, g)
	case lab:
		return netns.Open(ctx, g)
	}
	t, err := host.ParseTransport(h.Transport)
	if err != nil {
		return nil, err
	}
	return host.New(host.Config{Transport: t, Hosts: h.Hosts, Listen: h.Listen,
		Announce: a.announce})
}

// openMPI returns Open MPI, in a lab if that is asked for.
func (a *app) openMPI(ctx context.Context, h *scenarios.Hardware,
	g *topology.Graph) (hw.Device, error) {
	c := mpi.Config{Listen: h.Listen}
	if len(h.Hosts) > 0 {
		slots := (len(g.Ranks) + len(h.Hosts) - 1) / len(h.Hosts)
		c.Arguments = []string{"--host",
			strings.Join(h.Hosts, fmt.Sprintf(":%d,", slots)) + fmt.Sprintf(":%d", slots)}
	}
	if _, err := mpi.Available(ctx, c); err != nil {
		return nil, err
	}
	mode := func(d *mpi.Device) hw.Device {
		if h.Library {
			return d.Library()
		}
		return d
	}
	if h.Network != "lab" {
		return mode(mpi.New(c)), nil
	}
	lab, err := netns.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	d, err := lab.MPI(c)
	if err != nil {
		return nil, errors.Join(err, lab.Close())
	}
	return &guest{mode(d), lab}, nil
}

// guest is a device in a lab, which is closed with it.
type guest struct {
	hw.Device
	lab *netns.Lab
}

// Close closes both.
func (g *guest) Close() error { return errors.Join(g.Device.Close(), g.lab.Close()) }

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
		a.print(a.err, fmt.Sprintf("on %s, start: collsim worker --at %s --ranks %s\n", first.Host,
			first.Address, list))
	}
}
