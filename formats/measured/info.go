package measured

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/unit"
)

// Facts holds what a file states of a run besides its times; of several runs the last that states
// it. Zero is not stated.
type Facts struct {
	Version      string // of NCCL or RCCL, as "2.21.5+cuda12.4"
	Ranks, Nodes int
	Channels     int // of collectives
	NVLSChannels int
	P2PChannels  int
	// Rings has the ranks of a channel's ring in their order; nil where the log cuts it short.
	Rings       [][]int
	Devices     []Device // in the order in which they are listed
	Environment []string // NAME=VALUE, as the library has taken it
}

// Device is the GPU of a rank.
type Device struct {
	Rank     int
	Host     string
	PID      int64
	Index    int    // on its host
	Bus, GPU string // as "0000:1b:00", "NVIDIA H100 80GB HBM3"
}

// library reads the lines that NCCL and RCCL write with NCCL_DEBUG=INFO or VERSION. Their forms are
// those of NCCL's source: src/debug.cc, init.cc, enqueue.cc, graph/rings.cc.
type library struct {
	Facts
	start, version, tuning, timed, channels, ring, comm, nodes, set *regexp.Regexp

	choices map[call]Choice
	stated  int // ranks that the lines of a run agree on; −1 if they do not
}

// call identifies the calls of a line of the tuner; kind is 0 in lines that do not state it.
type call struct {
	kind  collective.Kind
	bytes unit.Bytes
}

func newLibrary() library {
	re := regexp.MustCompile
	return library{
		start: re(`(^\s*|\S*:\d+:\d+ )\[-?\d+\] (\S+:\d+ )?NCCL (INFO|WARN|TRACE|ABORT) ?|` +
			`[NR]CCL version\s*:? ?\d`),
		version: re(`^[NR]CCL version\s*:? ?(\d\S*)`),
		tuning: re(`^(\w+)( \[(.+)\])?: (\d+) Bytes -> ` +
			`(Algo (\w+) proto (\w+) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\})?`),
		timed:    re(`^(\d+) Bytes -> Algo (\d) proto (\d) time `),
		channels: re(`^(\d+) coll channels, .*?((\d+) nvls channels, )?(\d+) p2p channels,`),
		ring:     re(`^Channel (\d+)/(\d+) :((\s+\d+)+)\s*$`),
		comm:     re(`comm 0x\w+ rank \d+ n[rR]anks (\d+)`),
		nodes:    re(`n[rR]anks (\d+) nNodes (\d+)`),
		set:      re(`(NCCL_\w+) set by environment to (\S+?)\.?\s*$`),
		choices:  map[call]Choice{},
	}
}

// cut splits a line at a message of the library, which may interrupt a row: what stands before it,
// and the message. A number that runs into the name of the host belongs to the row.
func (l *library) cut(line string, hosts map[string]bool) (before, message string, found bool) {
	if !strings.Contains(line, "CCL") {
		return line, "", false
	}
	at := l.start.FindStringIndex(line)
	if at == nil {
		return line, "", false
	}
	head, message := line[at[0]:at[1]], line[at[1]:]
	if strings.Contains(head, "version") {
		return line[:at[0]], line[at[0]:], true
	}
	host, _, _ := strings.Cut(head, ":")
	if strings.TrimSpace(line[:at[0]]) == "" {
		return "", message, true
	}
	for i := range host {
		if hosts[host[i:]] {
			return line[:at[0]] + host[:i], message, true
		}
	}
	return line[:at[0]] + gluedNumber(host), message, true
}

