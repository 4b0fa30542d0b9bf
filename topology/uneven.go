package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/internal/nearest"
	"collsim/internal/prose"
	"collsim/symmetry"
)

// uneven holds the nodes of a cluster whose nodes differ.
type uneven struct {
	kinds []kind
	is    []int32 // by node: index of its kind
	// gpus and switches are prefix sums: by node the number of its first one, then the total.
	gpus, switches []int32
	nics           []int32 // by NIC: its number in the network, −1 if absent; nil if none is
}

// number numbers the GPUs of all nodes, node by node, and then their switches.
func (u *uneven) number() {
	gpus, switches := int32(0), int32(0)
	for _, k := range u.is {
		switches += u.kinds[k].gpus
	}
	for _, k := range u.is {
		u.gpus, u.switches = append(u.gpus, gpus), append(u.switches, switches)
		gpus += u.kinds[k].gpus
		switches += u.kinds[k].switches
	}
	u.gpus, u.switches = append(u.gpus, gpus), append(u.switches, switches)
}

func (u *uneven) clone() *uneven {
	c := *u
	c.kinds = slices.Clone(u.kinds)
	for i := range c.kinds {
		c.kinds[i].node = c.kinds[i].node.Clone()
	}
	return &c
}

func (u *uneven) of(node int32) *kind { return &u.kinds[u.is[node]] }

func (u *uneven) at(node, v int32) int32 {
	if gpus := u.of(node).gpus; v >= gpus {
		return u.switches[node] + v - gpus
	}
	return u.gpus[node] + v
}

func (u *uneven) place(v int32) (node, local int32) {
	firsts, gpus := u.gpus, int32(0)
	isSwitch := v >= u.switches[0]
	if isSwitch {
		firsts = u.switches
	}
	i, _ := slices.BinarySearch(firsts, v+1) // the first that begins after v
	node = int32(i - 1)
	if isSwitch {
		gpus = u.of(node).gpus
	}
	return node, gpus + v - firsts[node]
}

// gaps holds the absent GPUs and NICs of a node, ascending.
type gaps struct{ gpus, nics []int }

// unevenly makes the nodes of a cluster according to Sizes and Absent.
func (p *Params) unevenly(c *parts) error {
	absent, err := p.gaps(c)
	if err != nil {
		return err
	}
	u := &uneven{}
	colours := symmetry.Colours[string]{}
	for node := range p.Nodes {
		size := 0
		if p.Sizes != nil {
			size = p.Sizes[node]
		}
		is, isNew := colours.Number(fmt.Sprint(size, absent[node]))
		if isNew {
			k, err := p.kindWith(size, c.attached, absent[node])
			if err != nil {
				return err
			}
			u.kinds = append(u.kinds, k)
		}
		u.is = append(u.is, is)
	}
	u.number()
	c.uneven = u
	c.ranks, c.fabric = u.switches[0], u.switches[p.Nodes]
	isGone, some := make([]bool, c.network.NumNodes()), false
	for node := range p.Nodes {
		for _, nic := range absent[node].nics {
			isGone[node*int(c.nics)+nic], some = true, true
		}
	}
	if some {
		c.network, u.nics = c.network.without(isGone)
		u.nics = u.nics[:p.Nodes*int(c.nics)]
	}
	return p.checkUneven(c)
}

// checkUneven refuses nodes that do not work without the absent devices.
func (p *Params) checkUneven(c *parts) error {
	bad := func(format string, args ...any) error {
		text := fmt.Sprintf(format, args...)
		if len(p.Absent) > 0 {
			return &ParamError{"absent", fmt.Sprintf("%q", p.Absent), text}
		}
		return &ParamError{"node.ranks", fmt.Sprint(p.Sizes), text}
	}
	if c.ranks == 0 {
		return bad("no rank is left")
	}
	for node := range c.nodes {
		k := c.of(node)
		switch {
		case k.gpus == 0:
		case k.node.Connected() != nil:
			return bad("what is left of node%d does not reach each other", node)
		case p.Network != nil && c.ranks > k.gpus && len(k.attached) == 0:
			return bad("node%d has %s, and none has a NIC", node, prose.Plural(int(k.gpus), "rank"))
		}
	}
	return nil
}

// kindWith returns the kind of a node of so many ranks, 0 for those of Node, less the absent
// devices. attached are its links to NICs, if it has no wires.
func (p *Params) kindWith(size int, attached []attachment, absent gaps) (kind, error) {
	k, nics, err := p.kindOf(size)
	if err != nil {
		return kind{}, inside("node", err)
	}
	if nics == 0 {
		k.attached = slices.DeleteFunc(slices.Clone(attached), func(a attachment) bool {
			return a.at >= k.gpus
		})
	}
	k.attached = slices.DeleteFunc(k.attached, func(a attachment) bool {
		return slices.Contains(absent.nics, int(a.nic))
	})
	if len(absent.gpus) == 0 {
		return k, nil
	}
	isGone := make([]bool, k.node.NumNodes())
	for _, gpu := range absent.gpus {
		isGone[gpu] = true
	}
	node, at := k.node.without(isGone)
	less := newKind(node, nil)
	for _, a := range k.attached {
		if a.at = at[a.at]; a.at >= 0 {
			less.attached = append(less.attached, a)
		}
	}
	less.places = make([]int32, 0, less.gpus)
	for v := range k.gpus {
		if at[v] >= 0 {
			less.places = append(less.places, v)
		}
	}
	return less, nil
}

