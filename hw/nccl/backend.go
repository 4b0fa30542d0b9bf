package nccl

import (
	"bytes"
	"context"
	"encoding/gob"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"collsim/collective"
	"collsim/hw"
	"collsim/hw/rank"
	"collsim/unit"
)

// A request is the content of rank.Part.Detail: a collective, and the id of its communicator.
type request struct {
	Spec collective.Spec
	ID   uniqueID
}

// encode encodes the request as a gob.
func (r *request) encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(r)
	return b.Bytes(), err
}

// A backend executes the ranks of one process. A rank's GPU is its number modulo the number of
// GPUs. One system thread makes all calls.
type backend struct {
	rank.Clock
	nccl       *library
	cuda       *driver
	gpus       int
	iterations int
	parts      []*part
	comms      []uintptr // of parts; NCCL writes them
	estimate   unit.Time // NCCL's own prediction for the job's call; 0 if there is none
	devices    []int32
	moved      atomic.Int64 // progress

	mu    sync.Mutex // guards calls
	calls []rank.Call
}

// begin loads both libraries. It also returns their description.
func begin(c *Config, clock rank.Clock) (p *backend, on string, err error) {
	p = &backend{Clock: clock}
	if p.nccl, p.cuda, p.gpus, err = loadBoth(c); err != nil {
		return nil, "", err
	}
	on, err = describe(p.nccl, p.cuda)
	return p, on, err
}

// enter records the function that ranks are in; "" is none.
func (p *backend) enter(name string, ranks ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = nil
	for _, r := range ranks {
		if name != "" {
			p.calls = append(p.calls, rank.Call{Rank: r, Name: name})
		}
	}
}

// group calls NCCL for all ranks of this process, as a group.
func (p *backend) group(name string, each func(*part) error) error {
	p.enter(name, p.ranks()...)
	first := p.parts[0]
	if err := p.nccl.call(first.rank, 0, "ncclGroupStart"); err != nil {
		return err
	}
	for _, x := range p.parts {
		if err := each(x); err != nil {
			return err
		}
	}
	err := p.nccl.call(first.rank, first.comm, "ncclGroupEnd")
	if e, ok := err.(*hw.Error); ok {
		e.Text = "of " + name + ": " + e.Text
	}
	p.moved.Add(1)
	return err
}

// ranks lists the ranks of this process.
func (p *backend) ranks() (list []int) {
	for _, x := range p.parts {
		list = append(list, x.rank)
	}
	return list
}

// Prepare allocates the memory of the ranks, and creates the job's communicator.
func (p *backend) Prepare(_ context.Context, job *rank.Part) error {
	if len(job.Mine) == 0 {
		return nil
	}
	r := &request{}
	if err := gob.NewDecoder(bytes.NewReader(job.Detail)).Decode(r); err != nil {
		return err
	}
	p.parts, p.iterations = nil, job.Env.Iterations
	for i, number := range job.Mine {
		x, err := newPart(p, &r.Spec, number, job, job.Inputs[i])
		if err != nil {
			return err
		}
		p.parts = append(p.parts, x)
		p.moved.Add(1)
	}
	if err := p.join(r); err != nil {
		return err
	}
	p.enter("ncclRedOpCreatePreMulSum", p.ranks()...)
	for _, x := range p.parts {
		if err := x.use(); err != nil {
			return err
		}
		if err := x.prepare(); err != nil {
			return err
		}
	}
	if err := p.predict(); err != nil {
		return err
	}
	return p.Reset(0)
}

// predict stores NCCL's own prediction for the job's call, if the library has one.
func (p *backend) predict() error {
	if p.estimate = 0; !p.nccl.has("ncclGroupSimulateEnd") {
		return nil
	}
	p.enter("ncclGroupSimulateEnd", p.ranks()...)
	defer p.enter("")
	if err := p.nccl.call(p.parts[0].rank, 0, "ncclGroupStart"); err != nil {
		return err
	}
	for _, x := range p.parts {
		if err := x.enqueue(x.calls); err != nil {
			return err
		}
	}
	p.estimate = p.nccl.groupEstimate()
	p.moved.Add(1)
	return nil
}

