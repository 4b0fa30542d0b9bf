package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/algos"
)

// Classes of links in the tables.
const (
	nvlink = iota
	pcie
	network
	classes
)

// triple is a figure by protocol, or by one node, two nodes and more.
type triple [3]float64

// release holds the figures and rules of NCCL that have changed between its versions: what its
// search tries, its tables of latencies and bandwidths, which algorithms there are and for what.
// Rates are GB/s of 10⁹, latencies microseconds.
type release struct {
	name string

	// The search (graph/search.cc, graph/topo.h, graph/connect.cc): the speeds that it tries for a
	// channel by generation, in a node and between nodes, the rate of an NVLink of Hopper and of
	// Blackwell, how many channels a communicator has at most, and up to how many channels the rings
	// between nodes of Hopper are doubled.
	inNode, betweenNodes      [generations][]float64
	hopperLink, blackwellLink float64
	mostChannels, doubledUpTo int

	// What there is, and for whom (src/enqueue.cc, src/transport/nvls.cc).
	hasPAT, hasFloat8          bool
	hasNVLSTree, hasNVLSBlocks bool   // of NVLS: over several nodes, and all_gather and reduce_scatter
	leastHeads                 int    // GPUs of a node that use NVLS, at least
	lineSMs                    []int  // compute capabilities with LL128; nil: from 70 on
	blackwellAsHopper          bool   // Blackwell has the rows of Hopper
	blackwellHeads             [2]int // channels of NVLS on one of its nodes, and on several
	tunesBlackwell             bool   // which depend on the number of nodes, as chunks do
	allTreeThreads             bool   // a tree always has all threads
	listsByFunction            bool   // NCCL_ALGO and NCCL_PROTO may have a list for each function
	keepsRings                 bool   // rings are taken where NCCL_ALGO leaves nothing

	// The cost model (graph/tuning.cc).
	baseLatency [algorithms]triple
	hopLatency  [classes][algorithms]triple
	llMost, ringLL128Most, treeLL128Most, treeMost,
	nvlsTreeMost [generations]triple
	llByKind     bool    // a ring by LL has a quarter or a third of its bandwidth, and not half
	loneLL128    float64 // share of a ring by LL128 where nodes have one GPU
	topShare     float64 // share of a tree whose links all end at the first GPU of a node
	patShare     float64 // share of PAT
	switchRule   nvlsRule
	arity        float64 // microseconds of CollNetDirect for each other GPU of a node
	loneByTree   bool    // where nodes have one GPU, all hops between them are a tree's
	nodeHops     bool    // of all_reduce by a ring as many hops between nodes as twice the nodes
	correctsNVLS bool    // NVLSTree on Blackwell has the correction of trees
}

// nvlsRule names a way of estimating the bandwidth of NVLS and NVLSTree.
type nvlsRule int

const (
	byEfficiency nvlsRule = iota // a share of the search's speed by generation, since 2.28.3
	bySpeedsLess                 // of all_gather and reduce_scatter less: 2.27
	bySpeeds                     // the lesser of the speeds in a node and between: 2.19 to 2.26
	byRing                       // as a ring's, and hops by the number of nodes: 2.18
)

// newest is the version that is answered for where nobody asks for another one.
const newest = "2.30.7"

// current returns the newest release.
func current() *release {
	return &release{
		inNode: [...][]float64{older, older,
			{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
			{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}},
		betweenNodes: [...][]float64{olderBetween, olderBetween,
			append([]float64{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12}, slow...),
			append([]float64{96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12}, slow...)},
		hopperLink: 20.6, blackwellLink: 40.1, mostChannels: MaxChannels, doubledUpTo: 16,
		hasPAT: true, hasFloat8: true, hasNVLSBlocks: true, hasNVLSTree: true, leastHeads: 2,
		blackwellHeads: [2]int{24, 32}, tunesBlackwell: true, allTreeThreads: true,
		listsByFunction: true,

		baseLatency: [algorithms]triple{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}, PAT: {8, 8, 8}},
		hopLatency: [...][algorithms]triple{
			nvlink: {Tree: {.6, 1.25, 4}, Ring: {.6, 1.9, 3.4}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25},
				PAT: {0, 0, 4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}},
			pcie: {Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, PAT: {0, 0, 4}, CollNetDirect: {0, 0, 3.7},
				CollNetChain: {0, 0, 2.8}},
			network: {Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 20.9},
				PAT: {0, 0, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}},
		},
		llMost:        [...]triple{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
		ringLL128Most: [...]triple{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}},
		treeLL128Most: [...]triple{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
		treeMost:      [...]triple{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
		nvlsTreeMost:  [...]triple{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}},
		loneLL128:     .92, topShare: .85, patShare: .75, arity: .4, loneByTree: true, correctsNVLS: true,
	}
}

