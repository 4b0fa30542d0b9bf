package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// insideNode makes the part of one node of a cluster in full: the first with changed links, or else
// the first.
func (r *reader) insideNode() *part {
	node, nodes := 0, r.nodeOf(r.ranks-1)+1
	for _, link := range r.changed {
		l := r.g.Link(link)
		if at := r.nodeOf(l.From); at >= 0 && at == r.nodeOf(l.To) {
			node = at
			break
		}
	}
	var ranges [3][2]int32
	for i, class := range [3][2]int32{{0, r.ranks}, {r.ranks, r.inside}, {r.inside, r.nics}} {
		ranges[i][0], ranges[i][1] = r.in(node, class[0], class[1])
	}
	heading := ""
	if nodes > 1 {
		heading = fmt.Sprintf("Node %d of %d", node, nodes)
	}
	return r.machine(heading, ranges)
}

// machine makes the part of GPUs, switches and NICs of one machine.
func (r *reader) machine(heading string, ranges [3][2]int32) *part {
	s, p := r.nothing(), &part{heading: heading}
	gpus := r.addSome(s, ranges[0][0], ranges[0][1], ranksAll, ranksFew)
	nics := r.addSome(s, ranges[2][0], ranges[2][1], ranksAll, ranksFew)
	var hubRows []siteRow // from the top: processors, switches to them, switches among GPUs
	var hosts, hub []*site
	for _, h := range (&reader{g: r.g, end: ranges[1][1]}).hubs(ranges[1][0]) {
		row := siteRow{texts: []string{count(len(h.all), h.stem)}}
		for _, i := range h.choose(r.touched) {
			row.sites = append(row.sites, s.add(h.all[i], newSite(r.g.Node(h.all[i]).Name, i)))
		}
		markGaps(row.sites)
		switch kind := kindOf(h.stem); {
		case kind == aNIC:
			nics = append(nics, row.sites...)
			ranges[2][1] += int32(len(h.all))
			continue
		case kind == aSwitch && isBelow(h.stem):
			hub = append(hub, row.sites...)
		default:
			hosts = append(hosts, row.sites...)
		}
		hubRows = append(hubRows, row)
	}
	slices.SortStableFunc(hubRows, func(a, b siteRow) int { return cmp.Compare(rowOf(a), rowOf(b)) })
	p.wires = r.wires(s)
	top := slices.IndexFunc(hubRows, func(row siteRow) bool { return rowOf(row) > 1 })
	if top < 0 {
		top = len(hubRows)
	}
	p.rows = slices.Clone(hubRows[:top])
	if len(nics) > 0 {
		texts := []string{count(int(ranges[2][1]-ranges[2][0]), "nic")}
		p.rows = append(p.rows, siteRow{nics, texts})
	}
	p.rows = append(p.rows, siteRow{gpus, []string{count(int(ranges[0][1]-ranges[0][0]), "gpu")}})
	p.rows = append(p.rows, hubRows[top:]...)
	p.number()
	if len(hosts)+len(hub) == 0 && len(gpus) > 2 {
		p.shape = round
		return p
	}
	p.columns(gpus, nics, hosts)
	return p
}

// isBelow reports whether a switch connects GPUs, as an NVSwitch does, by its name.
func isBelow(stem string) bool {
	return strings.HasPrefix(stem, "nvswitch") || strings.HasPrefix(stem, "switch") ||
		strings.HasPrefix(stem, "rail") || strings.HasPrefix(stem, "xgmi")
}

// rowOf returns the row of a machine to which a row of switches belongs.
func rowOf(row siteRow) int {
	switch s := row.sites[0]; {
	case s.kind == aCPU:
		return 0
	case s.kind == aSwitch && isBelow(strings.TrimRight(s.label, "0123456789")):
		return 2
	}
	return 1
}

// number sets the rows of sites and orients wires downwards.
func (p *part) number() {
	for n, row := range p.rows {
		for _, s := range row.sites {
			s.row = n
		}
	}
	for i, w := range p.wires {
		if w.a.row > w.b.row {
			p.wires[i] = wire{w.b, w.a, class{w.back, w.there, w.latency, w.isChanged}}
		}
	}
}

