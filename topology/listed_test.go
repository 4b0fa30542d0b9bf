package topology

import "fmt"

// Networks link by link, as the presets describe them: what their formulas are held against.

// listedAs is the network of a preset, listed.
//
// REQUIRES: Build makes it of the same parameters, and Ranks and K, or A, P and H, are given.
func listedAs(p Params) *Graph {
	g := &Graph{Preset: p.Preset, links: []Link{}}
	for i := range p.Ranks {
		g.Ranks = append(g.Ranks, g.addNode(rankName(i), false))
	}
	switch p.Preset {
	case "mesh":
		g.listMesh(p)
	case "tree":
		g.listTree(p)
	case "leaf-spine":
		g.listLeafSpine(p)
	case "fat-tree":
		g.listFatTree(p)
	case "dragonfly":
		g.listDragonfly(p)
	default:
		panic("no such list")
	}
	return g.numbered()
}

func (g *Graph) listMesh(p Params) {
	stride := p.Ranks
	for _, size := range p.Shape {
		stride /= size
		for v := range p.Ranks { // to the next coordinate
			if v/stride%size+1 < size {
				g.addLink(int32(v), int32(v+stride), p.Bandwidth, p.Latency)
			}
		}
		for v := range p.Ranks { // to the one before
			if v/stride%size > 0 {
				g.addLink(int32(v), int32(v-stride), p.Bandwidth, p.Latency)
			}
		}
	}
}

func (g *Graph) listTree(p Params) {
	first, n := int32(0), int32(p.Ranks) // of the level below
	for level := 1; ; level++ {
		parents := (n + int32(p.K) - 1) / int32(p.K)
		base := g.addSwitches(fmt.Sprintf("level%d.", level), parents)
		g.join(n, p, func(i int32) (int32, int32) { return first + i, base + i/int32(p.K) })
		if parents == 1 {
			return
		}
		first, n = base, parents
	}
}

func (g *Graph) listLeafSpine(p Params) {
	spines, err := upLinks(p.K, p.Oversubscription)
	if err != nil {
		panic(err)
	}
	n, k, s := int32(p.Ranks), int32(p.K), int32(spines)
	leaves := (n + k - 1) / k
	leaf := g.addSwitches("leaf", leaves)
	spine := g.addSwitches("spine", s)
	g.join(n, p, func(i int32) (int32, int32) { return i, leaf + i/k })
	g.join(leaves*s, p, func(i int32) (int32, int32) { return leaf + i/s, spine + i%s })
}

func (g *Graph) listFatTree(p Params) {
	up, err := upLinks(p.K/2, p.Oversubscription)
	if err != nil {
		panic(err)
	}
	k, u := int32(p.K), int32(up)
	half := k / 2
	pods := int32(len(g.nodes)) // a pod is its edges, then its aggregation switches
	for pod := range k {
		g.addSwitches(fmt.Sprintf("pod%d/edge", pod), half)
		g.addSwitches(fmt.Sprintf("pod%d/agg", pod), u)
	}
	core := g.addSwitches("core", u*half)
	edge := func(i int32) int32 { return pods + i/half*(half+u) + i%half }
	agg := func(i int32) int32 { return pods + i/u*(half+u) + half + i%u }
	g.join(int32(p.Ranks), p, func(i int32) (int32, int32) { return i, edge(i / half) })
	g.join(k*half*u, p, func(i int32) (int32, int32) {
		return edge(i / u), agg(i/u/half*u + i%u)
	})
	g.join(k*u*half, p, func(i int32) (int32, int32) {
		return agg(i / half), core + i/half%u*half + i%half
	})
}

func (g *Graph) listDragonfly(p Params) {
	a, h := p.A, p.H
	groups := a*h + 1
	first := int32(len(g.nodes))
	for group := range groups {
		g.addSwitches(fmt.Sprintf("group%d/router", group), int32(a))
	}
	router := func(group, channel int) int32 { return first + int32(group%groups*a+channel/h) }
	g.join(int32(p.Ranks), p, func(i int32) (int32, int32) { return i, first + i/int32(p.P) })
	for d := 1; d < a; d++ { // as in FullMesh: all routers see the same ports
		for i := range groups * a {
			g.addLink(first+int32(i), first+int32(i-i%a+(i+d)%a), p.Bandwidth, p.Latency)
		}
	}
	for c := range a * h {
		for group := range groups { // the way back is channel a·h-1-c of the other group
			g.addLink(router(group, c), router(group+c+1, a*h-1-c), p.Bandwidth, p.Latency)
			g.links[len(g.links)-1].extra = aGlobal
		}
	}
}

// addSwitches appends n switches called name0, name1, … and returns the first.
func (g *Graph) addSwitches(name string, n int32) int32 {
	first := int32(len(g.nodes))
	for i := range n {
		g.addNode(fmt.Sprint(name, i), true)
	}
	return first
}

// join appends n links between the ends that pair names, all in the direction up, then all down.
func (g *Graph) join(n int32, p Params, pair func(int32) (low, high int32)) {
	for i := range n {
		low, high := pair(i)
		g.addLink(low, high, p.Bandwidth, p.Latency)
	}
	for i := range n {
		low, high := pair(i)
		g.addLink(high, low, p.Bandwidth, p.Latency)
	}
}
