package nccl

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Facts describe a node and its NICs as NCCL's search sees them. Rates are GB/s of 10⁹ in one
// direction, as NCCL counts them (graph/topo.h, graph/topo.cc), which is not what a link reaches.
type Facts struct {
	Device string // of every GPU, for people
	SM     int    // compute capability, 90 for 9.0
	// Joined is what joins the GPUs: "switch" (NVSwitches), "links" (NVLinks between them), or
	// "pcie".
	Joined string
	// Links are the NVLinks of a GPU: all to the switch, or those to each other GPU, of the GPU that
	// has fewest.
	Links []int
	// PCIe is the rate of the slowest path between two GPUs that are joined by PCIe.
	PCIe float64
	// Multicast says that the switch reduces and copies.
	Multicast bool
	GPUs      int // of a node
	NICs      int // of a node; 0 where nobody says
	NICRate   float64
	// NetLatency is what the network's plugin reports, in microseconds: the search keeps it with its
	// graphs (graph/search.cc, latencyInter), as a whole number (graph/topo.cc).
	NetLatency int
	// FarNICs says that GPUs reach their NICs through a processor (a path of type PHB or SYS).
	FarNICs bool
	AMD     bool // the processors' vendor, on x86
}

// The words of Joined.
const (
	bySwitch = "switch"
	byLinks  = "links"
	byPCIe   = "pcie"
)

// String writes facts as words and numbers, which ParseFacts reads.
func (f *Facts) String() string {
	text := fmt.Sprintf("%s sm=%d joined=%s gpus=%d", f.Device, f.SM, f.Joined, f.GPUs)
	if len(f.Links) > 0 {
		text += " links=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Links), " ", "+"), "[]")
	}
	if f.PCIe > 0 {
		text += fmt.Sprintf(" pcie=%g", f.PCIe)
	}
	if f.NICs > 0 {
		text += fmt.Sprintf(" nics=%dx%g", f.NICs, f.NICRate)
	}
	if f.NetLatency > 0 {
		text += fmt.Sprintf(" net-latency=%d", f.NetLatency)
	}
	for _, word := range f.words() {
		if *word.is {
			text += " " + word.name
		}
	}
	return text
}

// word is a fact that is so or not.
type word struct {
	name string
	is   *bool
}

func (f *Facts) words() []word {
	return []word{{"multicast", &f.Multicast}, {"far-nics", &f.FarNICs}, {"amd", &f.AMD}}
}

// ParseFacts reads what Facts.String writes.
func ParseFacts(text string) (Facts, error) {
	var f Facts
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return f, fmt.Errorf("facts of a node are expected")
	}
	f.Device = fields[0]
	for _, field := range fields[1:] {
		if i := slices.IndexFunc(f.words(), func(w word) bool { return w.name == field }); i >= 0 {
			*f.words()[i].is = true
			continue
		}
		key, value, _ := strings.Cut(field, "=")
		if err := f.set(key, value); err != nil {
			return f, fmt.Errorf("%.40q: %w", field, err)
		}
	}
	return f, f.check()
}

// set reads one fact.
func (f *Facts) set(key, value string) (err error) {
	whole := map[string]*int{"sm": &f.SM, "gpus": &f.GPUs, "net-latency": &f.NetLatency}
	switch {
	case whole[key] != nil:
		*whole[key], err = strconv.Atoi(value)
	case key == "joined":
		f.Joined = value
	case key == "links":
		for _, one := range strings.Split(value, "+") {
			n, wrong := strconv.Atoi(one)
			if wrong != nil || n < 0 {
				return fmt.Errorf("numbers of links are expected, as 4+4+4")
			}
			f.Links = append(f.Links, n)
		}
	case key == "pcie":
		f.PCIe, err = strconv.ParseFloat(value, 64)
	case key == "nics":
		n, each, ok := strings.Cut(value, "x")
		if !ok {
			return fmt.Errorf("a number and a rate are expected, as 8x50")
		}
		if f.NICs, err = strconv.Atoi(n); err == nil {
			f.NICRate, err = strconv.ParseFloat(each, 64)
		}
	default:
		return fmt.Errorf("sm, joined, gpus, links, pcie, nics, net-latency, multicast, far-nics or " +
			"amd is expected")
	}
	return err
}