// columns gives a cell to each GPU, and to each NIC below a processor or its switches. GPUs of a
// switch stand together, NICs among their GPUs.
func (p *part) columns(gpus, nics, hosts []*site) {
	parent := map[*site]*site{}
	for _, w := range p.wires {
		if slices.Contains(hosts, w.a) && !slices.Contains(hosts, w.b) && parent[w.b] == nil {
			parent[w.b] = w.a
		}
	}
	first := map[*site]int{} // by switch, the first cell of the GPUs below it
	for _, g := range gpus {
		if host := parent[g]; host != nil {
			if _, ok := first[host]; !ok {
				first[host] = g.number
			}
		}
	}
	type column struct{ group, at int }
	place := map[*site]column{}
	var cells []*site
	for kind, list := range [2][]*site{gpus, nics} {
		inGroup := map[*site]int{}
		for _, s := range list {
			host, group := parent[s], s.number
			if kind == 1 && host == nil {
				continue // stands above its GPU
			}
			if host != nil {
				var ok bool
				if group, ok = first[host]; !ok {
					group = 1 << 20
				}
			}
			place[s] = column{group, 2*inGroup[host] + kind}
			inGroup[host]++
			cells = append(cells, s)
		}
	}
	slices.SortStableFunc(cells, func(a, b *site) int {
		return cmp.Or(cmp.Compare(place[a].group, place[b].group),
			cmp.Compare(place[a].at, place[b].at))
	})
	for _, s := range cells {
		p.cells, p.owners = append(p.cells, []*site{s}), append(p.owners, nil)
	}
}

// between makes the part of the network between the nodes of a cluster: each node is a box with its
// NICs.
func (r *reader) between(width length) *part {
	s, nodes := r.nothing(), r.nodeOf(r.ranks-1)+1
	p := &part{heading: fmt.Sprintf("%s and the network between them", count(nodes, "node"))}
	most := min(nodesAll, int((width-120)/nodeLeast))
	few := min(nodesFew, most)
	if nodes <= most {
		few = nodes
	}
	var must []int
	for _, v := range r.touched {
		must = append(must, r.nodeOf(v))
	}
	var owners, nics []*site
	var ports [2]int // least and most NICs of a node
	for _, node := range some(nodes, few, within(must, nodes)) {
		first, end := r.in(node, r.inside, r.nics)
		gpu, last := r.in(node, 0, r.ranks)
		owner := &site{kind: aNode, label: fmt.Sprintf("node %d", node), short: fmt.Sprint(node),
			number: node}
		owner.gap = false
		p.cells = append(p.cells, r.addSome(s, first, end, portsAll, portsFew))
		nics = append(nics, p.cells[len(p.cells)-1]...)
		owners = append(owners, owner)
		if n := int(end - first); len(owners) == 1 {
			ports = [2]int{n, n}
			p.extra = count(int(last-gpu), "gpu") + " each"
		} else {
			ports = [2]int{min(ports[0], n), max(ports[1], n)}
			if p.extra != count(int(last-gpu), "gpu")+" each" {
				p.extra = ""
			}
		}
	}
	markGaps(owners)
	p.owners = owners
	for _, nic := range nics {
		nic.label, nic.short = "", ""
	}
	hubs := r.hubs(r.nics)
	rows := r.addHubs(s, hubs, r.parents(s, hubs))
	p.wires = r.wires(s)
	p.rows = byLevel(rows, hubs, p.wires, nics)
	texts := []string{count(ports[1], "nic") + " each"}
	if ports[0] != ports[1] {
		texts[0] = fmt.Sprintf("%d to %d NICs", ports[0], ports[1])
	}
	p.rows = append(p.rows, siteRow{nics, texts})
	p.number()
	return p
}

// parents returns the switches that shown sites are connected to, if some switches may be left out.
func (r *reader) parents(s *shown, list []*hubs) (found []int32) {
	isFew := !slices.ContainsFunc(list, func(h *hubs) bool { return len(h.all) > hubsAll })
	if isFew || r.g.NumLinks() > lookTwice {
		return nil
	}
	for i := range int32(r.g.NumLinks()) {
		if l := r.g.Link(i); s.of[l.From] != 0 && l.To >= r.nics &&
			!slices.Contains(found, l.To) && len(found) < ranksFew {
			found = append(found, l.To)
		}
	}
	return found
}

