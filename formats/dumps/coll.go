package dumps

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/collective/calls"
	"collsim/formats/internal/loglines"
)

// NCCL writes a line for each call that it takes: src/enqueue.cc. Its opCount counts launches, is 0
// throughout in some versions, and is not used: calls are numbered in the order of the log.

// isCollLog recognises a log with such a line.
func isCollLog(text []byte) bool {
	return bytes.Contains(text, []byte(": opCount ")) && bytes.Contains(text, []byte(" [nranks="))
}

// collReader reads logs of one or of all ranks.
type collReader struct {
	*builder
	loglines.Cleaner
	call, init, head *regexp.Regexp
	all              []*process
	known            map[string]*process
}

// process makes the calls of a rank: one GPU of a process.
type process struct {
	who   string // "host:pid:GPU"
	file  int    // rank of its file, −1 if the file has several
	world int    // rank that it states for itself, −1 if it does not
	comms []*comm
	made  []collCall
}

// comm is a communicator of a process.
type comm struct {
	address    string
	id         string // common to its ranks, empty if not known
	rank, size int    // −1 and 0 if not known
}

// collCall is a call with its communicator.
type collCall struct {
	calls.Call
	comm *comm
}

func newCollReader(b *builder) reader {
	re := regexp.MustCompile
	return &collReader{builder: b, Cleaner: loglines.New(), known: map[string]*process{},
		head: re(`(\S+:\d+):\d+ \[(-?\d+)\] (?:\S+:\d+ )?NCCL (?:INFO|TRACE) (.*)$`),
		call: re(`^(\w+): opCount [0-9a-f]+ sendbuff \S+ recvbuff \S+ count (\d+) datatype (\d+) ` +
			`op (\d+) root (-?\d+) comm (0x[0-9a-f]+) \[nranks=(\d+)\] stream \S+` +
			`(?:.* globalrank (\d+))?`),
		init: re(`comm (0x[0-9a-f]+) rank (\d+) n[rR]anks (\d+)(?: .*commId (0x[0-9a-f]+))?`)}
}

func (r *collReader) read(f file) error {
	for line := range strings.Lines(string(f.text)) {
		for _, p := range r.Pieces(line) {
			if m := r.head.FindStringSubmatch(strings.TrimRight(p.Text, "\r\n")); m != nil {
				r.message(r.process(m[1]+":"+m[2], f), m[3])
			}
		}
	}
	return nil
}

// process returns the process that has written a line.
func (r *collReader) process(who string, f file) *process {
	key := who
	if r.files > 1 { // hosts may have one name in containers
		key = f.name + who
	}
	p := r.known[key]
	if p == nil {
		p = &process{who: who, file: f.rank, world: -1}
		r.known[key] = p
		r.all = append(r.all, p)
	}
	return p
}

// message reads a message of a process.
func (r *collReader) message(p *process, message string) {
	if m := r.init.FindStringSubmatch(message); m != nil {
		c := p.comm(m[1])
		if c.id != "" && m[4] != "" && c.id != m[4] { // the address is used again
			c = &comm{address: m[1]}
			p.comms = append(p.comms, c)
		}
		c.rank, c.size = min(atoi(m[2]), most), min(atoi(m[3]), most)
		c.id = cmp.Or(m[4], c.id)
	}
	m := r.call.FindStringSubmatch(message)
	if m == nil {
		return
	}
	c := p.comm(m[6])
	if c.size == 0 {
		c.rank, c.size = -1, min(atoi(m[7]), most)
	}
	if m[8] != "" {
		p.world = min(atoi(m[8]), most)
	}
	p.made = append(p.made, collCall{r.callOf(m), c})
}

// comm returns the last communicator of a process at an address.
func (p *process) comm(address string) *comm {
	for _, c := range slices.Backward(p.comms) {
		if c.address == address {
			return c
		}
	}
	c := &comm{address: address, rank: -1}
	p.comms = append(p.comms, c)
	return c
}

// callOf reads a call. A peer is a place in its communicator here.
func (r *collReader) callOf(m []string) calls.Call {
	n, _ := strconv.ParseInt(m[2], 10, 64)
	c := calls.Call{In: n, Out: n, Root: -1}
	c.Kind, c.Name = kindOf(m[1])
	if t := atoi(m[3]); t < len(ncclTypes) {
		c.Type = ncclTypes[t]
	}
	if op := atoi(m[4]); c.Kind.Reduces() && op < len(ncclOps) {
		c.Op = ncclOps[op]
	}
	switch {
	case m[1] == "Send" || m[1] == "Recv":
		c.Kind, c.Name = collective.SendRecv, strings.ToLower(m[1])
		c.Sends, c.Peer = m[1] == "Send", atoi(m[5])
	case c.Kind.Rooted():
		c.Root = atoi(m[5])
	}
	return c
}

