package rank

import (
	"encoding/binary"

	"collsim/hw"
	"collsim/unit"
)

// What the coordinator and its workers say to each other:
//
//	worker                        coordinator
//	hello ───────────────────────►             who I am
//	ready ───────────────────────►             can take up jobs; where peers reach me
//	    ◄───────────────────────── ping ×16    what is your clock?
//	pong ────────────────────────►
//	    ◄───────────────────────── job         to all workers: a part of it, or none
//	prepared ────────────────────►
//	    ◄───────────────────────── go          to those with a part, when all are prepared
//	done ────────────────────────►             times and recordings; and again:
//	    ◄───────────────────────── reset
//	prepared ────────────────────►             go, done
//	    ◄───────────────────────── finish      to all workers
//	result ──────────────────────►             outputs
//
// All the time both send beats; a worker's carry its progress. A worker may send failed. The
// coordinator may send why, answered by status; abort, with what has failed and where; and bye.

// An order is a message of the coordinator.
type order struct {
	Kind  orderKind
	Epoch uint32 // of reset
	Part  *Part
	Fault *hw.Error // of abort
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
	orderBeat
)

// A report is a message of a worker.
type report struct {
	Kind     reportKind
	Hello    *hello // of hello
	Ready    *Ready // of ready
	Clock    unit.Time
	Measured []Measurement
	Outputs  [][]byte
	Status   Status
	Fault    *hw.Error   // of failed
	Missing  *hw.Missing // of failed
}

type reportKind uint8

const (
	reportHello reportKind = 1 + iota
	reportReady
	reportPong
	reportPrepared
	reportDone
	reportResult
	reportStatus
	reportBeat
	reportFailed
)

// String formats what a worker that has not sent the report was expected to do.
func (k reportKind) String() string {
	return [...]string{"", "to come", "to get ready", "to tell its clock", "to get ready",
		"to end", "to return its output", "to say what it waits for", "to live", "to fail"}[k]
}

// hello introduces a worker.
type hello struct {
	Worker  int
	Process int    // process number
	Machine string // that the process number belongs to: see machine
	Host    string // name of its machine
	Wall    int64  // wall-clock time at which its clock was 0, in nanoseconds since 1970
	Order   string // of bytes in a number
}

// byteOrder returns the byte order of this machine, which the workers of a job must share.
func byteOrder() string {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return "little-endian"
	}
	return "big-endian"
}
