package host

import (
	"encoding/binary"
	"encoding/gob"
	"net"
	"sync"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// What coordinator and ranks say to each other goes over a socket of its own, as gobs.
//
//	rank                          coordinator
//	hello ───────────────────────►             who I am, where peers reach me
//	    ◄───────────────────────── ping ×16    what is your clock?
//	pong ────────────────────────►
//	    ◄───────────────────────── job         schedule, input, peers: connect
//	ready ───────────────────────►
//	    ◄───────────────────────── go          when all are ready
//	done ────────────────────────►             and again: reset, ready, go, done
//	    ◄───────────────────────── finish
//	result ──────────────────────►             output and recording
//
// All the time a rank sends beats, which carry its progress; it may send failed. The coordinator
// may send why, answered by waits; abort, with what has failed and where; and bye.

// order is what the coordinator says.
type order struct {
	Kind  orderKind
	Epoch uint32
	Job   *task
	Keep  bool // of reset and finish: the repetition that has ended is the fastest so far
	Fault *hw.Error
}

type orderKind uint8

const (
	orderPing orderKind = 1 + iota
	orderJob
	orderReset
	orderGo
	orderFinish
	orderWhy
	orderAbort
	orderBye
)

// task is a rank's part of a job.
type task struct {
	Text  string // of the schedule
	Ranks int
	Input []byte
	Env   hw.Env
	Dirty bool
	Peers []peer // that the rank talks with
}

// peer is where a rank can be reached.
type peer struct {
	Rank    int32
	Address string
}

// report is what a rank says.
type report struct {
	Kind       reportKind
	Hello      *hello
	Clock      unit.Time
	Progress   int64
	Start, End unit.Time
	Sent, Got  int64
	Output     []byte
	Recording  hw.Recording
	Waits      []schedule.Waiting
	Fault      *hw.Error
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
	Run     string // that it believes to take part in
	Rank    int
	Address string    // at which peers reach it
	Wall    unit.Time // the wall clock when its clock was 0, in nanoseconds since 1970
	Order   string    // of bytes in a number
	RanOn   hw.RanOn
	Host    string
}

// byteOrder tells machines apart whose memory differs.
func byteOrder() string {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return "little-endian"
	}
	return "big-endian"
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
