package scenarios

import (
	"slices"
	"strings"
	"time"

	"collsim/unit"
)

// Hardware says where and how a point is executed for real.
type Hardware struct {
	Executor  Executor
	Transport Transport // of Host; of NCCL, Goroutines is one process and Unix one a rank
	Network   Network
	Library   bool // of MPI: the library's own algorithms, not our steps
	Hosts     []string
	Listen    string // address at which ranks of other hosts reach this program
	Ranks     int    // a point with more is not executed; 0 is any number
	// Repetitions are measured, after Warmup that are not.
	Repetitions, Warmup int
	Timeout             time.Duration // without progress
	// Random has Callbacks take turns and deliver messages in an order that Seed draws.
	Random bool  `digest:"set"`
	Seed   int64 `digest:"set"` // 0 where nothing is drawn
}

// Tolerance bounds the differences between measurements and predictions.
type Tolerance struct {
	Bits string // "equal", or "any"
	// SameChoice has a library that chooses by itself choose what is simulated.
	SameChoice bool
	// TimeMedian and TimeP90 bound the median and the 90th percentile of the errors of all times of
	// the scenario; 0 is no bound.
	TimeMedian, TimeP90 unit.Share
}

// Known is a reason why results miss.
type Known struct {
	Match string // IDs of points, * for any characters
	Why   string
}

// Matches reports whether a point is meant.
func (k *Known) Matches(p *Point) bool { return wild(k.Match, p.ID) }