// What facts have at most: of an SM, GPUs and NICs of a node, and links of a GPU, GB/s, and
// microseconds.
const (
	mostOf      = 4096
	mostRate    = 1e5
	mostLatency = 1_000_000
)

// check refuses what no node has.
func (f *Facts) check() error {
	links := 0
	for _, n := range f.Links {
		links += min(n, mostOf+1)
	}
	inRange := func(x float64) bool { return x >= 0 && x <= mostRate }
	switch {
	case f.SM < 50 || f.SM > mostOf:
		return fmt.Errorf("sm=%d: a compute capability from 50 on is expected", f.SM)
	case f.Joined != bySwitch && f.Joined != byLinks && f.Joined != byPCIe:
		return fmt.Errorf("joined=%s: switch, links or pcie is expected", f.Joined)
	case f.GPUs < 1 || f.GPUs > mostOf || f.NICs < 0 || f.NICs > mostOf || links > mostOf:
		return fmt.Errorf("1 to %d GPUs, and NICs and links up to %d, are expected", mostOf, mostOf)
	case f.NetLatency < 0 || f.NetLatency > mostLatency:
		return fmt.Errorf("net-latency=%d: microseconds up to %d are expected", f.NetLatency,
			mostLatency)
	case !inRange(f.PCIe) || !inRange(f.NICRate):
		return fmt.Errorf("rates up to %g GB/s are expected", mostRate)
	}
	return nil
}

// generation returns the row of the tables by compute capability.
func (f *Facts) generation() int {
	switch {
	case f.SM >= 100:
		return blackwell
	case f.SM >= 90:
		return hopper
	case f.SM >= 80:
		return ampere
	}
	return volta
}

// linkRate returns what NCCL counts for an NVLink (graph/topo.h, ncclTopoNVLinkBw).
func (f *Facts) linkRate() float64 {
	switch {
	case f.SM >= 100:
		return 40.1
	case f.SM >= 90:
		return 20.6
	case f.SM == 86:
		return 12
	case f.SM >= 70:
		return 20
	}
	return 18
}

