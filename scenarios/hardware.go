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
				"this machine."},
		{Path: "hardware.transport", kind: aChoice, Values: transports()[1:],
			Default: "goroutines; tcp with hosts and in a lab", Example: `"tcp"`, Sweep: true,
			Doc: "How the ranks of host talk: through the memory of one process, or as processes, by " +
				"Unix sockets or TCP. Those of nccl are in one process, or with unix in one each."},
		{Path: "hardware.network", kind: aChoice, Values: networks(),
			Default: `"machine"`, Example: `"lab"`, Sweep: true,
			Doc: "What messages go over: what is there, or a lab, network namespaces that are wired as " +
				"the topology is, with its bandwidths (Linux, root)."},
		{Path: "hardware.library", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Whether Open MPI does the collective by its own algorithm of the same name, or executes " +
				"the steps of ours."},
		{Path: "hardware.hosts", kind: aNames, Default: "this machine",
			Example: `["node1", "node2"]`,
			Doc: "Machines that the ranks are on, the first ranks on the first, as many on each as " +
				"comes out even; \"localhost\" is this one. Host and cuda say what to start on the others."},
		{Path: "hardware.listen", kind: anAddress, Default: "any port of 127.0.0.1",
			Example: `"10.0.0.1:7000"`,
			Doc:     "Address at which ranks of other machines reach this program; needed with hosts."},
	}, measureKeys()...)
}

// measureKeys returns the keys that say how often to measure and how exact to be.
func measureKeys() []Key {
	return []Key{
		{Path: "hardware.ranks", kind: aWhole, min: 1, max: maxHardware, Default: "any number",
			Example: "8",
			Doc:     "Ranks that the hardware has: what has more is simulated and not executed."},
		{Path: "hardware.repetitions", kind: aWhole, min: 1, max: maxRepetitions, Default: "5",
			Example: "20", Doc: "How often each schedule is executed and timed; the median counts."},
		{Path: "hardware.warmup", kind: aWhole, min: 0, max: maxRepetitions, Default: "1",
			Example: "5", Doc: "How often it is executed before that, untimed."},
		{Path: "hardware.timeout", kind: aTime, max: maxWait, Default: `"30 s"`, Example: `"5 s"`,
			Doc: "How long a run may make no progress, or a peer say nothing, before it is ended."},
		{Path: "hardware.tolerance.bits", kind: aChoice, Values: []string{"equal", "any"},
			Default: `"equal"`, Example: `"any"`,
			Doc: "Whether the bits of every result must be those that the schedule gives."},
		{Path: "hardware.tolerance.choice", kind: aChoice, Values: []string{"any", "equal"},
			Default: `"any"`, Example: `"equal"`,
			Doc: "Whether NCCL must choose the algorithm, protocol and channels that are simulated."},
		{Path: "hardware.tolerance.time_median", kind: aShare, max: int64(maxShare),
			Default: "no bound", Example: `"5 %"`,
			Doc: "Bound on the median of the errors of simulated times, signs aside."},
		{Path: "hardware.tolerance.time_p90", kind: aShare, max: int64(maxShare),
			Default: "no bound", Example: `"15 %"`, Doc: "Bound on their 90th percentile."},
		{Path: "hardware.known.match", kind: aText, Example: `"all_to_all/pairwise/*"`,
			Doc: "Results that are meant, by their ID in JSON, with * for any characters."},
		{Path: "hardware.known.why", kind: aText, Example: `"two processors carry eight ranks"`,
			Doc: "The reason, in a sentence."},
	}
}

// maxShare is 100 times the whole.
const maxShare = 100_000_000 * unit.Share(1)

// hardware reads the executor of a point and its settings.
func (v *view) hardware(h *Hardware) bool {
	executor, _ := fetchOr(v, "hardware.executor", string(Host))
	h.Executor = Executor(executor)
	h.Network, _, _ = choose[Network](v, "hardware.network", networks())
	h.Library, _ = fetchOr(v, "hardware.library", false)
	h.Hosts, _, _ = fetch[[]string](v, "hardware.hosts")
	h.Listen, _ = fetchOr(v, "hardware.listen", "")
	ranks, _ := fetchOr(v, "hardware.ranks", int64(0))
	repetitions, _ := fetchOr(v, "hardware.repetitions", int64(5))
	warmup, _ := fetchOr(v, "hardware.warmup", int64(1))
	timeout, _ := fetchOr(v, "hardware.timeout", 30*unit.Second)
	h.Ranks, h.Repetitions, h.Warmup = int(ranks), int(repetitions), int(warmup)
	h.Timeout = time.Duration(timeout / unit.Nanosecond)
	return v.transport(h)
}

// transport reads how ranks talk, and refuses what cannot be together.
func (v *view) transport(h *Hardware) bool {
	lab, away := h.Network == Lab, len(h.Hosts) > 0
	host, nccl := h.Executor == Host, h.Executor == NCCL
	callbacks := h.Executor == Callbacks
	transport, given, _ := choose[Transport](v, "hardware.transport", transports())
	switch {
	case !host && !nccl:
		h.Transport = NoTransport
	case given:
		h.Transport = transport
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
	t.Bits, _ = fetchOr(v, "hardware.tolerance.bits", "equal")
	choice, _ := fetchOr(v, "hardware.tolerance.choice", "any")
	t.SameChoice = choice == "equal"
	t.TimeMedian, _ = fetchOr(v, "hardware.tolerance.time_median", unit.Share(0))
	t.TimeP90, _ = fetchOr(v, "hardware.tolerance.time_p90", unit.Share(0))
	for i := range v.d.count("hardware.known") {
		at := numbered("hardware.known", i)
		match, ok1 := need[string](v, at+".match", "the ID of a result")
		why, ok2 := need[string](v, at+".why", "a reason")
		k := Known{match, why}
		if !ok1 || !ok2 {
			continue
		}
		if all && len(points) > 0 && !slices.ContainsFunc(points, k.Matches) {
			v.fail(at+".match", problem{"no result has such an ID", "for example " + points[0].ID})
		}
		known = append(known, k)
	}
	return t, known
}

// idleHardware says why a key of [hardware] has no effect. What only one executor has may be there
// for another: --hw chooses.
func idleHardware(k *Key) string {
	switch k.Path {
	case "hardware.hosts":
		return "has no effect: a lab is on this machine"
	case "hardware.listen":
		return "has no effect: all ranks are on this machine"
	}
	return ""
}