// end numbers ranks, groups and calls.
func (r *collReader) end() error {
	r.all = slices.DeleteFunc(r.all, func(p *process) bool { return len(p.made) == 0 })
	if len(r.all) == 0 {
		return &ParseError{Text: "no line of a call is whole: AllReduce: opCount … sendbuff … " +
			"recvbuff … count … comm … [nranks=…]"}
	}
	if err := r.number(); err != nil {
		return err
	}
	places := map[string]map[int]int{} // by communicator: ranks by their places in it
	for _, p := range r.all {
		for i, c := range p.comms {
			if places[p.nameOf(i)] == nil {
				places[p.nameOf(i)] = map[int]int{}
			}
			if c.rank >= 0 {
				places[p.nameOf(i)][c.rank] = p.world
			}
		}
	}
	for _, p := range r.all {
		r.add(p, places)
	}
	return nil
}

// number gives processes their ranks: that of the file, or that in the largest communicator, or
// else their order by host and GPU.
func (r *collReader) number() error {
	slices.SortStableFunc(r.all, func(a, b *process) int { return compareProcesses(a.who, b.who) })
	taken := map[int]*process{}
	alone := map[int]int{}
	hosts, gpus := map[string]bool{}, map[int]bool{}
	for _, p := range r.all {
		alone[p.file]++
		hosts[hostOf(p.who)], gpus[gpuOf(p.who)] = true, true
	}
	onOne := len(hosts) == 1 && len(gpus) == len(r.all)
	for i, p := range r.all {
		largest := slices.MaxFunc(p.comms, func(a, b *comm) int { return cmp.Compare(a.size, b.size) })
		switch {
		case p.file >= 0 && alone[p.file] == 1:
			p.world = p.file
		case p.world >= 0:
		case largest.rank >= 0:
			p.world = largest.rank
		default:
			if p.world = i; onOne {
				p.world = gpuOf(p.who)
			}
			r.note("which rank a process is, the log does not say (NCCL_DEBUG_SUBSYS=INIT,COLL " +
				"does): they are numbered by host and GPU")
		}
		if other := taken[p.world]; other != nil {
			return &ParseError{Text: fmt.Sprintf("%s and %s are both of rank %d", other.who, p.who,
				p.world), Hint: "NCCL_DEBUG_SUBSYS=INIT,COLL writes which communicator is which"}
		}
		taken[p.world] = p
	}
	return nil
}

// compareProcesses orders processes by host, GPU and number.
func compareProcesses(a, b string) int {
	return cmp.Or(strings.Compare(hostOf(a), hostOf(b)), cmp.Compare(gpuOf(a), gpuOf(b)),
		strings.Compare(a, b))
}

// hostOf and gpuOf return the host and the GPU of "host:pid:GPU".
func hostOf(who string) string { return who[:strings.IndexByte(who, ':')] }
func gpuOf(who string) int     { return min(atoi(who[strings.LastIndexByte(who, ':')+1:]), most-1) }

// nameOf names a communicator alike on all its ranks: by its id or, if it is not known, by its size
// and place among those of that size.
func (p *process) nameOf(i int) string {
	c := p.comms[i]
	if c.id != "" {
		return c.id
	}
	n := 1
	for _, other := range p.comms[:i] {
		if other.size == c.size {
			n++
		}
	}
	return fmt.Sprintf("%d of size %d", n, c.size)
}

// add adds the calls of a process.
func (r *collReader) add(p *process, places map[string]map[int]int) {
	own := r.rank(p.world)
	made := map[int]int64{}
	batch, last := 0, -1
	for _, one := range p.made {
		name := p.nameOf(slices.Index(p.comms, one.comm))
		in := places[name]
		var members []int
		if len(in) == one.comm.size {
			for place := range one.comm.size {
				members = append(members, in[place])
			}
		}
		c := one.Call
		c.Group = r.group(name, "communicator", members)
		if c.Message() { // several in a row may be made in one group of NCCL's: nothing orders them
			if c.Group != last {
				batch++
			}
			last, c.Batch = c.Group, batch
			if world, known := in[c.Peer]; known {
				c.Peer = world
			}
		} else {
			last = -1
			if world, known := in[c.Root]; known && c.Root >= 0 {
				c.Root = world
			}
			c.Seq = made[c.Group]
			made[c.Group]++
		}
		own.Calls = append(own.Calls, c)
	}
	if missing := len(places[p.nameOf(0)]); missing > 0 && missing < p.comms[0].size {
		r.note("of the %d ranks of communicator %s only %d are in the log", p.comms[0].size,
			p.nameOf(0), missing)
	}
}
