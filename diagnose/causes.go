package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// Cause is a single change of a scenario.
type Cause struct {
	Group string // what is changed, wherever it is: "one NIC at half rate"
	Place string // where: "node0/nic0"; empty if there is one place
	Test  string // which measurement would confirm it; empty for none
	// Change holds the keys of its [[variant]], in TOML; empty for the scenario as it is.
	Change string
}

// Name returns what is changed, and where.
func (c *Cause) Name() string {
	if c.Place == "" {
		return c.Group
	}
	return c.Group + " (" + c.Place + ")"
}

// AsIs is the cause without a change.
const AsIs = "the scenario as it is"

// places bounds how many places of one change are tried: links, NICs and GPUs that are alike.
const places = 3

// facts holds what decides which causes are possible.
type facts struct {
	point   *scenarios.Point
	classes []*class
	nics    []string // of all nodes
	library bool     // NCCL chooses how the collective is done
}

// kind makes the causes of one kind for a scenario; none where they are not possible.
type kind func(f *facts) []Cause

// kinds lists what is tried, in the order in which equally near causes are named.
func kinds() []kind {
	return []kind{asIs, slowLinks, slowLink, absentNIC, fewerNICs, oversubscribed, slowNetwork,
		withoutNVLink, slowGPU, otherOrder, oneProcess, algorithms, protocols, withoutNVLS, channels,
		crossNIC, withoutPXN}
}

// Causes lists the single changes of a scenario that may explain a log. The first is no change.
func Causes(p *scenarios.Point, g *topology.Graph) (list []Cause) {
	f := &facts{point: p, classes: classes(g), nics: nics(g),
		library: strings.HasPrefix(p.Algorithm.Name, "nccl:")}
	for _, make := range kinds() {
		list = append(list, make(f)...)
	}
	return list
}

func asIs(*facts) []Cause { return []Cause{{Group: AsIs}} }

// slowLinks halves the rate of all links of a class.
func slowLinks(f *facts) (list []Cause) {
	for _, c := range f.classes {
		group := "all links " + c.kind() + " at half rate"
		test := "p2pBandwidthLatencyTest, or sendrecv_perf between two GPUs of a node"
		if c.between() {
			group = "all NICs at half rate"
			test = "lspci: LnkSta (PCIe a generation down) and ACSCtl (ACS on); GDRDMA in NCCL's log " +
				"(GPUDirect); ib_write_bw --use_cuda of one NIC"
		}
		list = append(list, Cause{Group: group, Test: test, Change: link(c.name, half)})
	}
	return list
}

// slowLink halves the rate of one link of a class.
func slowLink(f *facts) (list []Cause) {
	for _, c := range f.classes {
		if len(c.links) < 2 {
			continue
		}
		group := "one link " + c.kind() + " at half rate"
		test := "nvidia-smi nvlink -s, lspci: LnkSta; sendrecv_perf of each pair of GPUs"
		if c.between() {
			group = "one NIC at half rate"
			test = "sendrecv_perf between pairs of nodes, then ib_write_bw of each NIC"
		}
		for _, l := range spread(c.links, places) {
			list = append(list, Cause{Group: group, Test: test, Change: link(l, half),
				Place: short(c, l)})
		}
	}
	return list
}

// short names a link by its NIC, or by both ends: "node0/gpu0–switch".
func short(c *class, link string) string {
	from, to, _ := strings.Cut(link, " <-> ")
	if c.between() {
		return from
	}
	node, _, _ := strings.Cut(from, "/")
	return from + "–" + strings.TrimPrefix(to, node+"/")
}

func absentNIC(f *facts) (list []Cause) {
	for _, nic := range spread(f.nics, places) {
		list = append(list, Cause{Group: "one NIC absent", Place: nic, Change: absent(nic),
			Test: "NET/IB in NCCL's log of each node lists its NICs; ibstat"})
	}
	return list
}

// fewerNICs leaves out NICs of every node.
func fewerNICs(f *facts) (list []Cause) {
	all := len(f.nics) / max(1, f.point.Topology.Nodes)
	for few := all / 2; few > 0; few /= 2 {
		var gone []string
		for nic := range all {
			if nic*few/all == (nic+1)*few/all { // those that stay are evenly spread
				gone = append(gone, fmt.Sprintf("node*/nic%d", nic))
			}
		}
		list = append(list, Cause{Group: fmt.Sprintf("%d of %d NICs of each node", few, all),
			Change: absent(gone...), Test: "NCCL_IB_HCA; NET/IB in NCCL's log lists the NICs"})
	}
	return list
}

// oversubscribed joins the nodes by fewer links than their NICs have.
func oversubscribed(f *facts) (list []Cause) {
	between := f.between()
	if between == nil {
		return nil
	}
	preset := `"topology.network.preset" = "leaf-spine", `
	if strings.Contains(between.name, "leaf") || strings.Contains(between.name, "edge") {
		preset = ""
	}
	for _, ratio := range []int{2, 4} {
		list = append(list, Cause{Group: fmt.Sprintf("a network oversubscribed %d:1", ratio),
			Change: set(fmt.Sprintf(`%s"topology.network.oversubscription" = %d`, preset, ratio)),
			Test:   "sendrecv_perf between nodes of one leaf, then of two, by one pair and by all"})
	}
	return list
}

