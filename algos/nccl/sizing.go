package nccl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The threads of a channel at most, of a task at least, and of a warp.
const (
	mostThreads  = 640
	leastThreads = 3 * warp
	warp         = 32
)

// sizes holds the variables of buffers, chunks and threads; 0 leaves one to the library.
type sizes struct {
	buffers              [protocols]int64 // of a connection, bytes
	nvlsChunk, nvlsMax   int64            // of NVLS, and of NVLSTree at most
	threads, lineThreads int              // of a channel by Simple and LL, and by LL128
	p2p                  p2pSizes
	// thresholds are the bytes of a thread, at least, by Tree and Ring, and by protocol; negative ones
	// are the library's.
	thresholds [2][protocols]int64
	// overhead is the time that processors take for a message of a ring between nodes, microseconds.
	overhead                   float64
	hasThresholds, hasOverhead bool
}

// p2pSizes has the sizes that variables set for sends and receives; 0 leaves one to the library.
type p2pSizes struct {
	nvlink, pcie, network int64 // bytes of a chunk: within a node with NVLinks, without, over several
	ll                    int64 // bytes of a part up to which it is by LL, if hasLL
	hasLL                 bool
	min, max              int // channels
	netPeer               int // channels of a message over the network
}

// sizing lists the variables that change how a call is cut, and so what the library takes for it.
func sizing() []variable {
	buffer := func(p Protocol) func(*Env, string) error {
		return bytes(func(e *Env) *int64 { return &e.buffers[p] })
	}
	threads := func(of func(*Env) *int) func(*Env, string) error {
		return func(e *Env, s string) (err error) {
			if *of(e), err = strconv.Atoi(s); err != nil || *of(e) < 1 || *of(e) > 1<<16 {
				return fmt.Errorf("a number of threads is expected")
			}
			return nil
		}
	}
	return append([]variable{
		{"NCCL_BUFFSIZE", "bytes of a connection by Simple", buffer(Simple)},
		{"NCCL_LL_BUFFSIZE", "of one by LL", buffer(LL)},
		{"NCCL_LL128_BUFFSIZE", "of one by LL128", buffer(LL128)},
		{"NCCL_NVLS_CHUNKSIZE", "bytes of a chunk of NVLS",
			bytes(func(e *Env) *int64 { return &e.nvlsChunk })},
		{"NCCL_NVLSTREE_MAX_CHUNKSIZE", "of one of NVLSTree at most",
			bytes(func(e *Env) *int64 { return &e.nvlsMax })},
		{"NCCL_NTHREADS", "threads of a channel by Simple and LL",
			threads(func(e *Env) *int { return &e.threads })},
		{"NCCL_LL128_NTHREADS", "by LL128", threads(func(e *Env) *int { return &e.lineThreads })},
		{"NCCL_THREAD_THRESHOLDS", "bytes of a thread, at least", (*Env).readThresholds},
		{"NCCL_NET_OVERHEAD", "nanoseconds that processors take for a message",
			func(e *Env, s string) error {
				n, err := strconv.Atoi(s)
				if err != nil || n < 0 || n > 1e9 {
					return fmt.Errorf("nanoseconds are expected")
				}
				e.overhead, e.hasOverhead = float64(n)/1000, true
				return nil
			}},
	}, sending()...)
}

// sending lists the variables of sends and receives.
func sending() []variable {
	channels := func(of func(*Env) *int) func(*Env, string) error {
		return func(e *Env, s string) (err error) {
			if *of(e), err = strconv.Atoi(s); err != nil || *of(e) < 1 || *of(e) > MaxChannels {
				return fmt.Errorf("1 to %d is expected", MaxChannels)
			}
			return nil
		}
	}
	return []variable{
		{"NCCL_P2P_NVL_CHUNKSIZE", "bytes of a chunk of a send within a node with NVLinks",
			bytes(func(e *Env) *int64 { return &e.p2p.nvlink })},
		{"NCCL_P2P_PCI_CHUNKSIZE", "within a node without",
			bytes(func(e *Env) *int64 { return &e.p2p.pcie })},
		{"NCCL_P2P_NET_CHUNKSIZE", "over several nodes",
			bytes(func(e *Env) *int64 { return &e.p2p.network })},
		{"NCCL_P2P_LL_THRESHOLD", "bytes of a send's part up to which it is by LL",
			func(e *Env, s string) error {
				n, err := strconv.ParseInt(s, 10, 64)
				if err != nil || n < 0 || n > mostSize {
					return fmt.Errorf("0 to %d bytes are expected", mostSize)
				}
				e.p2p.ll, e.p2p.hasLL = n, true
				return nil
			}},
		{"NCCL_MIN_P2P_NCHANNELS", "channels of sends at least",
			channels(func(e *Env) *int { return &e.p2p.min })},
		{"NCCL_MAX_P2P_NCHANNELS", "channels of sends at most",
			channels(func(e *Env) *int { return &e.p2p.max })},
		{"NCCL_NCHANNELS_PER_NET_PEER", "channels of a send over the network",
			channels(func(e *Env) *int { return &e.p2p.netPeer })},
	}
}

// bytes sets a size.
func bytes(of func(*Env) *int64) func(*Env, string) error {
	return func(e *Env, s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < leastSize || n > mostSize {
			return fmt.Errorf("%d to %d bytes are expected", leastSize, mostSize)
		}
		*of(e) = n
		return nil
	}
}

// What a size of a variable is, at least and at most.
const (
	leastSize = 16 << 10
	mostSize  = 1 << 30
)

// readThresholds reads up to six numbers, of Tree and then of Ring, by LL, LL128 and Simple;
// negative ones leave one to the library. Blanks of the variable are commas here.
func (e *Env) readThresholds(text string) error {
	fields := strings.Split(text, ",")
	if len(fields) > 2*int(protocols) {
		return fmt.Errorf("six numbers at most are expected")
	}
	for i := range e.thresholds {
		e.thresholds[i] = [protocols]int64{-1, -1, -1}
	}
	for i, field := range fields {
		n, err := strconv.ParseInt(field, 10, 32)
		if err != nil {
			return fmt.Errorf("%.20q: a number of bytes is expected", field)
		}
		e.thresholds[i/int(protocols)][i%int(protocols)] = n
	}
	e.hasThresholds = true
	return nil
}

// buffer returns the bytes of a connection by a protocol.
func (m *model) buffer(p Protocol) int64 {
	if m.env == nil {
		return p.buffer()
	}
	return cmp.Or(m.env.buffers[p], p.buffer())
}

// threadsOf returns the most threads of a channel, usual if nothing is set: a multiple of a warp
// between two bounds, else the larger of these (graph/tuning.cc, getNthreads).
func (e *Env) threadsOf(p Protocol, usual int64) int64 {
	if e == nil {
		return usual
	}
	n, least, most := e.threads, 2*warp, 512
	if p == LL128 {
		n, least, most = e.lineThreads, mostThreads/4, mostThreads
	}
	switch {
	case n == 0:
		return usual
	case n%warp != 0:
		return int64(most)
	}
	return int64(max(least, min(n, most)))
}

// threshold returns the bytes of a thread, at least.
func (e *Env) threshold(w Way, usual int64) int64 {
	at := slices.Index([]Algorithm{Tree, Ring}, w.Algorithm)
	if e == nil || !e.hasThresholds || at < 0 || e.thresholds[at][w.Protocol] < 0 {
		return usual
	}
	return e.thresholds[at][w.Protocol]
}
