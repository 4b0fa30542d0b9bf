package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/unit"
)

// siteKind is the kind of a site; it decides the colour.
type siteKind uint8

const (
	aGPU siteKind = iota
	aNIC
	aSwitch
	aPCIe
	aCPU
	aNode // a node of a cluster
)

// site is a box in the picture of a network: one of its nodes, or several.
type site struct {
	kind   siteKind
	label  string
	short  string // used where there is no room for the label
	number int    // order in the network
	row    int
	gap    bool // sites after it are left out
	box    box
}

func (s *site) middle() length { return (s.box.x0 + s.box.x1) / 2 }

// siteRow holds the sites of one level.
type siteRow struct {
	sites []*site
	texts []string // beside it: "8 GPUs"
}

// class groups links that look alike.
type class struct {
	there, back unit.Rate // rates in the two directions; 0: no link in that direction
	latency     unit.Time // of changed links only
	isChanged   bool
}

// text returns the text beside links of a class, "" for those without a limit.
func (c class) text() string {
	text := ""
	there, back := rateText(c.there), rateText(c.back)
	switch {
	case c.there == unit.Unlimited && c.back == unit.Unlimited && !c.isChanged:
		return ""
	case c.there == c.back:
		text = there
	case c.back == 0:
		text = there + ", one way"
	case c.there == 0:
		text = back + ", one way"
	default:
		text = there + " and " + back
	}
	if c.isChanged {
		text += ", " + c.latency.String() + " (changed)"
	}
	return text
}

// rateText formats a rate to four digits.
func rateText(r unit.Rate) string {
	number, rest, _ := strings.Cut(r.String(), " ")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || len(number) < 6 {
		return r.String()
	}
	return strconv.FormatFloat(x, 'f', max(0, 4-len(strings.SplitN(number, ".", 2)[0])), 64) + " " +
		rest
}

// wire is a link between two sites, or a pair of links, one in each direction.
type wire struct {
	a, b *site // the row of a is not below that of b
	class
}

// shape selects the layout of a part.
type shape uint8

const (
	tiered  shape = iota // rows of sites, links between them
	round                // sites on a circle, links across
	gridded              // sites at the positions of a grid
)

// part is a separately drawn part of a network.
type part struct {
	heading string
	shape   shape
	rows    []siteRow // from the top
	cells   [][]*site // of a tiered part: evenly spaced cells, each with its sites side by side
	owners  []*site   // of a tiered part: the box below each cell; nil for none
	wires   []wire
	// Of a grid: the coordinates of the sites of its one row, and the shape that is drawn.
	at    [][]int
	sizes []int
	skips [][]bool // by dimension: behind which coordinates ranks are left out
	extra string   // written below

	area   box
	faces  typefaces
	gutter length
	gaps   []gap // above each row, and below the last
	colour map[class]int
}

// some returns which of n things are shown, most if there are more: the first, the last, and those
// in must, which may be more.
func some(n, most int, must []int) []int {
	var shown []int
	for i := range n {
		if n <= most || i < most-1 || i == n-1 {
			shown = append(shown, i)
		} else {
			break
		}
	}
	if n > most {
		shown = append(shown, n-1)
	}
	for _, i := range must[:min(len(must), 8)] {
		if 0 <= i && i < n {
			shown = append(shown, i)
		}
	}
	slices.Sort(shown)
	return slices.Compact(shown)
}

// markGaps marks the sites of a row behind which others are left out.
func markGaps(sites []*site) {
	for i := range sites[:max(len(sites)-1, 0)] {
		sites[i].gap = sites[i].number+1 < sites[i+1].number
	}
}

// count formats a number of things by their name in the network: "8 GPUs", "2 leaf switches".
func count(n int, name string) string {
	word := map[string]string{"gpu": "GPU", "nic": "NIC", "cpu": "CPU", "node": "node",
		"router": "router", "switch": "switch", "nvswitch": "NVSwitch", "pcie": "PCIe switch",
		"rail": "rail switch", "leaf": "leaf switch", "spine": "spine switch", "edge": "edge switch",
		"agg": "aggregation switch", "core": "core switch"}[name]
	ending := "s"
	if strings.HasSuffix(word, "witch") {
		ending = "es"
	}
	switch {
	case word == "":
		return fmt.Sprintf("%d × %s", n, printable(strings.TrimRight(name, ".-_")))
	case n == 1:
		return "1 " + word
	}
	return fmt.Sprintf("%d %s%s", n, word, ending)
}

// splitName splits "node2/gpu3" into the node, −1 for none, and the rest. stem is the rest without
// its number: "gpu", or "pod1/edge".
func splitName(name string) (node int, rest, stem string) {
	node = -1
	if inside, ok := strings.CutPrefix(name, "node"); ok {
		digits, after, ok := strings.Cut(inside, "/")
		if n, err := strconv.Atoi(digits); ok && err == nil {
			node, name = n, after
		}
	}
	return node, name, strings.TrimRight(name, "0123456789")
}

// kindOf returns the kind of a site by the stem of its name.
func kindOf(stem string) siteKind {
	switch stem {
	case "gpu":
		return aGPU
	case "nic":
		return aNIC
	case "pcie":
		return aPCIe
	case "cpu":
		return aCPU
	}
	return aSwitch
}

// newSite makes the site of a node from the node's name.
func newSite(name string, number int) *site {
	_, rest, stem := splitName(name)
	short := rest[len(stem):]
	if group, _, ok := strings.Cut(stem, "/"); ok { // "1.3" of pod1/edge3
		short = group[len(strings.TrimRight(group, "0123456789")):] + "." + short
	}
	return &site{kind: kindOf(stem), label: printable(rest), short: printable(short), number: number}
}

// rateClasses lists the classes of wires, the fastest first, the changed ones last.
func rateClasses(wires []wire) []class {
	var list []class
	for _, w := range wires {
		list = append(list, w.class)
	}
	slices.SortFunc(list, func(a, b class) int {
		if a.isChanged != b.isChanged {
			return map[bool]int{true: 1, false: -1}[a.isChanged]
		}
		return cmp.Or(cmp.Compare(b.there, a.there), cmp.Compare(b.back, a.back),
			cmp.Compare(a.latency, b.latency))
	})
	return slices.Compact(list)
}