// gaps resolves the names of absent devices, by node.
func (p *Params) gaps(c *parts) (map[int]gaps, error) {
	all := map[int]gaps{}
	for _, pattern := range p.Absent {
		if !p.eachPlace(c, pattern, func(node, number int, isNIC bool) {
			g := all[node]
			list := &g.gpus
			if isNIC {
				list = &g.nics
			}
			if at, isThere := slices.BinarySearch(*list, number); !isThere {
				*list = slices.Insert(*list, at, number)
			}
			all[node] = g
		}) {
			text := "matches no GPU and no NIC"
			var names []string
			p.eachPlace(c, "*", func(node, number int, isNIC bool) {
				names = append(names, placeName(node, number, isNIC))
			})
			if near := nearest.To(pattern, names, 3); len(near) > 0 {
				text += "; nearest: " + strings.Join(near, ", ")
			}
			return nil, &ParamError{"absent", strconv.Quote(pattern), text}
		}
	}
	return all, nil
}

// placeName returns the name of a GPU or a NIC of a node.
func placeName(node, number int, isNIC bool) string {
	if isNIC {
		return nodeName(node, "nic"+strconv.Itoa(number))
	}
	return nodeName(node, rankName(number))
}

// eachPlace calls found for the GPUs and NICs of a cluster whose names match a pattern, and reports
// whether there are any.
func (p *Params) eachPlace(c *parts, pattern string,
	found func(node, number int, isNIC bool)) (some bool) {
	first, last := 0, p.Nodes
	name, _, _ := strings.Cut(pattern, "/")
	if node, why := numberedName(name, "node"); why == "" && node >= 0 { // of this one alone
		first, last = node, min(node+1, p.Nodes)
	}
	for node := first; node < last; node++ {
		gpus := int(c.gpus)
		if p.Sizes != nil {
			gpus = p.Sizes[node]
		}
		for i := range gpus + int(c.nics) {
			number, isNIC := i, i >= gpus
			if isNIC {
				number -= gpus
			}
			if matches(pattern, placeName(node, number, isNIC)) {
				found(node, number, isNIC)
				some = true
			}
		}
	}
	return some
}

// apart returns GPUs of two nodes without a route from the first to the second, if there are any. A
// route leaves its node once, so the nodes need NICs in the same part of the network.
func (p *parts) apart() (from, to int32, ok bool) {
	if p.uneven == nil && slices.ContainsFunc(p.attached, func(a attachment) bool {
		return a.at < p.gpus // as every node has that, and GPUs reach each other
	}) {
		return 0, 0, false
	}
	part := p.network.components()
	var sorts []nicSort
	colours := symmetry.Colours[string]{}
	for node := range p.nodes {
		k := p.of(node)
		if k.gpus == 0 {
			continue
		}
		s := nicSort{first: p.at(node, 0), other: -1}
		for _, a := range k.attached {
			at := part[p.nic(node, a.nic)]
			if k.node.length(0, a.at) >= 0 {
				s.out = append(s.out, at)
			}
			if k.node.length(a.at, 0) >= 0 {
				s.in = append(s.in, at)
			}
		}
		for _, list := range []*[]int32{&s.out, &s.in} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		if i, isNew := colours.Number(fmt.Sprint(s.out, s.in)); !isNew {
			sorts[i].other = s.first
			continue
		}
		sorts = append(sorts, s)
	}
	for i := range sorts {
		for j := range sorts {
			if to := sorts[j].gpuBut(i == j); to >= 0 && !meet(sorts[i].out, sorts[j].in) {
				return sorts[i].first, to, true
			}
		}
	}
	return 0, 0, false
}

// nicSort groups nodes whose routes leave for the same parts of a network, and enter from the same
// ones.
type nicSort struct {
	first, other int32 // GPUs of two such nodes; other is −1 if there is one node
	out, in      []int32
}

// gpuBut returns a GPU of such a node; with notFirst, one of another node than the first, −1 if
// there is none.
func (s *nicSort) gpuBut(notFirst bool) int32 {
	if notFirst {
		return s.other
	}
	return s.first
}

// meet reports whether two ascending lists have a common number.
func meet(a, b []int32) bool {
	return slices.ContainsFunc(a, func(v int32) bool {
		_, found := slices.BinarySearch(b, v)
		return found
	})
}

// components numbers the connected parts of a network and returns the part of each node. REQUIRES:
// every link has one in the opposite direction.
func (g *Graph) components() []int32 {
	if !g.routes.built {
		g.buildNeighbours()
	}
	part := slices.Repeat([]int32{-1}, len(g.nodes))
	count := int32(0)
	for first := range int32(len(g.nodes)) {
		if part[first] >= 0 {
			continue
		}
		part[first] = count
		for queue := []int32{first}; len(queue) > 0; queue = queue[1:] {
			for _, l := range g.routes.out.of(queue[0]) {
				if to := g.links[l].To; part[to] < 0 {
					part[to] = count
					queue = append(queue, to)
				}
			}
		}
		count++
	}
	return part
}