// gluedNumber returns the number that a text begins with, if letters follow it.
func gluedNumber(text string) string {
	if strings.HasPrefix(text, "-1") {
		return "-1"
	}
	number := text[:len(text)-len(strings.TrimLeft(text, "0123456789."))]
	if rest := text[len(number):]; rest == "" || !isLetter(rest[0]) || !isNumber(number) {
		return ""
	}
	return number
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// read reads a message.
func (l *library) read(message string) {
	message = strings.TrimSpace(message)
	if m := l.version.FindStringSubmatch(message); m != nil {
		l.Version = m[1]
	}
	l.readTuning(message)
	if m := l.channels.FindStringSubmatch(message); m != nil {
		l.Channels, l.NVLSChannels, l.P2PChannels = atoi(m[1]), atoi(m[3]), atoi(m[4])
	}
	if m := l.ring.FindStringSubmatch(message); m != nil {
		l.readRing(atoi(m[1]), atoi(m[2]), strings.Fields(m[3]))
	}
	if m := l.comm.FindStringSubmatch(message); m != nil {
		l.state(atoi(m[1]))
	}
	if m := l.nodes.FindStringSubmatch(message); m != nil {
		l.state(atoi(m[1]))
		l.Nodes = atoi(m[2])
	}
	if m := l.set.FindStringSubmatch(message); m != nil {
		l.setting(m[1] + "=" + m[2])
	}
}

// state keeps the number of ranks of a communicator.
func (l *library) state(ranks int) {
	l.Ranks = ranks
	if l.stated == 0 {
		l.stated = ranks
	} else if l.stated != ranks {
		l.stated = -1
	}
}

// setting adds a variable of the environment, once.
func (l *library) setting(text string) {
	if !slices.Contains(l.Environment, text) {
		l.Environment = append(l.Environment, text)
	}
}

// readTuning reads what the library has chosen: in versions that name the collective, and in older
// ones, which number algorithms and protocols.
func (l *library) readTuning(message string) {
	if !strings.Contains(message, " Bytes -> ") {
		return
	}
	if m := l.tuning.FindStringSubmatch(message); m != nil {
		chosen := Choice{Algorithm: cmp.Or(m[6], m[3]), Protocol: m[7]}
		if m[6] != "" {
			chosen.Channels = atoi(m[9]) - atoi(m[8]) + 1
		}
		if kind := kindOf(m[1]); kind != 0 && chosen.Algorithm != "" {
			l.choices[call{kind, unit.Bytes(atoi(m[4]))}] = chosen
		}
	}
	if m := l.timed.FindStringSubmatch(message); m != nil {
		algorithms := []string{"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE"}
		protocols := []string{"LL", "LL128", "SIMPLE"}
		if a, p := atoi(m[2]), atoi(m[3]); a < len(algorithms) && p < len(protocols) {
			l.choices[call{0, unit.Bytes(atoi(m[1]))}] = Choice{algorithms[a], protocols[p], 0}
		}
	}
}

// choice returns what the library has last chosen for a row's collective and size. It names the
// block of a rank where all_gather and reduce_scatter are timed by the whole vector.
func (l *library) choice(r *Row) Choice {
	size := r.Size
	if (r.Kind == collective.AllGather || r.Kind == collective.ReduceScatter) && r.Ranks > 0 {
		size /= unit.Bytes(r.Ranks)
	}
	if c, known := l.choices[call{r.Kind, size}]; known {
		return c
	}
	return l.choices[call{0, r.Size}]
}

// readRing reads the ring of a channel; it may be cut short in the log.
func (l *library) readRing(channel, of int, order []string) {
	if of < 1 || of > maxChannels || channel >= of {
		return
	}
	if len(l.Rings) != of {
		l.Rings = make([][]int, of)
	}
	ring := make([]int, len(order))
	for i, rank := range order {
		ring[i] = atoi(rank)
	}
	l.Rings[channel] = ring
}

// maxChannels bounds the channels of a library; NCCL has 64.
const maxChannels = 1024

// atoi parses digits; what is too large is 0.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n > int(mostWhole) {
		return 0
	}
	return n
}

// versionOf spells a version as NCCL numbers it: 22808 is 2.28.8.
func versionOf(code int) string {
	if code <= 0 {
		return ""
	}
	if code < 10000 { // before 2.9
		return fmt.Sprintf("%d.%d.%d", code/1000, code%1000/100, code%100)
	}
	return fmt.Sprintf("%d.%d.%d", code/10000, code%10000/100, code%100)
}
