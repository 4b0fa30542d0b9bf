package ncclxml

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Graph is one of the graphs that NCCL's search has found: NCCL_GRAPH_DUMP_FILE writes them,
// NCCL_GRAPH_FILE reads them.
type Graph struct {
	// Orders lists, by channel, the GPUs of a node in their order, counted from 0; for NVLS the
	// head alone.
	Orders               [][]int32
	SpeedIntra           float64 // GB/s of 10⁹ of a channel, within a node
	SpeedInter           float64 // and between nodes
	LatencyInter         float64 // as the network's plugin reports it, microseconds
	TypeIntra, TypeInter string  // type of the longest path: "NVL", "PIX" …
	Same                 bool    // all channels use the same links
	Pattern, CrossNIC    int
	HasNets              bool // channels begin and end at a NIC: it spans several nodes
}

// Graphs holds the graphs of a file; nil for one that it does not have.
type Graphs struct{ Ring, Tree, NVLS *Graph }

// The ids of graphs.
const (
	ringID = 0
	treeID = 1
	nvlsID = 3
)

// nvlsPattern is the pattern of NVLS: a channel begins with its head, and no order follows.
const nvlsPattern = 5

// pathTypes lists the types of paths, the shortest first.
var pathTypes = []string{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS",
	"NET"}

// Short reports whether the paths of a graph are short enough for LL128. Within the node they must
// be NVLinks, with at most one GPU between, and no processor may be on the path to the NIC. From
// Hopper on the NIC may be another GPU's.
func (g *Graph) Short(sm int) bool {
	far := "PXB"
	if sm >= 90 {
		far = "PXN"
	}
	return slices.Index(pathTypes, g.TypeIntra) <= slices.Index(pathTypes, "NVB") &&
		slices.Index(pathTypes, g.TypeInter) <= slices.Index(pathTypes, far)
}

// Limits of a file of graphs.
const (
	mostChannels = 64
	mostGPUs     = 1 << 10
)

// ReadGraphs reads a file of graphs, all of whose channels have the same GPUs. Errors are *Error.
func ReadGraphs(name string, data []byte) (*Graphs, error) {
	root, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, root: root}
	if root.name != "graphs" {
		return nil, f.wrong(root, "is <%.40s>; <graphs> is expected, as NCCL_GRAPH_DUMP_FILE writes it",
			root.name)
	}
	var found Graphs
	numbers := map[int]bool{} // of GPUs, as in the file
	for _, e := range root.kids {
		if e.name != "graph" {
			return nil, f.wrong(e, "<%.40s>: <graph> is expected", e.name)
		}
		id, err := f.whole(e, "id", 0, 1<<20)
		if err != nil {
			return nil, err
		}
		into := map[int]**Graph{ringID: &found.Ring, treeID: &found.Tree, nvlsID: &found.NVLS}[id]
		switch {
		case into == nil: // CollNet, which is not simulated
			continue
		case *into != nil:
			return nil, f.wrong(e, "<graph id=%d> stands twice", id)
		}
		g, err := f.graph(e, numbers)
		if err != nil {
			return nil, err
		}
		if len(g.Orders) > 0 {
			*into = g
		}
	}
	switch {
	case found.Ring == nil:
		return nil, f.wrong(root, "has no <graph id=\"0\"> with channels: rings are expected")
	case found.Tree == nil:
		return nil, f.wrong(root, "has no <graph id=\"1\"> with channels: trees are expected")
	}
	return &found, nil
}

// whole parses a required attribute that is a number.
func (f *file) whole(e *element, key string, least, most int) (int, error) {
	n, err := e.number(f.name, key, -1)
	if err == nil && (n < least || n > most) {
		err = f.wrong(e, "<%s %s=%.40q>: a number from %d to %d is expected", e.name, key, e.at[key],
			least, most)
	}
	return n, err
}