// underSwitches makes the part of a network of ranks below switches. Each rank is a box, or all
// ranks of a switch share one.
func (r *reader) underSwitches() *part {
	s, p := r.nothing(), &part{}
	hubs := r.hubs(r.ranks)
	rows := r.addHubs(s, hubs, nil)
	children := map[int32][]int32{} // of shown switches, by the index of their sites
	var of []int32
	total := 0
	for i := range int32(r.g.NumLinks()) {
		if l := r.g.Link(i); l.From < r.ranks && s.of[l.To] != 0 {
			if children[s.of[l.To]] == nil {
				of = append(of, s.of[l.To])
			}
			children[s.of[l.To]] = append(children[s.of[l.To]], l.From)
			total++
		}
	}
	slices.Sort(of)
	var ends []*site
	for _, hub := range of {
		list := slices.Sorted(slices.Values(children[hub]))
		ends = append(ends, r.below(s, list, total <= ranksAll, len(of) == 1)...)
	}
	p.wires = r.wires(s)
	p.rows = append(byLevel(rows, hubs, p.wires, ends),
		siteRow{ends, []string{count(int(r.ranks), "gpu")}})
	for _, e := range ends {
		p.cells, p.owners = append(p.cells, []*site{e}), append(p.owners, nil)
	}
	p.number()
	return p
}

// below makes the boxes of the ranks of a switch: one for each, for some, or one for all.
func (r *reader) below(s *shown, list []int32, each, alone bool) (sites []*site) {
	few := len(list)
	if !each {
		few = ranksFew
	}
	if each || alone {
		var must []int
		for i, v := range list {
			if _, ok := slices.BinarySearch(r.touched, v); ok {
				must = append(must, i)
			}
		}
		for _, i := range some(len(list), few, must) {
			if s.of[list[i]] == 0 {
				sites = append(sites, s.add(list[i], newSite(r.g.Node(list[i]).Name, i)))
			}
		}
		markGaps(sites)
		return sites
	}
	all := &site{kind: aGPU, label: count(len(list), "gpu"), short: fmt.Sprint(len(list))}
	for i, v := range list {
		_, isTouched := slices.BinarySearch(r.touched, v)
		if i == 0 || isTouched {
			s.add(v, all)
		}
	}
	return []*site{all}
}

// ranksAlone makes the part of a network without switches: ranks in a grid, or on a circle.
func (r *reader) ranksAlone() *part {
	s, p := r.nothing(), &part{shape: round}
	n := int(r.ranks)
	if sizes, wraps := r.g.Shape(); 2 <= len(sizes) && len(sizes) <= 3 && slices.Min(sizes) > 1 &&
		(n > ranksAll || r.g.Preset != "hypercube") {
		p.grid(r, s, sizes, wraps)
	} else {
		p.rows = []siteRow{{r.addSome(s, 0, r.ranks, ranksAll, ranksFew),
			[]string{count(n, "gpu")}}}
	}
	p.wires = r.wires(s)
	return p
}

// grid chooses the ranks of a grid that are shown.
func (p *part) grid(r *reader, s *shown, sizes []int, wraps bool) {
	most := 6
	if len(sizes) == 3 {
		most = 4
	}
	p.shape = gridded
	var picked [][]int
	var texts []string
	for _, size := range sizes {
		picked = append(picked, some(size, most, nil))
		shown := picked[len(picked)-1]
		p.sizes, p.skips = append(p.sizes, len(shown)), append(p.skips, make([]bool, len(shown)))
		for i := range shown[1:] {
			p.skips[len(p.skips)-1][i] = shown[i]+1 < shown[i+1]
		}
		texts = append(texts, fmt.Sprint(size))
	}
	row := siteRow{texts: []string{fmt.Sprintf("%s, %s", count(int(r.ranks), "gpu"),
		strings.Join(texts, " × "))}}
	if wraps {
		p.extra = "the ends of each line are joined, too"
	}
	total := 1
	for _, n := range p.sizes {
		total *= n
	}
	for i := range total {
		at, v := make([]int, len(sizes)), 0
		rest := i
		for d := len(sizes) - 1; d >= 0; d-- {
			at[d] = rest % p.sizes[d]
			rest /= p.sizes[d]
		}
		for d := range sizes {
			v = v*sizes[d] + picked[d][at[d]]
		}
		row.sites = append(row.sites, s.add(int32(v), newSite(r.g.Node(int32(v)).Name, v)))
		p.at = append(p.at, at)
	}
	p.rows = []siteRow{row}
}