// speeds lists those that the search tries for a channel (graph/search.cc), within a node and
// between.
func (f *Facts) speeds() (one, many []float64) {
	switch f.generation() {
	case blackwell:
		return []float64{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18},
			[]float64{96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24,
				.12}
	case hopper:
		return []float64{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
			[]float64{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12}
	}
	return []float64{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
		[]float64{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12}
}

// all returns what the NVLinks of a GPU carry together.
func (f *Facts) all() float64 {
	links := 0
	for _, n := range f.Links {
		links += n
	}
	return float64(links) * f.linkRate()
}

// wide returns how many channels of a speed the GPUs of a node have room for. A ring of several
// nodes leaves the NVLinks of one GPU in each of them, which sends to the NIC.
func (f *Facts) wide(speed float64, nodes int) int {
	switch {
	case f.GPUs == 1:
		return MaxChannels
	case f.Joined == bySwitch && nodes > 1:
		return int(f.all() * float64(f.GPUs) / float64(f.GPUs-1) / speed)
	case f.Joined == bySwitch:
		return int(f.all() / speed)
	case f.Joined == byLinks:
		n := 0
		for _, links := range f.Links {
			n += int(float64(links) * f.linkRate() / speed)
		}
		return n
	}
	return int(f.PCIe / speed)
}

// most is how many rings the search looks for.
const most = MaxChannels / 2

// perPeerRate is the GB/s of a network that a channel to a rank is counted for (graph/paths.cc).
const perPeerRate = 14

// search returns as many channels of as high a speed as carry most, by the rules of graph/search.cc
// and not by its search: speeds are tried from the highest on, down to half of the first one that
// there is a channel of.
func (f *Facts) search(nodes int) (channels int, speed float64) {
	one, many := f.speeds()
	if nodes > 1 {
		one = many
	}
	first := 0.
	for _, s := range one {
		n := f.wide(s, nodes)
		if nodes > 1 && f.NICs > 0 {
			n = min(n, f.NICs*int(f.NICRate/s))
		}
		n = min(n, most)
		if n == 0 {
			continue
		}
		if first == 0 {
			first = s
		}
		if s < .49*first {
			break
		}
		if float64(n)*s > float64(channels)*speed {
			channels, speed = n, s
		}
	}
	if channels == 0 { // slower than all that are tried
		return 1, one[len(one)-1]
	}
	return channels, speed
}

// rings derives what NCCL 2.30.7's search finds where so many nodes have so many GPUs. It gives
// the recorded results of Machines, and the numbers of channels in published logs (facts_test.go);
// all else is inferred. Between nodes a search is that of all GPUs of a node.
func (f *Facts) rings(nodes, perNode int) rings {
	if nodes == 1 {
		return f.oneNode(perNode)
	}
	hasPeers := f.GPUs > 1
	isFast := f.Joined != byPCIe && hasPeers
	n, speed := f.search(nodes)
	r := rings{ring: graph{n, speed, speed, isFast, !hasPeers, false}, channels: 2 * n,
		ll128: (isFast || !hasPeers) && !f.FarNICs}
	r.tree = r.ring
	if r.tree.fromTop = f.generation() >= hopper && hasPeers; !r.tree.fromTop {
		_, many := f.speeds()
		for _, s := range many { // the highest up to twice
			if s <= 2*speed && f.wide(s, 1) >= n {
				r.tree.intra = max(s, speed)
				break
			}
		}
	}
	if f.generation() >= hopper && speed > 45 && r.channels < 16 {
		r.channels *= 2
	}
	perGPU := max(1, (f.NICs+f.GPUs-1)/f.GPUs)
	perPeer := int(math.Ceil(f.NICRate * float64(perGPU) / perPeerRate))
	r.toPeer = max(perGPU, perPeer, 1)
	if f.Multicast && hasPeers {
		r.nvls = f.heads(f.GPUs)
		r.nvls.inter = f.headSpeed(r.nvls.channels, speed)
	}
	return r
}

// headSpeed returns what every head of NVLS has of the network: a ring's speed, or less where heads
// share NICs, as fast as one of the speeds tried for so many channels.
func (f *Facts) headSpeed(heads int, ring float64) float64 {
	if f.NICs == 0 || f.NICs >= heads {
		return ring
	}
	_, many := f.speeds()
	for _, s := range many {
		if float64(heads)*s <= float64(f.NICs)*f.NICRate {
			return min(s, ring)
		}
	}
	return many[len(many)-1]
}

// oneNode derives rings within a node. Fast channels become two of half the speed.
func (f *Facts) oneNode(perNode int) rings {
	n, speed := f.search(1)
	if perNode == 1 {
		n = 1
	}
	isFast := f.Joined != byPCIe
	if newer := f.SM > 80 && speed < 50 && n > 4; speed >= 25 && !newer {
		n, speed = min(2*n, most), speed/2
	}
	r := rings{ring: graph{n, speed, 0, isFast, f.Joined != byLinks, false}, channels: 2 * n,
		toPeer: 2, ll128: isFast}
	r.tree = r.ring
	if f.generation() >= hopper && perNode == 2 && isFast {
		r.tree.intra *= 2
	}
	if isFast {
		least := 0
		for _, links := range f.Links {
			if links > 0 && (least == 0 || links < least) {
				least = links
			}
		}
		r.toPeer = max(2*least, 2)
	}
	if f.Multicast && perNode > 1 {
		r.nvls = f.heads(perNode)
	}
	return r
}

// heads returns the graph of NVLS: a head for every GPU, at the fastest of the speeds tried whose
// sum the NVLinks of a GPU carry.
func (f *Facts) heads(perNode int) graph {
	n := min(perNode, mostHeads)
	one, _ := f.speeds()
	for _, speed := range one {
		if float64(n)*speed <= f.all() {
			return graph{n, speed, one[0], true, false, false}
		}
	}
	return graph{}
}
