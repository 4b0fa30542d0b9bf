package mpi

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// The environment of a rank: how Child knows that it is one, where the coordinator is, and which
// library to load. mpirun says which rank it is.
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
	address, libraryName, _ := strings.Cut(rest, " ")
	runtime.LockOSThread() // the only thread that calls the library
	if err := work(network, address, libraryName); err != nil {
		return 1, true
	}
	return 0, true
}

// worker is a rank. Its first goroutine, on the library's thread, does what jobs need; others hear
// the coordinator and tell it that the rank lives.
type worker struct {
	*channel
	rank   int
	since  time.Time
	lib    *library
	orders chan order
	pace   atomic.Int64 // nanoseconds between two beats
	hurry  chan struct{}
	moved  atomic.Int64 // progress
	part   part         // of the job; nil if there is none
	comm   uintptr      // the communicator of its ranks

	mu sync.Mutex
	in string // the function of the library that the rank is in
}

// part is a rank's part of a job.
type part interface {
	reset()                    // makes ready for a repetition
	play() error               // does it
	keep()                     // keeps what was noted of the one that has ended
	output() []byte            // little-endian
	notes() hw.Recording       // that were kept
	waits() []schedule.Waiting // what it waits for; called from another goroutine
}

// work goes to the coordinator and does what it says. All errors but that of a lost coordinator
// have been reported to it.
func work(network, address, libraryName string) error {
	since := time.Now()
	conn, err := net.DialTimeout(network, address, hw.DefaultTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	w := &worker{channel: newChannel(conn), since: since, orders: make(chan order),
		hurry: make(chan struct{}, 1)}
	w.pace.Store(int64(paceOf(time.Second)))
	if err := w.introduce(libraryName); err != nil {
		w.failed(err)
		return err
	}
	go w.beat()
	go w.listen()
	for o := range w.orders {
		if o.Kind == orderBye {
			return w.lib.call("MPI_Finalize")
		}
		if err := w.do(&o); err != nil {
			w.failed(err)
		}
	}
	return nil
}

// introduce loads the library, initializes it and says who the rank is.
func (w *worker) introduce(libraryName string) error {
	host, _ := os.Hostname()
	var notOurs error
	if w.rank, notOurs = strconv.Atoi(os.Getenv(rankEnvironment)); notOurs != nil {
		w.rank = 0
	}
	h := &hello{Rank: w.rank, Process: os.Getpid(), Wall: unit.Time(w.since.UnixNano()), Host: host,
		Machine: machine()}
	if err := w.send(report{Kind: reportHello, Hello: h}); err != nil { // so that it can be ended
		return err
	}
	if notOurs != nil {
		return &Missing{"Open MPI", "what started the ranks is another's: " + notOurs.Error(), get}
	}
	lib, err := load(libraryName)
	if err != nil {
		return err
	}
	lib.rank, w.lib = w.rank, lib
	version, err := lib.version()
	if err != nil {
		return err
	}
	if !strings.Contains(version, "Open MPI") {
		return &Missing{"Open MPI", "the library is " + version, get}
	}
	rank, ranks, err := lib.begin()
	if err != nil {
		return err
	}
	h.Rank, h.Ranks, h.Library = rank, ranks, version
	h.RanOn = hw.Here("mpi", version)
	return w.send(report{Kind: reportReady, Hello: h})
}

// beat tells every now and then that the rank lives, and how far it has come.
func (w *worker) beat() {
	for w.send(report{Kind: reportBeat, Progress: w.moved.Load()}) == nil {
		select {
		case <-w.hurry: // there is another timeout
		case <-time.After(time.Duration(w.pace.Load())):
		}
	}
}

// failed tells the coordinator what this rank has met. It will end it.
func (w *worker) failed(err error) {
	r := report{Kind: reportFailed, Text: err.Error()}
	errors.As(err, &r.Fault)
	errors.As(err, &r.Missing)
	w.send(r)
}

// listen hears the coordinator. When that is gone, so is the rank, whatever it is in the middle of.
func (w *worker) listen() {
	for {
		var o order
		if err := w.channel.in.Decode(&o); err != nil {
			kill(os.Getpid())
		}
		switch o.Kind {
		case orderPing:
			w.send(report{Kind: reportPong, Clock: w.now()})
		case orderWhy:
			w.mu.Lock()
			r := report{Kind: reportWaits, In: w.in}
			if w.part != nil {
				r.Waits = w.part.waits()
			}
			w.mu.Unlock()
			w.send(r)
		default:
			if w.orders <- o; o.Kind == orderBye {
				return // the rank ends by itself
			}
		}
	}
}

func (w *worker) now() unit.Time { return unit.Time(time.Since(w.since)) * unit.Nanosecond }

// enter notes which function of the library the rank is in; "" is none.
func (w *worker) enter(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in = name
}

// do does a part of a job and reports.
func (w *worker) do(o *order) (err error) {
	r := report{}
	defer w.moved.Add(1)
	switch o.Kind {
	case orderJob:
		r.Kind = reportReady
		w.pace.Store(int64(paceOf(o.Job.Env.Timeout)))
		select {
		case w.hurry <- struct{}{}:
		default:
		}
		err = w.prepare(o.Job)
	case orderGo:
		r.Kind = reportDone
		if o.Keep {
			w.part.keep()
		}
		r.Start, r.End, err = w.repeat()
	case orderFinish:
		r.Kind = reportResult
		if w.part != nil {
			if o.Keep {
				w.part.keep()
			}
			r.Output, r.Recording = w.part.output(), w.part.notes()
		}
		err = w.dismantle()
	default:
		err = fmt.Errorf("mpi: order %d is none", o.Kind)
	}
	if err != nil {
		return err
	}
	return w.send(r)
}

// repeat plays once, when all ranks are there.
func (w *worker) repeat() (start, end unit.Time, err error) {
	w.part.reset()
	w.enter("MPI_Barrier")
	if err := w.lib.call("MPI_Barrier", w.comm); err != nil {
		return 0, 0, err
	}
	w.enter("")
	w.moved.Add(1)
	start = w.now()
	err = w.part.play()
	return start, w.now(), err
}

// prepare makes the rank's part of a job.
func (w *worker) prepare(t *task) error {
	w.enter("MPI_Comm_split")
	defer w.enter("")
	var variables []variable
	if t.Text == "" {
		var err error
		if variables, err = t.Choice.variables(); err != nil {
			return err
		}
	}
	for _, v := range variables {
		if err := w.lib.set(v.name, v.value); err != nil {
			return err
		}
	}
	comm, err := w.lib.split(t.Ranks)
	if err != nil {
		return err
	}
	for _, v := range variables {
		if !strings.HasSuffix(v.name, "_algorithm") {
			continue
		}
		if err := w.lib.set(v.name, 0); err != nil { // the next job's are its own
			return err
		}
	}
	if comm == 0 {
		return nil
	}
	w.comm = comm
	made, err := w.partOf(t)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.part = made
	return nil
}

func (w *worker) partOf(t *task) (part, error) {
	if t.Text == "" {
		return newCall(w, t)
	}
	return newPlayer(w, t)
}

// dismantle ends the rank's part of a job.
func (w *worker) dismantle() error {
	if w.part == nil {
		return nil
	}
	w.mu.Lock()
	w.part = nil
	w.mu.Unlock()
	return w.lib.free(w.comm)
}