// Speeds that are tried before Hopper, and the slow ones that all generations share.
var (
	older        = []float64{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3}
	olderBetween = []float64{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12}
	slow         = []float64{6, 3, 2.4, 1.2, .24, .12}
)

// versions lists the releases whose figures were read, the newest first. A row has the first
// version with its figures, and what these change in the row above: NVIDIA/nccl, tag vN-1, files
// src/graph/tuning.cc, search.cc, topo.h and connect.cc, src/enqueue.cc, src/transport/nvls.cc. Of
// 2.18 to 2.30 all versions were compared; those between two rows have no other figures.
var versions = []struct {
	name   string
	change func(r *release)
}{
	{"2.30.3", func(*release) {}},
	{"2.29.7", func(r *release) {
		r.betweenNodes[blackwell] = less(r.betweenNodes[blackwell], 86)
		r.nvlsTreeMost[blackwell][2] = 43.8
		r.tunesBlackwell = false
	}},
	{"2.29.2", func(r *release) {
		r.betweenNodes[blackwell] = less(r.betweenNodes[blackwell], 80)
		r.ringLL128Most[blackwell] = triple{34.5, 34.6, 34.5}
	}},
	{"2.28.9", func(r *release) {
		r.inNode[blackwell] = less(r.inNode[blackwell], 45)
		r.ringLL128Most[blackwell] = triple{73.4, 34.6, 73.4}
		r.correctsNVLS = false
	}},
	{"2.28.7", func(r *release) {
		r.hopLatency[network][NVLSTree][Simple] = 14
		r.nvlsTreeMost[blackwell][2] = 43.1
	}},
	{"2.28.3", func(r *release) {
		r.ringLL128Most[blackwell][1] = 73.4
		r.leastHeads = 3
	}},
	{"2.27.6", func(r *release) {
		r.switchRule = bySpeedsLess
		r.treeLL128Most[blackwell] = triple{73.4, 73.4, 58}
		r.treeMost[blackwell] = triple{77.4, 82.8, 72}
	}},
	{"2.27.5", func(r *release) { r.betweenNodes[blackwell] = less(r.betweenNodes[blackwell], 96) }},
	{"2.27.3", func(r *release) {
		r.blackwellLink = 40
		r.betweenNodes[blackwell] = append([]float64{47.9, 45}, r.betweenNodes[blackwell][2:]...)
	}},
	{"2.25.1", func(r *release) {
		r.switchRule = bySpeeds
		r.lineSMs = []int{70, 80, 90, 100, 120}
		r.inNode[blackwell] = less(r.inNode[blackwell], 18)
		r.betweenNodes[blackwell] = append([]float64{48}, r.betweenNodes[blackwell][1:]...)
		r.blackwellHeads = [2]int{32, 32}
	}},
	{"2.24.3", func(r *release) {
		r.blackwellAsHopper, r.blackwellLink = true, r.hopperLink
		r.lineSMs = []int{70, 80, 90}
		r.blackwellHeads = [2]int{16, 16}
		r.mostChannels = 32
	}},
	{"2.23.4", func(r *release) {
		r.patShare = .85
		r.hasFloat8, r.listsByFunction, r.keepsRings = false, false, true
	}},
	{"2.22.3", func(r *release) {
		r.hasPAT, r.loneByTree, r.nodeHops, r.loneLL128 = false, false, true, .7
		r.baseLatency[Tree][Simple] = 0
		for class := range r.hopLatency {
			r.hopLatency[class][Tree][Simple] = 28
		}
	}},
	{"2.21.5", func(r *release) { r.allTreeThreads = false }},
	{"2.20.3", func(r *release) {
		r.llByKind, r.hasNVLSTree = true, false
		r.llMost[hopper] = triple{87.7, 22.5, 19}
		r.hopLatency[nvlink][NVLS][Simple], r.hopLatency[nvlink][NVLSTree][Simple] = 23, 23
		r.inNode[hopper] = less(r.inNode[hopper], 11)
	}},
	{"2.19.3", func(r *release) {
		r.hasNVLSTree = true
		r.hopperLink, r.blackwellLink = 20, 20
		r.doubledUpTo = 17
	}},
	{"2.19.1", func(r *release) { r.betweenNodes[hopper] = less(r.betweenNodes[hopper], 22) }},
	{"2.18.3", func(r *release) {
		r.switchRule, r.hasNVLSBlocks = byRing, false
		r.inNode[hopper] = less(r.inNode[hopper], 50)
		r.baseLatency[NVLS][Simple], r.baseLatency[NVLSTree][Simple] = 23, 23
		r.arity = .5
		for class, us := range [classes][2]float64{{8, 4.75}, {8, 8}, {10.7, 14}} {
			r.hopLatency[class][CollNetDirect][Simple] = us[0]
			r.hopLatency[class][CollNetChain][Simple] = us[1]
		}
		r.hopLatency[nvlink][NVLS], r.hopLatency[nvlink][NVLSTree] = triple{}, triple{}
		r.hopLatency[nvlink][Tree][Simple], r.hopLatency[pcie][Tree][Simple] = 4, 6
		r.hopLatency[network][Tree][Simple], r.hopLatency[network][NVLSTree][Simple] = 14, 19
	}},
	{"2.18.1", func(r *release) {
		r.topShare = 1
		r.treeLL128Most[hopper], r.treeMost[hopper][2] = triple{36.7, 36.7, 36.7}, 33
		r.betweenNodes[hopper] = less(r.betweenNodes[hopper], 20, 17.5)
		for class := range r.hopLatency {
			r.hopLatency[class][Tree][Simple] = 28
		}
	}},
}

