package msccl

import "strings"

// program holds the contents of a file, unchanged.
type program struct {
	name, protocol, coll string
	ranks, channels      int
	chunks               int32 // per loop: chunks of the larger buffer of a rank
	inPlace              bool
	outOfPlace           bool
	modes                bool  // outOfPlace is given: the file names all of its modes
	minBytes, maxBytes   int64 // −1 where the file has none
	compact              bool
	copies               int // number of pre- and post-copies, which the runtimes do not execute
	gpus                 []gpu
}

// gpu is the program of a rank.
type gpu struct {
	line, id int32
	chunks   [numBuffers]int32
	blocks   []block
}

// block is a thread block. Peers are −1 where there is none.
type block struct {
	line, id               int32
	send, receive, channel int32
	steps                  []step
}

// step is one line of a thread block.
type step struct {
	line, number       int32
	kind               kind
	from, to           operand
	count              int32
	waitBlock, waitFor int32 // depid and deps, −1 for none
	flag               bool  // hasdep
}

// buffer is one of a gpu's buffers.
type buffer uint8

const (
	input buffer = iota
	output
	scratch
	numBuffers
)

var bufferNames = [...]string{"i", "o", "s"}

// operand is a chunk, the first of a step's; −1 is none.
type operand struct {
	buffer buffer
	chunk  int32
}

// kind is the type of a step.
type kind uint8

const (
	nop kind = iota
	send
	receive
	copying
	reduce
	receiveCopySend
	receiveReduceSend
	receiveReduceCopy
	receiveReduceCopySend
)

var kindNames = [...]string{"nop", "s", "r", "cpy", "re", "rcs", "rrs", "rrc", "rrcs"}

func (k kind) String() string { return kindNames[k] }

func (k kind) sends() bool {
	return k == send || k == receiveCopySend || k == receiveReduceSend || k == receiveReduceCopySend
}

func (k kind) receives() bool { return k >= receive && k != copying && k != reduce }

// reads reports whether the step has a local operand at (srcbuf, srcoff).
func (k kind) reads() bool {
	return k == send || k == copying || k == reduce || k >= receiveReduceSend
}

// writes reports whether the step stores its value at (dstbuf, dstoff).
func (k kind) writes() bool { return k >= receive && k != receiveReduceSend }

// unchecked reports whether the runtimes do not check the step's offsets: their check of rrc is
// missing.
func (k kind) unchecked() bool { return k == receiveReduceCopy }

func parseKind(name string) (kind, bool) {
	for k, n := range kindNames {
		if n == name {
			return kind(k), true
		}
	}
	return 0, false
}

func kinds() string { return strings.Join(kindNames[:], ", ") }
