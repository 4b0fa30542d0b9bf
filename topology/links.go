package topology

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/unit"
)

// Wire is a link, or with Both a pair of them, between two nodes by name.
type Wire struct {
	From, To  string
	Bandwidth unit.Rate
	Latency   unit.Time
	Both      bool // also the opposite direction
	Length    int  // its length in a route, 1 to MaxLength; 0 counts as 1
}

// MaxLength bounds the length of a wire in a route.
const MaxLength = 1000

// WireError names the wire of a list that is wrong, and the key.
type WireError struct {
	Wire  int    // index in the list
	Key   string // "from", "to", "bandwidth", "latency" or "length"
	Value string
	Text  string
}

// Error returns one line that names the wire, the key, its value and what was expected.
func (e *WireError) Error() string {
	return fmt.Sprintf("link %d: %s = %.40q: %s", e.Wire, e.Key, e.Value, e.Text)
}

// Links returns the network of these wires. "gpu0" … are the ranks, any other name is a switch.
// ranks is their number; 0 stands for as many as the wires name, which must then be gpu0 to the
// highest without a gap. Links are numbered as the wires are listed, the opposite direction second.
// A wrong wire is a *WireError. It does not check that all ranks reach each other; Connected does.
func Links(ranks int, wires []Wire) (*Graph, error) {
	named, err := ranksNamed(ranks, wires)
	if err != nil {
		return nil, err
	}
	links, length := int64(0), int64(0)
	for i, w := range wires {
		links++
		if w.Both {
			links++
		}
		if length += int64(w.Length); w.Length < 0 || w.Length > MaxLength || length > MaxRanks {
			return nil, &WireError{i, "length", strconv.Itoa(w.Length),
				fmt.Sprintf("0 to %d, and %d in all, are expected", MaxLength, MaxRanks)}
		}
	}
	g, err := newGraph("links", named, links, Link{Bandwidth: unit.Unlimited})
	if err != nil {
		return nil, err
	}
	nodes := make(map[string]int32, named)
	for i, n := range g.nodes {
		nodes[n.Name] = int32(i)
	}
	seen := make(map[[2]int32]bool, links)
	for i, w := range wires {
		if err := g.addWire(i, w, nodes, seen); err != nil {
			return nil, err
		}
	}
	return g.numbered(), nil
}

// addWire adds wire i; nodes and seen hold the nodes by name and the links by ends so far.
func (g *Graph) addWire(i int, w Wire, nodes map[string]int32, seen map[[2]int32]bool) error {
	if why := badBandwidth(w.Bandwidth); why != "" {
		return &WireError{i, "bandwidth", w.Bandwidth.String(), why}
	}
	if why := badLatency(w.Latency); why != "" {
		return &WireError{i, "latency", w.Latency.String(), why}
	}
	var ends [2]int32
	for e, name := range [2]string{w.From, w.To} {
		id, ok := nodes[name]
		if !ok {
			id = g.addNode(name, true)
			nodes[name] = id
		}
		ends[e] = id
	}
	if ends[0] == ends[1] {
		return &WireError{i, "to", w.To, "a link from a node to itself"}
	}
	directions := [][2]int32{ends}
	if w.Both {
		directions = append(directions, [2]int32{ends[1], ends[0]})
	}
	for _, direction := range directions {
		if seen[direction] {
			name := g.nodes[direction[0]].Name + "->" + g.nodes[direction[1]].Name
			return &WireError{i, "from", w.From, "the link " + name +
				" is there already; one faster link says the same as two"}
		}
		seen[direction] = true
		g.addLink(direction[0], direction[1], w.Bandwidth, w.Latency)
		g.links[len(g.links)-1].extra = int32(max(w.Length, 1) - 1)
	}
	return nil
}

// ranksNamed checks the names of all wires and returns the number of ranks: the given one, or else
// one more than the highest that is named.
func ranksNamed(ranks int, wires []Wire) (int, error) {
	most := -1
	present := map[int]bool{}
	for i, w := range wires {
		for _, end := range [2]struct{ key, name string }{{"from", w.From}, {"to", w.To}} {
			rank, why := rankOf(end.name)
			if why == "" && ranks > 0 && rank >= ranks {
				why = fmt.Sprintf("there are %d ranks, gpu0 to %s", ranks, rankName(ranks-1))
			}
			if why != "" {
				return 0, &WireError{i, end.key, end.name, why}
			}
			if rank >= 0 {
				most = max(most, rank)
				present[rank] = true
			}
		}
	}
	if ranks != 0 {
		return ranks, nil
	}
	for r := range most {
		if !present[r] {
			return 0, fmt.Errorf("there is a link of %s and none of %s; "+
				"ranks are gpu0, gpu1, … without a gap", rankName(most), rankName(r))
		}
	}
	if most < 0 {
		return 0, fmt.Errorf("no link names a rank; ranks are gpu0, gpu1, …")
	}
	return most + 1, nil
}

// rankOf returns the rank in a node's name, −1 for a switch, or the reason why the name is invalid.
func rankOf(name string) (rank int, why string) {
	if name == "" || len(name) > 200 || strings.ContainsAny(name, "*<> \t\r\n\"") {
		return 0, "a name without blanks, quotes, *, < and > is expected"
	}
	return numberedName(name, "gpu")
}

// numberedName returns the number in a name of some kind ("gpu3", "nic0"), −1 for other names, or
// the reason why it is invalid.
func numberedName(name, kind string) (number int, why string) {
	digits, ok := strings.CutPrefix(name, kind)
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return -1, ""
	}
	number, err := strconv.Atoi(digits)
	if err != nil || number >= MaxRanks {
		return 0, fmt.Sprintf("the highest is %s%d", kind, MaxRanks-1)
	}
	if plain := kind + strconv.Itoa(number); plain != name {
		return 0, "write " + plain
	}
	return number, ""
}