// less returns speeds without some.
func less(speeds []float64, gone ...float64) []float64 {
	return slices.DeleteFunc(slices.Clone(speeds), func(s float64) bool {
		return slices.Contains(gone, s)
	})
}

// Versions lists those whose figures are known, the newest first.
func Versions() (names []string) {
	for _, v := range versions {
		names = append(names, v.name)
	}
	return names
}

// CheckVersion refuses what Setting.Version cannot be.
func CheckVersion(text string) error {
	_, err := releaseOf(text)
	return err
}

// releaseOf returns the release that answers for a version, such as "2.25.1" or "2.25", its last;
// "" and "newest" are the newest. A version between two rows has the older one's figures.
func releaseOf(text string) (*release, error) {
	if text == "" || text == algos.AsVersion {
		text = newest
	}
	asked, err := parseVersion(text)
	if err != nil {
		return nil, err
	}
	r := current()
	last, _ := parseVersion(newest)
	if slices.Compare(asked, last) > 0 && !strings.HasPrefix(newest, text+".") {
		return nil, fmt.Errorf("the newest that is known is %s", newest)
	}
	for _, row := range versions {
		row.change(r)
		if first, _ := parseVersion(row.name); slices.Compare(asked, first) >= 0 {
			r.name = text
			return r, nil
		}
	}
	return nil, fmt.Errorf("the oldest that is known is %s; figures changed in %s",
		versions[len(versions)-1].name, strings.Join(Versions(), ", "))
}

// parseVersion reads "2.25.1" or "2.25", which is later than all of 2.25.
func parseVersion(text string) (list []int, err error) {
	for _, field := range strings.Split(text, ".") {
		n, wrong := strconv.ParseUint(field, 10, 16)
		if wrong != nil {
			return nil, fmt.Errorf("a version of NCCL is expected, such as %s", newest)
		}
		list = append(list, int(n))
	}
	switch {
	case len(list) == 2:
		list = append(list, 1<<16)
	case len(list) != 3:
		return nil, fmt.Errorf("a version of NCCL is expected, such as %s", newest)
	}
	return list, nil
}