// join creates the ranks' communicators. Like nccl-tests, it makes one call if all ranks are in
// this process; otherwise ranks join by an id.
func (p *backend) join(r *request) error {
	n := len(p.parts)
	p.comms, p.devices = make([]uintptr, n), make([]int32, n)
	if n == r.Spec.Ranks {
		p.enter("ncclCommInitAll", p.ranks()...)
		for i, x := range p.parts {
			p.devices[i] = int32(x.rank)
		}
		err := p.nccl.call(p.parts[0].rank, 0, "ncclCommInitAll", address(&p.comms[0]), uintptr(n),
			address(&p.devices[0]))
		if err != nil {
			return err
		}
	} else {
		i := 0
		err := p.group("ncclCommInitRank", func(x *part) error {
			if err := x.use(); err != nil {
				return err
			}
			args := withID(address(&p.comms[i]), r.Spec.Ranks, &r.ID, x.rank)
			i++
			return p.nccl.call(x.rank, 0, "ncclCommInitRank", args...)
		})
		if err != nil {
			return err
		}
	}
	for i, x := range p.parts {
		x.comm = p.comms[i]
	}
	p.moved.Add(1)
	return nil
}

// Reset makes the ranks ready for a repetition.
func (p *backend) Reset(uint32) error {
	p.enter("cuMemcpyHtoD_v2", p.ranks()...)
	defer p.enter("")
	for _, x := range p.parts {
		if err := x.reset(); err != nil {
			return err
		}
	}
	p.moved.Add(1)
	return nil
}

// Execute runs a repetition after a barrier of all ranks.
func (p *backend) Execute() ([]rank.Measurement, error) {
	if len(p.parts) == 0 {
		return nil, nil
	}
	defer p.enter("")
	err := p.group("ncclAllReduce", func(x *part) error { return x.enqueue(x.barrier()) })
	if err != nil {
		return nil, err
	}
	if err := p.wait("ncclAllReduce of the barrier", nil); err != nil {
		return nil, err
	}
	name := p.parts[0].calls[0].name
	measured := make([]rank.Measurement, len(p.parts))
	start := p.Now()
	for i := range p.iterations {
		for _, x := range p.parts {
			if i == 0 {
				break
			}
			if err := x.again(); err != nil {
				return nil, err
			}
		}
		if err := p.group(name, func(x *part) error { return x.enqueue(x.calls) }); err != nil {
			return nil, err
		}
	}
	return measured, p.wait(name, func(i int) {
		measured[i] = rank.Measurement{Start: start, End: p.Now(), Estimate: p.estimate}
	})
}

// Polling intervals. Streams are polled without a pause at first; communicators are polled at
// longer intervals. They are times rather than counts, since a round may take a thousand times as
// long on a busy processor.
const (
	busy       = 2 * time.Millisecond
	pause      = 20 * time.Microsecond
	askedEvery = 10 * time.Millisecond
)

// wait waits for the streams of all ranks, and calls ended for each. It polls the communicators for
// errors, too, since an error does not end a stream.
func (p *backend) wait(name string, ended func(i int)) error {
	for _, x := range p.parts {
		x.ended = false
	}
	since := time.Now()
	asked := since
	p.enter(name, p.ranks()...)
	for {
		var waiting []int
		for i, x := range p.parts {
			if x.ended {
				continue
			}
			done, err := x.done()
			if err != nil {
				return err
			}
			if !done {
				waiting = append(waiting, x.rank)
				continue
			}
			x.ended = true
			p.moved.Add(1)
			if ended != nil {
				ended(i)
			}
		}
		if len(waiting) == 0 {
			return nil
		}
		now := time.Now()
		if now.Sub(asked) > askedEvery {
			asked = now
			p.enter(name, waiting...)
			for _, x := range p.parts {
				if err := p.nccl.asynchronous(x.rank, x.comm); err != nil {
					return err
				}
			}
		}
		if now.Sub(since) > busy {
			time.Sleep(pause)
		}
	}
}

// Finish returns the outputs, and frees communicators and memory.
func (p *backend) Finish() (outputs [][]byte, err error) {
	for _, x := range p.parts {
		out, err := x.output()
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, out)
	}
	p.enter("ncclCommDestroy", p.ranks()...)
	defer p.enter("")
	for _, x := range p.parts {
		if err := x.end(); err != nil {
			return nil, err
		}
	}
	for _, x := range p.parts {
		if err := x.free(); err != nil {
			return nil, err
		}
	}
	p.parts = nil
	p.moved.Add(1)
	return outputs, nil
}

// Status reports progress, and the functions that have not returned or completed.
func (p *backend) Status() rank.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rank.Status{Progress: p.moved.Load(), Calls: append([]rank.Call(nil), p.calls...)}
}

// Stop kills the process, which ends its kernels and frees its memory. A blocked call or kernel
// cannot be interrupted.
func (p *backend) Stop(err error) {
	if err != nil {
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
	}
}

// Close does nothing: each job ends its own communicators.
func (p *backend) Close() error { return nil }
