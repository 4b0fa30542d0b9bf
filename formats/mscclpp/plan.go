package mscclpp

import "collsim/schedule"

// plan holds the contents of a file.
type plan struct {
	name, collective string
	protocol         string
	inPlace          bool
	reuse            bool // reuse_resources: scratch has a fixed size
	double           bool // use_double_scratch_buffer: launches alternate between its halves
	align            int64
	least, most      uint64 // message size in bytes
	gpus             []gpu
}

// gpu is one of the plan's ranks.
type gpu struct {
	line       int
	id         int64
	chunks     [3]int64 // of input, output and scratch
	channels   []channel
	remotes    []remote
	semaphores []int64 // initial values
	blocks     []block
}

// kind is the type of a channel.
type kind uint8

const (
	none kind = iota
	memoryChannel
	portChannel
	switchChannel
)

var kindNames = [...]string{"none", "memory", "port", "switch"}

// channel is an entry of a GPU's channels: to peers, or to groups of ranks through a switch.
type channel struct {
	line   int
	kind   kind
	peers  []int32
	buffer schedule.Buffer // of a switch
	groups [][]int32
}

// remote is a buffer of another rank that a GPU may access.
type remote struct {
	line   int
	rank   int64
	buffer schedule.Buffer
	access [4]bool // by kind
}

// block is a thread block.
type block struct {
	line              int
	id                int64
	channels, remotes [4][]int32 // by kind: indices into the GPU's
	ops               []op
}

// op is an operation.
type op struct {
	line     int
	what     *operation
	kind     kind
	src, dst []ref
	channels []int32 // indices into the block's of that kind
	tb, tbs  int64   // index and number of the thread blocks that share the operation
	barrier  int64
	blocks   int64 // number of blocks at the barrier
	sems     []int32
	unit     int64 // bytes of an iteration of a pipeline
	chunks   int64 // of a whole pipeline
	body     []op
	reduce   string

	in, out []operand // resolved
	wires   []int32   // indices into the GPU's channels of that kind
}

// ref is a range of chunks of a buffer that an operation names.
type ref struct {
	line        int
	space       byte            // 'l'ocal, 'r'emote, 's'witch
	buffer      schedule.Buffer // of a local one
	id          int64           // of the remote buffer or switch channel, index into the block's
	index, size int64           // chunks
	rank        int64           // −1 if not given
}

// Keys of an operation, a bit each.
const (
	keySrc = 1 << iota
	keyDst
	keyKind
	keyChannels
	keyReduce
	keyTBG
	keyBarrier
	keyBlocks
	keySems
	keyIter
	keyOps
	keyBuffer
	keyOffset
	keySize
	keyChunk
)

var keyNames = [...]string{"src_buff", "dst_buff", "channel_type", "channel_ids", "reduce_op",
	"tbg_info", "barrier_id", "num_threadblocks", "semaphore_ids", "iter_context", "ops",
	"buffer_type", "buffer_offset", "size", "dst_chunk"}

// operation describes the operations of a name.
//
// Operands are spelled as letters: l plain elements of this rank; p packets of this rank; q the
// same, read without checking their flags; r plain elements of another rank; R packets there; s
// plain elements through a switch; S packets through one. A star repeats the letter before it, zero
// or more times.
type operation struct {
	name       string
	need, may  int // keys
	kinds      string
	src, dst   string
	pairs      bool // the i-th source goes to the i-th destination; else all are of one size
	signals    bool
	waits      bool
	relaxed    bool
	packsFirst bool // packets are added before the plain operand
	unknown    bool // not known to the executor
}

const (
	moves   = keySrc | keyDst
	reaches = moves | keyKind
)