// wild reports whether a text is what a pattern says, in which * stands for any characters.
func wild(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// The most of each that a scenario may ask for.
const (
	maxRepetitions = 100_000
	maxHardware    = 4096 // ranks, which are processes
)

func hardwareKeys() []Key {
	return append([]Key{
		{Path: "hardware.executor", kind: aChoice, Values: executors(),
			Default: `"host"`, Example: `"mpi"`, Sweep: true,
			Doc: "What executes the schedules: host, the processors of this machine or of hosts; " +
				"callbacks, one thread that waits for nothing and runs what messages make ready; mpi, Open " +
				"MPI; cuda, our steps on the GPUs of this machine or of hosts; or nccl, NCCL on the GPUs of " +
				"this machine.",
			to: set(func(h *Hardware, name string) { h.Executor = Executor(name) })},
		{Path: "hardware.transport", kind: aChoice, Values: transports()[1:],
			Default: "goroutines; tcp with hosts and in a lab", Example: `"tcp"`, Sweep: true,
			Doc: "How the ranks of host talk: through the memory of one process, or as processes, by " +
				"Unix sockets or TCP. Those of nccl are in one process, or with unix in one each.",
			to: pick(transports(), func(h *Hardware, to Transport) { h.Transport = to })},
		{Path: "hardware.network", kind: aChoice, Values: networks(),
			Default: `"machine"`, Example: `"lab"`, Sweep: true,
			Doc: "What messages go over: what is there, or a lab, network namespaces that are wired as " +
				"the topology is, with its bandwidths (Linux, root).",
			to: pick(networks(), func(h *Hardware, to Network) { h.Network = to })},
		{Path: "hardware.library", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Whether Open MPI does the collective by its own algorithm of the same name, or executes " +
				"the steps of ours.", to: set(func(h *Hardware, on bool) { h.Library = on })},
		{Path: "hardware.delivery", kind: aChoice, Values: []string{"in order", "random"},
			Default: `"in order"`, Example: `"random"`, Sweep: true,
			Doc: "In which order callbacks take their turns and get messages: as they were sent, or " +
				"drawn by the seed, in any order that a network allows.",
			to:   set(func(h *Hardware, name string) { h.Random = name == "random" }),
			idle: `messages have an order of their own but with executor = "callbacks"`},
		{Path: "hardware.hosts", kind: aNames, Default: "this machine",
			Example: `["node1", "node2"]`,
			Doc: "Machines that the ranks are on, the first ranks on the first, as many on each as " +
				"comes out even; \"localhost\" is this one. Host and cuda say what to start on the others.",
			to:   set(func(h *Hardware, names []string) { h.Hosts = names }),
			idle: "a lab is on this machine"},
		{Path: "hardware.listen", kind: anAddress, Default: "any port of 127.0.0.1",
			Example: `"10.0.0.1:7000"`,
			Doc:     "Address at which ranks of other machines reach this program; needed with hosts.",
			to:      set(func(h *Hardware, address string) { h.Listen = address }),
			idle:    "all ranks are on this machine"},
	}, measureKeys()...)
}

// measureKeys returns the keys that say how often to measure and how exact to be.
func measureKeys() []Key {
	return []Key{
		{Path: "hardware.ranks", kind: aWhole, min: 1, max: maxHardware, Default: "any number",
			Example: "8",
			Doc:     "Ranks that the hardware has: what has more is simulated and not executed.",
			to:      set(func(h *Hardware, n int64) { h.Ranks = int(n) })},
		{Path: "hardware.repetitions", kind: aWhole, min: 1, max: maxRepetitions, Default: "5",
			Example: "20", Doc: "How often each schedule is executed and timed; the median counts.",
			to: set(func(h *Hardware, n int64) { h.Repetitions = int(n) })},
		{Path: "hardware.warmup", kind: aWhole, min: 0, max: maxRepetitions, Default: "1",
			Example: "5", Doc: "How often it is executed before that, untimed.",
			to: set(func(h *Hardware, n int64) { h.Warmup = int(n) })},
		{Path: "hardware.timeout", kind: aTime, max: maxWait, Default: `"30 s"`, Example: `"5 s"`,
			Doc: "How long a run may make no progress, or a peer say nothing, before it is ended.",
			to:  set(func(h *Hardware, t unit.Time) { h.Timeout = time.Duration(t / unit.Nanosecond) })},
		{Path: "hardware.tolerance.bits", kind: aChoice, Values: []string{"equal", "any"},
			Default: `"equal"`, Example: `"any"`,
			Doc: "Whether the bits of every result must be those that the schedule gives.",
			to:  set(func(t *Tolerance, name string) { t.Bits = name })},
		{Path: "hardware.tolerance.choice", kind: aChoice, Values: []string{"any", "equal"},
			Default: `"any"`, Example: `"equal"`,
			Doc: "Whether NCCL must choose the algorithm, protocol and channels that are simulated.",
			to:  set(func(t *Tolerance, name string) { t.SameChoice = name == "equal" })},
		{Path: "hardware.tolerance.time_median", kind: aShare, max: int64(maxShare),
			Default: "no bound", Example: `"5 %"`,
			Doc: "Bound on the median of the errors of simulated times, signs aside.",
			to:  set(func(t *Tolerance, most unit.Share) { t.TimeMedian = most })},
		{Path: "hardware.tolerance.time_p90", kind: aShare, max: int64(maxShare),
			Default: "no bound", Example: `"15 %"`, Doc: "Bound on their 90th percentile.",
			to: set(func(t *Tolerance, most unit.Share) { t.TimeP90 = most })},
		{Path: "hardware.known.match", kind: aText, Example: `"all_to_all/pairwise/*"`,
			Doc:  "Results that are meant, by their ID in JSON, with * for any characters.",
			must: "the ID of a result", to: set(func(k *Known, id string) { k.Match = id })},
		{Path: "hardware.known.why", kind: aText, Example: `"two processors carry eight ranks"`,
			Doc:  "The reason, in a sentence.",
			must: "a reason", to: set(func(k *Known, text string) { k.Why = text })},
	}
}

// maxShare is 100 times the whole.
const maxShare = 100_000_000 * unit.Share(1)

// hardware reads the executor of a point and its settings.
func (v *view) hardware(h *Hardware) bool {
	v.fill("hardware", h)
	lab, away := h.Network == Lab, len(h.Hosts) > 0
	host, nccl := h.Executor == Host, h.Executor == NCCL
	callbacks := h.Executor == Callbacks
	if callbacks {
		v.use("hardware.delivery")
	}
	if h.Random = h.Random && callbacks; h.Random {
		h.Seed, _ = fetchOr(v, "seed", int64(0))
	}
	switch {
	case !host && !nccl:
		h.Transport = NoTransport
	case h.Transport != NoTransport:
	case host && (lab || away):
		h.Transport = TCP
	default:
		h.Transport = Goroutines
	}
	h.Library = h.Library && h.Executor == MPI
	if !lab {
		v.use("hardware.hosts")
	}
	if away || !host && !nccl && !lab {
		v.use("hardware.listen")
	}
	switch {
	case h.Timeout <= 0:
		v.fail("hardware.timeout", problem{"a time of at least 1 ns is expected", ""})
	case callbacks && lab:
		v.fail("hardware.network", problem{"callbacks run in one thread, which talks over no network",
			`write network = "machine"`})
	case h.Executor == CUDA && lab:
		v.fail("hardware.network", problem{"cuda talks over what connects the GPUs and their machines",
			`write network = "machine"`})
	case callbacks && away:
		v.fail("hardware.hosts", problem{"callbacks run in one thread, on this machine alone",
			`leave it out, or write executor = "host"`})
	case nccl && lab:
		v.fail("hardware.network", problem{"NCCL talks over what connects the GPUs of this machine",
			`write network = "machine"`})
	case nccl && away:
		v.fail("hardware.hosts", problem{"the GPUs of nccl are those of this machine alone",
			"leave it out"})
	case nccl && h.Transport == TCP:
		v.fail("hardware.transport", problem{"the ranks of nccl are in one process, or in one each",
			`write transport = "goroutines" or "unix"`})
	case host && (lab || away) && h.Transport != TCP:
		v.fail("hardware.transport", problem{"between machines, and in a lab, ranks talk by TCP",
			`write transport = "tcp"`})
	case away && !lab && !v.has("hardware.listen"):
		v.missing("hardware", "listen", "the address at which the other machines reach this one",
			`for example listen = "10.0.0.1:7000"`)
	default:
		return true
	}
	return false
}

// tolerance reads how far is too far, and which points are known to be. A pattern that means none
// of them is refused, unless they are fewer than the file has.
func (v *view) tolerance(points []*Point) (t Tolerance, known []Known) {
	all := len(v.d.fixed)+len(v.d.sets) == 0
	v.fill("hardware.tolerance", &t)
	for i := range v.d.count("hardware.known") {
		at := numbered("hardware.known", i)
		var k Known
		if !v.fill(at, &k) {
			continue
		}
		if all && len(points) > 0 && !slices.ContainsFunc(points, k.Matches) {
			v.fail(at+".match", problem{"no result has such an ID", "for example " + points[0].ID})
		}
		known = append(known, k)
	}
	return t, known
}
