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

// The environment of a rank: how Child knows that it is one, where the coordinator is and what it
// wants to hear, and which library to load. mpirun says which rank it is.
const (
	environment     = "COLLSIM_MPI_RANK"
	rankEnvironment = "OMPI_COMM_WORLD_RANK"
)

// Child does the work of a rank if this process was started for that, and returns the code to exit
// with. The main of a program that uses this package, and the TestMain of a test, must call it
// before anything else, in the goroutine that main runs in.
func Child() (code int, child bool) {
	network, rest, ok := strings.Cut(os.Getenv(environment), " ")
	if !ok {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // the coordinator gets it too, and knows what to do
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

// work goes to the coordinator and does what it says.
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

// backend executes one rank by the library, which it calls from one thread.
type backend struct {
	rank.Clock
	number int
	lib    *library
	moved  atomic.Int64 // progress
	part   part         // of the job; nil if there is none
	comm   uintptr      // the communicator of its ranks

	mu sync.Mutex // of part and in
	in string     // the function of the library that the rank is in
}

// part is a rank's part of a job.
type part interface {
	reset()                    // makes ready for a repetition
	execute() error            // does it
	recording() hw.Recording   // of the repetition that has ended
	output() []byte            // little-endian
	waits() []schedule.Waiting // what it waits for; called from another goroutine
}

// request is what rank.Part.Detail holds: a collective for the library to do.
type request struct {
	Spec   collective.Spec
	Choice openmpi.Choice
}

func (r *request) encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(r)
	return b.Bytes(), err
}

// requestOf is what is asked of the library; nil if that is a schedule's messages.
func requestOf(p *rank.Part) (*request, error) {
	if p.Detail == nil {
		return nil, nil
	}
	r := &request{}
	return r, gob.NewDecoder(bytes.NewReader(p.Detail)).Decode(r)
}

// enter notes which function of the library the rank is in; "" is none.
func (p *backend) enter(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.in = name
}

// Prepare makes the rank's part of a job. Variables count for communicators that are made after
// they are set; the next job's are its own.
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

// Reset makes the rank ready for a repetition.
func (p *backend) Reset(uint32) error {
	p.part.reset()
	return nil
}

// Execute plays once, when all ranks are there.
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

// Finish ends the rank's part of a job.
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

// Status is how far the rank has come, what its lanes wait for and what it has called.
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

// Stop ends the process: the library does not return before it has what it waits for.
func (p *backend) Stop(error) { kill(os.Getpid()) }

// Close ends the use of the library.
func (p *backend) Close() error { return p.lib.call("MPI_Finalize") }