// slowNetwork adds latency to every message between nodes.
func slowNetwork(f *facts) []Cause {
	between := f.between()
	if between == nil {
		return nil
	}
	const more = 5 * unit.Microsecond // at either end
	latency := fmt.Sprintf("latency = %q", (between.first.Latency + more).String())
	return []Cause{{Group: "10 us more between nodes", Change: link(between.name, latency),
		Test: "ib_write_lat between two nodes"}}
}

// between returns the links between NICs and the network, nil if there are none.
func (f *facts) between() *class {
	at := slices.IndexFunc(f.classes, func(c *class) bool { return c.between() })
	if at < 0 {
		return nil
	}
	return f.classes[at]
}

// withoutNVLink gives the links of GPUs to a switch the rate of PCIe.
func withoutNVLink(f *facts) (list []Cause) {
	const pcie = 25e9 // of generation 4, as GPUs reach it
	for _, c := range f.classes {
		if c.ofGPUs() && strings.HasSuffix(c.name, "switch") && c.first.Bandwidth > 2*pcie {
			list = append(list, Cause{Group: "no NVLink: GPUs by PCIe at 25 GB/s",
				Change: link(c.name, `bandwidth = "25 GB/s"`),
				Test:   "nvidia-smi nvlink -s; P2P/CUMEM or P2P/IPC, not SHM, in NCCL's log"})
		}
	}
	return list
}

// slowGPU makes one GPU take twice as long for what it does.
func slowGPU(f *facts) (list []Cause) {
	ranks := make([]int, f.point.Topology.Ranks)
	for i := range ranks {
		ranks[i] = i
	}
	for _, rank := range spread(ranks, places) {
		list = append(list, Cause{Group: "one GPU at half speed", Place: fmt.Sprintf("rank %d", rank),
			Change: fmt.Sprintf("rank = [{ match = \"%d\", slowdown = 2 }]", rank),
			Test:   "nvidia-smi -q -d PERFORMANCE,CLOCK of each GPU; a collective of each node alone"})
	}
	return list
}

func otherOrder(f *facts) []Cause {
	if f.point.Topology.Nodes < 2 {
		return nil
	}
	return []Cause{{Group: "ranks dealt round the nodes", Test: "mpirun --map-by; the ranks' hosts " +
		"at the head of the log", Change: set(`"topology.order" = "round-robin"`)}}
}

func oneProcess(f *facts) []Cause {
	return []Cause{{Group: "one process for all GPUs of a node",
		Change: set(`"benchmark.processes" = "one"`),
		Test:   "the option -g of nccl-tests, and nGpus at the head of its log"}}
}

// environment makes causes of values of a variable of NCCL.
func environment(f *facts, name, group string, values ...string) (list []Cause) {
	if !f.library {
		return nil
	}
	for _, value := range values {
		list = append(list, Cause{Group: fmt.Sprintf(group, value),
			Change: set(fmt.Sprintf("%q = %s", "nccl.env."+name, value)),
			Test:   "env | grep " + name + "; /etc/nccl.conf; NCCL_DEBUG=INFO, SUBSYS=TUNING,ENV"})
	}
	return list
}

func algorithms(f *facts) []Cause {
	return environment(f, "NCCL_ALGO", "NCCL_ALGO = %s", `"ring"`, `"tree"`)
}

func protocols(f *facts) []Cause {
	return environment(f, "NCCL_PROTO", "NCCL_PROTO = %s", `"LL"`, `"LL128"`, `"Simple"`)
}

func withoutNVLS(f *facts) []Cause {
	return environment(f, "NCCL_NVLS_ENABLE", "NCCL_NVLS_ENABLE = %s", "0")
}

// channels bounds those of NCCL, or sets those of an algorithm of ours.
func channels(f *facts) (list []Cause) {
	counts := []string{"1", "2", "4", "8", "16"}
	if f.library {
		return environment(f, "NCCL_MAX_NCHANNELS", "NCCL_MAX_NCHANNELS = %s", counts...)
	}
	for _, n := range counts {
		if n != fmt.Sprint(f.point.Algorithm.Channels) {
			list = append(list, Cause{Group: "channels = " + n,
				Change: set(`"collective.channels" = ` + n),
				Test:   "NCCL_DEBUG=INFO: coll channels"})
		}
	}
	return list
}

// crossNIC says whether a ring may leave a node by another NIC than it enters by.
func crossNIC(f *facts) []Cause {
	if f.point.Topology.Nodes < 2 {
		return nil
	}
	return environment(f, "NCCL_CROSS_NIC", "NCCL_CROSS_NIC = %s", "0", "1")
}

func withoutPXN(f *facts) []Cause {
	if k := f.point.Spec.Kind; f.point.Topology.Nodes < 2 || k != collective.AllToAll &&
		k != collective.AllToAllV {
		return nil
	}
	return environment(f, "NCCL_PXN_DISABLE", "NCCL_PXN_DISABLE = %s", "1")
}

const half = `bandwidth = "50 %"`

// link writes the change of all links that match.
func link(match, figures string) string {
	return fmt.Sprintf("link = [{ match = %q, %s }]", match, figures)
}

// set writes other values of keys.
func set(keys string) string { return "set = { " + keys + " }" }

// absent writes that NICs are missing.
func absent(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return set(`"topology.absent" = [` + strings.Join(quoted, ", ") + "]")
}
