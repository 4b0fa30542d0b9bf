package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Found holds the graphs that NCCL's own search has found on a machine, read from its dump
// (NCCL_GRAPH_DUMP_FILE). They replace those that the rules here infer. A graph without channels
// was not found.
type Found struct{ Ring, Tree, NVLS FoundGraph }

// FoundGraph is one graph of a search. Speeds are GB/s of 10⁹ of a channel.
type FoundGraph struct {
	Orders       [][]int32 // by channel, the GPUs of a node, counted from 0
	Intra, Inter float64
	NVLink       bool // all GPUs are joined by NVLinks (typeintra is NVL)
	LL128        bool // the paths are short enough for LL128
	PXN          bool // or would be, if paths by another GPU's NIC were
	Nets         bool // channels begin and end at NICs: it is of several nodes
	Same         bool // all channels take the same way
	FromTop      bool // of a tree, that all its links end at the first GPU
	Crosses      bool // of rings: those of odd nodes change places by pairs (crossnic is 2)
}

// graphs returns the words of Found and its graphs, in their order.
func (f *Found) graphs() (names []string, graphs []*FoundGraph) {
	return []string{"ring", "tree", "nvls"}, []*FoundGraph{&f.Ring, &f.Tree, &f.NVLS}
}

// flags returns the facts of a graph that are true or false.
func (g *FoundGraph) flags() []word {
	return []word{{"nvlink", &g.NVLink}, {"ll128", &g.LL128}, {"pxn", &g.PXN},
		{"nets", &g.Nets}, {"same", &g.Same}, {"top", &g.FromTop},
		{"crosses", &g.Crosses}}
}

// String writes the graphs as words: "ring=30/30,nvlink,same:0.1.2.3/0.3.2.1 tree=…".
func (f *Found) String() string {
	var words []string
	names, graphs := f.graphs()
	for i, g := range graphs {
		if len(g.Orders) == 0 {
			continue
		}
		text := fmt.Sprintf("%s=%g/%g", names[i], g.Intra, g.Inter)
		for _, flag := range g.flags() {
			if *flag.is {
				text += "," + flag.name
			}
		}
		for c, order := range g.Orders {
			text += string(":/"[min(c, 1)])
			text += strings.ReplaceAll(strings.Trim(fmt.Sprint(order), "[]"), " ", ".")
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// set reads one word of Found.String; ok is false if it is none.
func (f *Found) set(key, value string) (ok bool, err error) {
	names, graphs := f.graphs()
	at := slices.Index(names, key)
	if at < 0 {
		return false, nil
	}
	g := FoundGraph{}
	facts, orders, _ := strings.Cut(value, ":")
	fields := strings.Split(facts, ",")
	intra, inter, _ := strings.Cut(fields[0], "/")
	if g.Intra, err = strconv.ParseFloat(intra, 64); err == nil {
		g.Inter, err = strconv.ParseFloat(inter, 64)
	}
	if err != nil || !(g.Intra >= 0 && g.Intra <= mostRate && g.Inter >= 0 && g.Inter <= mostRate) {
		return true, fmt.Errorf("speeds are expected, as 30/30")
	}
	for _, field := range fields[1:] {
		i := slices.IndexFunc(g.flags(), func(w word) bool { return w.name == field })
		if i < 0 {
			return true, fmt.Errorf("nvlink, ll128, pxn, nets, same, top or crosses is expected")
		}
		*g.flags()[i].is = true
	}
	for _, text := range strings.Split(orders, "/") {
		var order []int32
		for _, one := range strings.Split(text, ".") {
			n, err := strconv.ParseInt(one, 10, 16)
			if err != nil {
				return true, fmt.Errorf("orders of GPUs are expected, as 0.1.2/0.2.1")
			}
			order = append(order, int32(n))
		}
		g.Orders = append(g.Orders, order)
	}
	*graphs[at] = g
	return true, nil
}

// check refuses what no search finds.
func (f *Found) check() error {
	gpus := 0
	names, graphs := f.graphs()
	for i, g := range graphs {
		if len(g.Orders) > MaxChannels {
			return fmt.Errorf("%s: %d channels; at most %d are expected", names[i], len(g.Orders),
				MaxChannels)
		}
		for _, order := range g.Orders {
			if g == &f.NVLS && len(order) == 1 { // its head
				continue
			}
			if gpus == 0 {
				gpus = len(order)
			}
			sorted := slices.Sorted(slices.Values(order))
			for k, gpu := range sorted {
				if int(gpu) != k || len(order) != gpus {
					return fmt.Errorf("%s: a channel has each of the %d GPUs once", names[i], gpus)
				}
			}
		}
	}
	if len(f.Ring.Orders) == 0 || len(f.Tree.Orders) == 0 {
		return fmt.Errorf("a ring and a tree are expected")
	}
	return nil
}

// GPUs counts the GPUs of a node.
func (f *Found) GPUs() int { return len(f.Ring.Orders[0]) }

// Fits refuses a collective with perNode GPUs in each node if the search has found its graphs for
// another number.
func (f *Facts) Fits(perNode, ranks int) error {
	switch g := f.Found; {
	case g == nil:
		return nil
	case g.GPUs() != perNode:
		return fmt.Errorf("a graph of %d GPUs a node; the collective has %d of each", g.GPUs(), perNode)
	case !g.Ring.Nets && perNode < ranks:
		return fmt.Errorf("a graph of one node, without NICs in its channels; there are %d nodes",
			ranks/perNode)
	}
	return nil
}

// graph converts a graph of the search for the cost model.
func (g *FoundGraph) graph() graph {
	return graph{len(g.Orders), g.Intra, g.Inter, g.NVLink, g.Same, g.FromTop}
}

// rings returns the search's result; inferred has the rings of the rules, for what a dump does
// not state.
func (f *Found) rings(inferred rings, s *search, nodes int) rings {
	r := rings{ring: f.Ring.graph(), tree: f.Tree.graph(), nvls: f.NVLS.graph(),
		channels: 2 * min(len(f.Ring.Orders), len(f.Tree.Orders)), toPeer: inferred.toPeer,
		ll128: (f.Ring.LL128 || f.Ring.PXN && s.SM >= 90) && s.hasLL128()}
	if nodes > 1 && s.generation() >= hopper && r.ring.intra > 45 && r.channels < s.doubledUpTo {
		r.channels *= 2
	}
	r.channels = min(r.channels, s.mostChannels)
	return r
}

// ordersOf returns the ring orders that an algorithm uses.
func (f *Found) ordersOf(a Algorithm) [][]int32 {
	if a == Ring {
		return f.Ring.Orders
	}
	return f.Tree.Orders
}