// graph reads one graph. The first call stores the GPUs of its channels in numbers; later graphs
// must have the same.
func (f *file) graph(e *element, numbers map[int]bool) (*Graph, error) {
	g := &Graph{TypeIntra: e.at["typeintra"], TypeInter: e.at["typeinter"]}
	count, err := f.whole(e, "nchannels", 0, mostChannels)
	if err != nil || count == 0 {
		return g, err
	}
	g.Pattern, err = f.whole(e, "pattern", 1, 6)
	cross, err2 := f.whole(e, "crossnic", 0, 2)
	same, err3 := f.whole(e, "samechannels", 0, 1)
	g.CrossNIC, g.Same = cross, same == 1
	if err := cmp.Or(err, err2, err3); err != nil {
		return nil, err
	}
	for _, one := range []struct {
		key   string
		into  *float64
		least float64
	}{{"speedintra", &g.SpeedIntra, 1e-9}, {"speedinter", &g.SpeedInter, 0},
		{"latencyinter", &g.LatencyInter, 0}} {
		text, given := e.at[one.key]
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if (given || one.least > 0) && (err != nil || !(x >= one.least && x <= 1e5)) {
			return nil, f.wrong(e, "<graph %s=%.40q>: a number is expected", one.key, text)
		}
		*one.into = x
	}
	for _, key := range []string{"typeintra", "typeinter"} {
		if !slices.Contains(pathTypes, e.at[key]) {
			return nil, f.wrong(e, "<graph %s=%.40q>: one of %s is expected", key, e.at[key],
				strings.Join(pathTypes, ", "))
		}
	}
	if len(e.kids) != count {
		return nil, f.wrong(e, "<graph nchannels=%d> has %d elements; as many <channel> are expected",
			count, len(e.kids))
	}
	var lists [][]int
	for _, channel := range e.kids {
		list, err := f.channel(channel, g, numbers)
		if err != nil {
			return nil, err
		}
		if g.Pattern == nvlsPattern {
			list = list[:1]
		}
		lists = append(lists, list)
	}
	sorted := slices.Sorted(maps.Keys(numbers))
	for _, list := range lists {
		var order []int32
		for _, n := range list {
			order = append(order, int32(slices.Index(sorted, n)))
		}
		g.Orders = append(g.Orders, order)
	}
	return g, nil
}

// channel reads the numbers of a channel's GPUs: their ranks or, without these, their hexadecimal
// numbers in the driver.
func (f *file) channel(e *element, g *Graph, numbers map[int]bool) (list []int, err error) {
	isFirst := len(numbers) == 0
	for _, kid := range e.kids {
		switch kid.name {
		case "net":
			g.HasNets = true
			continue
		case "gpu":
		default:
			return nil, f.wrong(kid, "<%.40s>: <gpu> or <net> is expected", kid.name)
		}
		key, base, digits := "rank", 0, kid.at["rank"]
		if digits == "" {
			key, base, digits = "dev", 16, strings.TrimPrefix(kid.at["dev"], "0x")
		}
		n, err := strconv.ParseInt(digits, base, 32)
		if err != nil || n < 0 {
			return nil, f.wrong(kid, "<gpu %s=%.40q>: a number is expected", key, kid.at[key])
		}
		switch {
		case g.Pattern == nvlsPattern && numbers[int(n)]:
		case slices.Contains(list, int(n)):
			return nil, f.wrong(kid, "<gpu %s=\"%d\"> stands twice in its channel", key, n)
		case isFirst && len(list) < mostGPUs:
			numbers[int(n)] = true
		case !numbers[int(n)]:
			return nil, f.wrong(kid, "<gpu %s=\"%d\"> is in no channel before it", key, n)
		}
		list = append(list, int(n))
	}
	isWhole := len(list) == len(numbers) || g.Pattern == nvlsPattern
	if e.name != "channel" || len(list) == 0 || !isWhole {
		return nil, f.wrong(e, "<%.40s> has %d GPUs; a <channel> of %d is expected", e.name, len(list),
			max(len(numbers), 1))
	}
	return list, nil
}