// operations lists all operations, in the order of their explanation in doc.go.
var operations = []operation{
	{name: "nop"},
	{name: "barrier", need: keyBarrier | keyBlocks},
	{name: "signal", need: keyKind | keyChannels, kinds: "memory port", signals: true},
	{name: "wait", need: keyKind | keyChannels, kinds: "memory port", waits: true},
	{name: "rlxsignal", need: keyKind | keyChannels, kinds: "memory port", signals: true,
		relaxed: true},
	{name: "rlxwait", need: keyKind | keyChannels, kinds: "memory port", waits: true, relaxed: true},
	{name: "put", need: reaches, may: keyChannels | keyTBG, kinds: "memory port", src: "ll*",
		dst: "rr*", pairs: true},
	{name: "pws", need: reaches | keyChannels, may: keyTBG, kinds: "port", src: "ll*", dst: "rr*",
		pairs: true, signals: true},
	{name: "pwsf", need: reaches | keyChannels, may: keyTBG, kinds: "port", src: "ll*", dst: "rr*",
		pairs: true, signals: true},
	{name: "flush", need: keyKind | keyChannels, kinds: "port"},
	{name: "get", need: reaches, may: keyChannels | keyTBG, kinds: "memory", src: "rr*", dst: "ll*",
		pairs: true},
	{name: "copy", need: moves, may: keyTBG, src: "l", dst: "l"},
	{name: "re", need: moves, may: keyTBG | keyReduce, src: "ll*", dst: "l"},
	{name: "res", need: reaches, may: keyChannels | keyTBG | keyReduce, kinds: "memory", src: "ll*",
		dst: "lr*"},
	{name: "rre", need: reaches, may: keyChannels | keyTBG | keyReduce, kinds: "memory", src: "lr*",
		dst: "l"},
	{name: "rres", need: reaches, may: keyChannels | keyTBG | keyReduce, kinds: "memory", src: "lr*",
		dst: "lr*"},
	{name: "ppkt", need: reaches, may: keyChannels | keyTBG, kinds: "memory port", src: "ll*",
		dst: "RR*", pairs: true},
	{name: "rppkt", need: reaches, may: keyChannels | keyTBG, kinds: "memory port", src: "p",
		dst: "RR*"},
	{name: "cpkt", need: moves, may: keyTBG, src: "l", dst: "p"},
	{name: "upkt", need: moves, may: keyTBG, src: "p", dst: "l"},
	{name: "repkt", need: moves, may: keyTBG | keyReduce, src: "lp*", dst: "l", packsFirst: true},
	{name: "respkt", need: reaches, may: keyChannels | keyTBG | keyReduce, kinds: "memory",
		src: "lp*", dst: "lR*", packsFirst: true},
	{name: "recpkt", need: moves, may: keyTBG | keyReduce, src: "lp*", dst: "lp", packsFirst: true},
	{name: "recspkt", need: reaches, may: keyChannels | keyTBG | keyReduce, kinds: "memory",
		src: "lp*", dst: "lpR*", packsFirst: true},
	{name: "glres", need: reaches, may: keyChannels | keyTBG | keyReduce, kinds: "switch", src: "s",
		dst: "s"},
	{name: "gstore", need: reaches, may: keyChannels | keyTBG, kinds: "switch", src: "l", dst: "s"},
	{name: "gstorepkt", need: reaches, may: keyChannels | keyTBG, kinds: "switch", src: "p", dst: "S"},
	{name: "glre", need: keyBuffer | keyOffset | keySize | keyChunk | keyChannels | keyKind,
		may: keyReduce, kinds: "switch", src: "s", dst: "l", unknown: true},
	{name: "sem_acquire", need: keySems},
	{name: "sem_release", need: keySems},
	{name: "pipeline", need: keyIter | keyOps},
}

// letter returns the letter of the i-th operand of a pattern, 0 if it has none.
func letter(pattern string, i int) byte {
	star := len(pattern) > 0 && pattern[len(pattern)-1] == '*'
	if star {
		pattern = pattern[:len(pattern)-1]
	}
	switch {
	case i < len(pattern):
		return pattern[i]
	case star:
		return pattern[len(pattern)-1]
	}
	return 0
}

// least returns the fewest operands of a pattern.
func least(pattern string) int {
	if n := len(pattern); n > 0 && pattern[n-1] == '*' {
		return n - 2
	}
	return len(pattern)
}
