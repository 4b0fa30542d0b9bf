package nccl

import (
	"math"
	"slices"
)

// mostHeads is NCCL_MAX_NVLS_ARITY: the most GPUs of a node that reduce a slice.
const mostHeads = 32

// search is NCCL's for rings and trees on nodes like these, by the rules of a release.
type search struct {
	*Facts
	*release
}

// generation returns the row of the tables by compute capability.
func (f *search) generation() int {
	switch {
	case f.SM >= 100 && !f.blackwellAsHopper:
		return blackwell
	case f.SM >= 90:
		return hopper
	case f.SM >= 80:
		return ampere
	}
	return volta
}

// linkRate returns what NCCL counts for an NVLink (graph/topo.h, ncclTopoNVLinkBw).
func (f *search) linkRate() float64 {
	switch {
	case f.SM >= 100:
		return f.blackwellLink
	case f.SM >= 90:
		return f.hopperLink
	case f.SM == 86:
		return 12
	case f.SM >= 70:
		return 20
	}
	return 18
}

// speeds lists those that the search tries for a channel, within a node and between.
func (f *search) speeds() (one, many []float64) {
	g := f.generation()
	return f.inNode[g], f.betweenNodes[g]
}

// hasLL128 reports whether the compute capability has stores of 128 bytes that NCCL trusts.
func (f *search) hasLL128() bool {
	return f.SM >= 70 && (f.lineSMs == nil || slices.Contains(f.lineSMs, f.SM))
}

// all returns what the NVLinks of a GPU carry together.
func (f *search) all() float64 {
	links := 0
	for _, n := range f.Links {
		links += n
	}
	return float64(links) * f.linkRate()
}

// wide returns how many channels of a speed the GPUs of a node have room for. A ring of several
// nodes leaves the NVLinks of one GPU in each of them, which sends to the NIC.
func (f *search) wide(speed float64, nodes int) int {
	switch {
	case f.GPUs == 1:
		return MaxChannels
	case f.Joined == bySwitch && nodes > 1 && !f.staysOnNIC:
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

// perPeerRate is the GB/s of a network that a channel to a rank is counted for (graph/paths.cc).
const perPeerRate = 14

// search returns as many channels of as high a speed as carry most, by the rules of graph/search.cc
// and not by its search: speeds are tried from the highest on, down to half of the first one that
// there is a channel of.
func (f *search) search(nodes int) (channels int, speed float64) {
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
		n = min(n, f.mostChannels/2)
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

// rings derives what the search finds where so many nodes have so many GPUs. It gives the recorded
// results of Machines, and the numbers of channels in published logs (search_test.go); all else is
// inferred. Between nodes a search is that of all GPUs of a node.
func (f *search) rings(nodes, perNode int) rings {
	if f.Found != nil {
		without := *f.Facts
		without.Found = nil
		inferred := search{&without, f.release}
		return f.Found.rings(inferred.rings(nodes, perNode), f, nodes)
	}
	if nodes == 1 {
		return f.oneNode(perNode)
	}
	hasPeers := f.GPUs > 1
	isFast := f.Joined != byPCIe && hasPeers
	n, speed := f.search(nodes)
	r := rings{ring: graph{n, speed, speed, isFast, !hasPeers, false}, channels: 2 * n,
		ll128: (isFast || !hasPeers) && !f.FarNICs && f.hasLL128()}
	r.tree = r.ring
	// With one GPU a node, all links of a tree end at it.
	if r.tree.fromTop = f.generation() >= hopper || !hasPeers; !r.tree.fromTop || !hasPeers {
		_, many := f.speeds()
		for _, s := range many { // the highest up to twice
			if s <= 2*speed && f.wide(s, 1) >= n {
				r.tree.intra = max(s, speed)
				break
			}
		}
	}
	if f.generation() >= hopper && speed > 45 && r.channels < f.doubledUpTo {
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
func (f *search) headSpeed(heads int, ring float64) float64 {
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
func (f *search) oneNode(perNode int) rings {
	n, speed := f.search(1)
	if perNode == 1 {
		n = 1
	}
	isFast := f.Joined != byPCIe
	if newer := f.SM > 80 && speed < 50 && n > 4; speed >= 25 && !newer {
		n, speed = min(2*n, f.mostChannels/2), speed/2
	}
	r := rings{ring: graph{n, speed, 0, isFast, f.Joined != byLinks, false}, channels: 2 * n,
		toPeer: 2, ll128: isFast && f.hasLL128()}
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
func (f *search) heads(perNode int) graph {
	n := min(perNode, mostHeads)
	one, _ := f.speeds()
	for _, speed := range one {
		if float64(n)*speed <= f.all() {
			return graph{n, speed, one[0], true, false, false}
		}
	}
	return graph{}
}
