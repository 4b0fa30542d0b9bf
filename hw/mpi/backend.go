package mpi

import (
	"bytes"
	"context"
	"encoding/gob"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
	"collsim/schedule"
)

// The environment of a rank. The first variable makes a process a rank: it has the coordinator's
// address, the secret, and the library to load. mpirun sets the second, the rank's number.
const (
	environment     = "COLLSIM_MPI_RANK"
	rankEnvironment = "OMPI_COMM_WORLD_RANK"
)

// Child executes a rank if this process was started as one, and returns the exit code. The main of
// a program that uses this package, and the TestMain of a test, must call it first, in the main
// goroutine.
func Child() (code int, child bool) {
	network, rest, ok := strings.Cut(os.Getenv(environment), " ")
	if !ok {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // a terminal sends it to the coordinator, too, which decides
	address, rest, _ := strings.Cut(rest, " ")
	text, libraryName, _ := strings.Cut(rest, " ")
	secret, err := gate.ParseSecret(text)
	if err != nil {
		return 2, true
	}
	runtime.LockOSThread() // the only thread that calls the library
	r := rank.Rendezvous{Network: network, Address: address, Secret: secret}
	if err := work(r, libraryName); err != nil {
		return 1, true
	}
	return 0, true
}

// work connects to the coordinator and follows its orders.
func work(r rank.Rendezvous, libraryName string) error {
	number, notOurs := strconv.Atoi(os.Getenv(rankEnvironment))
	if notOurs == nil {
		r.Worker = number
	}
	ctx := context.Background()
	w, err := rank.Come(ctx, r)
	if err != nil {
		return err
	}
	p, version, err := begin(libraryName, w.Clock)
	if notOurs != nil {
		err = &hw.Missing{What: "Open MPI", Why: "what started the ranks is another's: " +
			notOurs.Error(), Get: get}
	}
	if err != nil {
		w.Failed(err)
		w.Close()
		return err
	}
	return w.Serve(ctx, p, rank.Ready{RanOn: hw.Here("mpi", version)})
}

// begin loads the library and initializes it.
func begin(libraryName string, clock rank.Clock) (p *backend, version string, err error) {
	lib, err := load(libraryName)
	if err != nil {
		return nil, "", err
	}
	if version, err = lib.version(); err != nil {
		return nil, "", err
	}
	if !strings.Contains(version, "Open MPI") {
		return nil, "", &hw.Missing{What: "Open MPI", Why: "the library is " + version, Get: get}
	}
	number, _, err := lib.begin()
	return &backend{Clock: clock, lib: lib, number: number}, version, err
}

// A backend executes one rank with the library, which it calls from one thread.
type backend struct {
	rank.Clock
	number int
	lib    *library
	moved  atomic.Int64 // progress
	part   part         // of the job; nil for none
	comm   uintptr      // communicator of the job's ranks

	mu sync.Mutex // guards part and in
	in string     // library function that the rank is in
}

// A part is a rank's share of a job.
type part interface {
	reset()                    // prepares a repetition
	execute() error            // executes it
	recording() hw.Recording   // of the last repetition
	output() []byte            // little-endian
	waits() []schedule.Waiting // of the lanes; called from another goroutine
}

// A request is the content of rank.Part.Detail: a collective for the library.
type request struct {
	Spec   collective.Spec
	Choice openmpi.Choice
}

// encode encodes the request as a gob.
func (r *request) encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(r)
	return b.Bytes(), err
}

// requestOf decodes the request of a part; nil if the part has a schedule.
func requestOf(p *rank.Part) (*request, error) {
	if p.Detail == nil {
		return nil, nil
	}
	r := &request{}
	return r, gob.NewDecoder(bytes.NewReader(p.Detail)).Decode(r)
}

// enter records the library function that the rank is in; "" is none.
func (p *backend) enter(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.in = name
}

// Prepare creates the rank's share of a job. The library reads its variables when a communicator is
// created. So each job sets them before it creates its own communicator.
func (p *backend) Prepare(_ context.Context, job *rank.Part) error {
	asked, err := requestOf(job)
	if err != nil {
		return err
	}
	var variables []variable
	if asked != nil {
		if variables, err = variablesOf(asked.Choice); err != nil {
			return err
		}
	}
	for _, v := range variables {
		if err := p.lib.set(v.name, v.value); err != nil {
			return err
		}
	}
	p.enter("MPI_Comm_split")
	defer p.enter("")
	comm, err := p.lib.split(job.Ranks)
	if err != nil {
		return err
	}
	for _, v := range variables {
		if !strings.HasSuffix(v.name, "_algorithm") {
			continue
		}
		if err := p.lib.set(v.name, 0); err != nil {
			return err
		}
	}
	p.moved.Add(1)
	if comm == 0 {
		return nil
	}
	p.comm = comm
	var made part
	if asked != nil {
		made, err = newCall(p, asked, job)
	} else {
		made, err = newSteps(p, job)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.part = made
	p.mu.Unlock()
	return p.Reset(0)
}

// Reset prepares a repetition.
func (p *backend) Reset(uint32) error {
	p.part.reset()
	return nil
}

// Execute runs a repetition after a barrier of all ranks.
func (p *backend) Execute() ([]rank.Measurement, error) {
	defer p.moved.Add(1)
	p.enter("MPI_Barrier")
	if err := p.lib.call("MPI_Barrier", p.comm); err != nil {
		return nil, err
	}
	p.enter("")
	p.moved.Add(1)
	start := p.Now()
	if err := p.part.execute(); err != nil {
		return nil, err
	}
	return []rank.Measurement{{Start: start, End: p.Now(), Recording: p.part.recording()}}, nil
}

// Finish returns the output and frees the communicator.
func (p *backend) Finish() ([][]byte, error) {
	defer p.moved.Add(1)
	if p.part == nil {
		return nil, nil
	}
	out := p.part.output()
	p.mu.Lock()
	p.part = nil
	p.mu.Unlock()
	return [][]byte{out}, p.lib.free(p.comm)
}

// Status reports the rank's progress, what its lanes wait for, and the library function that it is
// in.
func (p *backend) Status() rank.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := rank.Status{Progress: p.moved.Load()}
	if p.part != nil {
		st.Waits = p.part.waits()
	}
	if p.in != "" {
		st.Calls = []rank.Call{{Rank: p.number, Name: p.in}}
	}
	return st
}

// Stop kills the process: a blocked library function cannot be interrupted.
func (p *backend) Stop(error) { kill(os.Getpid()) }

// Close finalizes the library.
func (p *backend) Close() error { return p.lib.call("MPI_Finalize") }
