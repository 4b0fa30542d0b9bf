package mpi

import (
	"encoding/gob"
	"net"
	"sync"
	"time"

	"collsim/collective"
	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// What the coordinator and the ranks say to each other goes over a socket of its own, as gobs.
//
//	rank                          coordinator
//	hello ───────────────────────►             who I am; MPI has been initialized
//	    ◄───────────────────────── ping ×16    what is your clock?
//	pong ────────────────────────►
//	    ◄───────────────────────── job         to all: those that are no part of it say ready too
//	ready ───────────────────────►
//	    ◄───────────────────────── go          MPI_Barrier, then play
//	done ────────────────────────►             and again: go, done
//	    ◄───────────────────────── finish      to all
//	result ──────────────────────►             output and recording
//
// All the time a rank sends beats, which carry its progress; it may send failed. The coordinator
// may send why, answered by waits; and bye. A rank whose socket ends, ends.

// order is what the coordinator says.
type order struct {
	Kind orderKind
	Job  *task
	Keep bool // of go and finish: the repetition before is the fastest so far
}

type orderKind uint8

const (
	orderPing orderKind = 1 + iota
	orderJob
	orderGo
	orderFinish
	orderWhy
	orderBye
)

// task is a rank's part of a job.
type task struct {
	Ranks  int // that take part: the first
	Text   string
	Spec   collective.Spec
	Choice Choice // of a job without a text
	Input  []byte
	Env    hw.Env
}

// report is what a rank says.
type report struct {
	Kind       reportKind
	Hello      *hello
	Clock      unit.Time
	Progress   int64
	Start, End unit.Time
	Output     []byte
	Recording  hw.Recording
	Waits      []schedule.Waiting
	In         string // the MPI function that a rank is in, of waits
	Fault      *hw.Error
	Missing    *Missing
	Text       string // of a fault that is neither
}

type reportKind uint8

const (
	reportHello reportKind = 1 + iota
	reportPong
	reportReady
	reportDone
	reportResult
	reportWaits
	reportBeat
	reportFailed
)

func (k reportKind) String() string {
	return [...]string{"", "to come", "to tell its clock", "to get ready", "to end",
		"to return its output", "to say what it waits for", "to live", "to fail"}[k]
}

// hello introduces a rank.
type hello struct {
	Rank, Ranks int
	Process     int       // its number
	Wall        unit.Time // the wall clock when its clock was 0, in nanoseconds since 1970
	Library     string
	Host        string
	Machine     string // that its process's number is of
	RanOn       hw.RanOn
}

// channel is a socket for orders and reports. Sending is safe from several goroutines.
type channel struct {
	conn net.Conn
	in   *gob.Decoder
	mu   sync.Mutex
	out  *gob.Encoder
}

func newChannel(conn net.Conn) *channel {
	return &channel{conn: conn, in: gob.NewDecoder(conn), out: gob.NewEncoder(conn)}
}

func (c *channel) send(v any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Encode(v)
}

// paceOf is how often a rank says that it lives.
func paceOf(timeout time.Duration) time.Duration {
	return min(max(timeout/8, time.Millisecond), time.Second)
}
