package host

import (
	"context"
	"sync"
	"sync/atomic"

	"collsim/hw"
	"collsim/hw/rank"
)

// A backend executes ranks of a schedule. It has all ranks, which share memory, or one rank, which
// reaches the others by sockets.
type backend struct {
	clock rank.Clock
	stock *stock
	mesh  *mesh // nil if all ranks are here
	ranks atomic.Pointer[[]*participant]
}

// newBackend returns a backend without a mesh, for all ranks of a job.
func newBackend(clock rank.Clock, s *stock) *backend { return &backend{clock: clock, stock: s} }

// participants returns the ranks of the job; none between jobs.
func (p *backend) participants() []*participant {
	if all := p.ranks.Load(); all != nil {
		return *all
	}
	return nil
}

// Prepare creates the ranks of a job and makes them ready for its first repetition.
func (p *backend) Prepare(ctx context.Context, part *rank.Part) error {
	var all []*participant
	if len(part.Mine) > 0 {
		s, err := part.Schedule()
		if err != nil {
			return err
		}
		largest := int64(0)
		if p.mesh != nil {
			largest = hw.Largest(s)
		}
		for i, number := range part.Mine {
			r := newParticipant(s, number, part)
			r.largest, r.alone = largest, p.mesh != nil
			r.clock, r.stock, r.input = p.clock, p.stock, part.Inputs[i]
			all = append(all, r)
		}
	}
	if err := p.join(ctx, all, part); err != nil {
		return err
	}
	p.ranks.Store(&all)
	return p.Reset(part.Epoch)
}

// join connects the ranks with their peers: through shared memory, or by sockets.
func (p *backend) join(ctx context.Context, all []*participant, part *rank.Part) error {
	if p.mesh == nil {
		n := newShared(all)
		for _, r := range all {
			r.net = n
		}
		return nil
	}
	p.mesh.rank.Store(nil)
	for _, r := range all {
		r.net = &sockets{p.mesh}
	}
	return p.mesh.connect(ctx, part.Peers, part.Env.Timeout)
}

// Reset makes the ranks ready for a repetition. No other rank begins it before all are.
func (p *backend) Reset(epoch uint32) error {
	all := p.participants()
	for _, r := range all {
		r.reset(epoch)
	}
	if p.mesh != nil && len(all) > 0 {
		p.mesh.rank.Store(all[0])
		p.mesh.epoch.Store(epoch)
	}
	return nil
}

// Execute runs all lanes of all ranks. It returns the first error of any.
func (p *backend) Execute() ([]rank.Measurement, error) {
	all := p.participants()
	measured, gate := make([]rank.Measurement, len(all)), make(chan struct{})
	var running sync.WaitGroup
	for i, r := range all {
		running.Go(func() {
			start, end, err := r.execute(gate)
			if err != nil {
				p.fail(err)
			}
			measured[i] = rank.Measurement{Start: start, End: end}
		})
	}
	close(gate)
	running.Wait()
	for i, r := range all {
		if f := r.failed.Load(); f != nil {
			return nil, f.err
		}
		measured[i].Recording = r.recording()
	}
	return measured, nil
}

// Finish returns the outputs and drops the ranks.
func (p *backend) Finish() (outputs [][]byte, err error) {
	for _, r := range p.participants() {
		outputs = append(outputs, r.Output())
	}
	if p.mesh != nil {
		p.mesh.rank.Store(nil)
	}
	p.ranks.Store(nil)
	return outputs, nil
}

// Status reports the progress of the lanes, and what they wait for.
func (p *backend) Status() (st rank.Status) {
	for _, r := range p.participants() {
		st.Progress += r.progress()
		st.Waits = append(st.Waits, r.waits()...)
	}
	return st
}

// fail stops all ranks with an error, unless they have one.
func (p *backend) fail(err error) {
	for _, r := range p.participants() {
		r.fail(err)
	}
}

// Stop stops all lanes, including those that write to sockets.
func (p *backend) Stop(err error) {
	p.fail(err)
	if p.mesh != nil {
		p.mesh.close()
	}
}

// Close closes the sockets to other ranks.
func (p *backend) Close() error {
	if p.mesh != nil {
		p.mesh.close()
	}
	return nil
}

// Worker executes a rank that was started by hand. It connects to the rendezvous and follows the
// coordinator's orders until the end. Its error is what ended the run on all ranks, or the loss of
// the coordinator.
func Worker(ctx context.Context, r Rendezvous) error {
	at := rank.Rendezvous{Network: r.Network, Address: r.Address, Worker: r.Rank, Secret: r.Secret,
		Timeout: r.Timeout}
	w, err := rank.Come(ctx, at)
	if err != nil {
		return err
	}
	l, err := rank.ListenForPeers(at, w.LocalAddr())
	if err != nil {
		w.Failed(err)
		w.Close()
		return err
	}
	p := newBackend(w.Clock, &stock{})
	p.mesh = newMesh(r.Rank, rank.NewMesh(r.Rank, l, r.Secret, w.Run()), w.Failed)
	return w.Serve(ctx, p, rank.Ready{Address: l.Addr().String(),
		RanOn: hw.Here("host", r.Network)})
}
