package scenarios

import (
	"errors"
	glob "path"
	"slices"
	"strconv"
	"strings"

	"collsim/machine"
	"collsim/topology"
	"collsim/unit"
)

// Topology is the network of a point. Points of a scenario that have the same network share one
// Topology.
type Topology struct {
	// Preset is a name of package topology, "links" where they are given by hand, "cluster" where
	// there are nodes.
	Preset    string
	Nodes     int       // 1 but for a cluster
	Machine   string    // that the scenario names; empty where it gives a network
	Ranks     int       // ≥ 1, of all nodes
	Bandwidth unit.Rate // of each link before changes; 0 where not all links have the same
	Latency   unit.Time // likewise
	// Starts and Slowdowns are those of [[topology.rank]] by rank; nil where all ranks begin at
	// once, at full speed.
	Starts    []unit.Time
	Slowdowns []float64

	machine *machine.Machine // of the name Machine
	// pluginLatency is the latency that the plugin of the network between nodes reports to NCCL.
	pluginLatency unit.Time
	params        topology.Params // links by hand use the routing alone
	// own is the graph that a program has made; nil elsewhere.
	own     *topology.Graph `digest:"-"`
	wires   []topology.Wire
	places  []string // the numbered path of the entry of each wire
	changes []alteration
	// altered holds the outcome of the changes; nil before they are looked up.
	altered topology.Altered `digest:"-"`
	homes   []home           // of a cluster, those of the ranks
	rings   rings
}

// alteration is an entry of [[topology.link]] that changes links.
type alteration struct {
	place   string
	pattern string
	change  topology.Change
}

// Changed reports whether single links differ from the preset.
func (t *Topology) Changed() bool { return len(t.changes) > 0 }

// Torus returns the dimensions of a torus as in 8x4, the first that of neighbours in rank order. It
// is empty for any other network.
func (t *Topology) Torus() string {
	if t.Preset != "torus" || t.own != nil {
		return ""
	}
	words := make([]string, 0, len(t.params.Shape))
	for _, size := range slices.Backward(t.params.Shape) {
		words = append(words, strconv.Itoa(size))
	}
	return strings.Join(words, "x")
}

// Graph builds the network. What Points accepted builds without error; each call builds anew.
func (t *Topology) Graph() (*topology.Graph, error) {
	g, _, err := t.build()
	return g, err
}

// byHand is the Preset of links by hand, inNodes that of nodes.
const (
	byHand  = "links"
	inNodes = "cluster"
)

// build returns the network, or what is wrong and the path of the key to blame; it is empty where
// the error has a better one.
func (t *Topology) build() (g *topology.Graph, blame string, err error) {
	blame = "topology"
	switch {
	case t.own != nil:
		g = t.own.Clone()
	case t.Preset == byHand:
		blame = "topology.link"
		if g, err = topology.Links(t.Ranks, t.wires); err == nil {
			g.Routing = t.params.Routing
		}
	default:
		g, err = topology.Build(t.params)
	}
	var wire *topology.WireError
	switch {
	case errors.As(err, &wire) && t.Preset == byHand:
		return nil, t.places[wire.Wire] + "." + wire.Key, err
	case err != nil:
		return nil, blame, err
	}
	if err := g.Connected(); err != nil {
		if len(t.params.Absent) > 0 {
			blame = "topology.absent"
		}
		return nil, blame, err
	}
	if t.altered != nil {
		g.Alter(t.altered)
		return g, "", nil
	}
	for _, c := range t.changes {
		if err := g.Override(c.pattern, c.change); err != nil {
			return nil, c.place + ".match", err
		}
	}
	return g, "", nil
}

// topology reads the network of a view, nil if something is wrong with it.
func (v *view) topology() *Topology {
	if n := v.d.root.child("topology"); n != nil && n.shape != table {
		return nil
	}
	if _, byFile := v.given(machineFile); byFile && v.byName().of == nil {
		return nil // reported
	}
	t := &Topology{Nodes: 1}
	var ok bool
	switch {
	case v.clustered():
		ok = v.cluster(t)
	case v.has("topology.preset"):
		ok = v.preset(t)
	case v.d.count("topology.link") > 0:
		ok = v.hand(t)
	default:
		v.missing("topology", "preset", "a preset, or links by hand, is expected",
			"presets are "+strings.Join(presetNames("topology"), ", "))
		return nil
	}
	ok = v.seating(t) && ok
	ok = v.alterations(t) && ok
	groups, readable := v.groups()
	if !ok || !readable {
		return nil
	}
	g, blame, err := t.build()
	if err != nil {
		v.blame(t, blame, err)
		return nil
	}
	t.Ranks = len(g.Ranks)
	t.teams(g)
	if !v.match(t, g, groups) {
		return nil
	}
	t.altered = g.Altered()
	return t
}

// hand reads what [topology] says where links are given by hand: the number of ranks, if it wants
// to fix it, and what links have that do not say.
func (v *view) hand(t *Topology) bool {
	ranks, _, ok1 := fetch[int64](v, "topology.ranks")
	bandwidth, _, ok2 := fetch[unit.Rate](v, "topology.bandwidth")
	latency, _, ok3 := fetch[unit.Time](v, "topology.latency")
	t.Preset, t.Ranks, t.Bandwidth, t.Latency = byHand, int(ranks), bandwidth, latency
	v.use("topology.ranks")
	return ok1 && ok2 && ok3
}

// alterations reads [[topology.link]]: wires where there is no preset, and changes.
func (v *view) alterations(t *Topology) bool {
	ok := true
	for i := range v.d.count("topology.link") {
		at := numbered("topology.link", i)
		switch {
		case v.has(at+".match") && (v.has(at+".from") || v.has(at+".to")):
			v.fail(at+".match", problem{"match changes links, from and to make one",
				"write two entries of [[topology.link]]"})
			ok = false
		case v.has(at + ".match"):
			ok = v.alteration(t, at) && ok
		case t.Preset != byHand:
			blamed := at
			if v.has(at + ".from") {
				blamed = at + ".from"
			}
			v.fail(blamed, problem{`the links are those of the preset; match is expected`,
				"to change a link: match = \"gpu0->switch\"; to give all by hand: no preset"})
			ok = false
		default:
			ok = v.wire(t, at) && ok
		}
	}
	return ok
}

// wire reads a link by hand.
func (v *view) wire(t *Topology, at string) bool {
	from, ok1 := need[string](v, at+".from", "the link's beginning is expected")
	to, ok2 := need[string](v, at+".to", "the link's end is expected")
	both, given, ok3 := fetch[bool](v, at+".both")
	bandwidth, own, ok4 := fetch[change](v, at+".bandwidth")
	latency, ownLatency, ok5 := fetch[unit.Time](v, at+".latency")
	if own && bandwidth.share != 0 {
		v.fail(at+".bandwidth", problem{"a share of what? a new link has a rate",
			`for example "100 Gbit/s"`})
		return false
	}
	if !own && ok4 {
		bandwidth.rate, ok4 = need[unit.Rate](v, "topology.bandwidth",
			"a link by hand has no bandwidth of its own; this one is expected")
		v.use("topology.bandwidth")
	}
	if !ownLatency && ok5 {
		latency, ok5 = need[unit.Time](v, "topology.latency",
			"a link by hand has no latency of its own; this one is expected")
		v.use("topology.latency")
	}
	t.wires = append(t.wires, topology.Wire{From: from, To: to, Bandwidth: bandwidth.rate,
		Latency: latency, Both: both || !given})
	t.places = append(t.places, at)
	return ok1 && ok2 && ok3 && ok4 && ok5
}

// alteration reads a change of links.
func (v *view) alteration(t *Topology, at string) bool {
	pattern, _, ok1 := fetch[string](v, at+".match")
	bandwidth, given, ok2 := fetch[change](v, at+".bandwidth")
	latency, slower, ok3 := fetch[unit.Time](v, at+".latency")
	if v.has(at + ".both") {
		v.fail(at+".both", problem{"both is for new links",
			`a pattern means both directions with <->, as "gpu0 <-> switch"`})
		return false
	}
	if !given && !slower && ok2 && ok3 {
		v.fail(at+".match", problem{"nothing is changed; bandwidth or latency is expected", ""})
		return false
	}
	c := topology.Change{Bandwidth: bandwidth.rate, Share: bandwidth.share}
	if slower {
		c.Latency = &latency
	}
	t.changes = append(t.changes, alteration{at, pattern, c})
	return ok1 && ok2 && ok3
}

// rankChange is an entry of [[topology.rank]].
type rankChange struct {
	at, pattern string
	start       unit.Time
	late        bool // start is given
	slowdown    float64
	slow        bool // slowdown is given
}

// groups reads [[topology.rank]].
func (v *view) groups() (list []rankChange, ok bool) {
	ok = true
	count := v.d.count("topology.rank")
	list = make([]rankChange, 0, count)
	for i := range count {
		g := rankChange{at: numbered("topology.rank", i)}
		var ok1, ok2, ok3 bool
		g.pattern, ok1 = need[string](v, g.at+".match", "the ranks meant are expected")
		g.start, g.late, ok2 = fetch[unit.Time](v, g.at+".start")
		g.slowdown, g.slow, ok3 = fetch[float64](v, g.at+".slowdown")
		ok = ok && ok1 && ok2 && ok3
		if ok1 && !g.late && !g.slow {
			v.fail(g.at+".match", problem{"nothing is changed; start or slowdown is expected", ""})
			ok = false
		}
		list = append(list, g)
	}
	return list, ok
}

// rankNumber returns the number in a pattern of [[topology.rank]] that names ranks by number: "3",
// "gpu3", "1*".
func rankNumber(pattern string) (number string, ok bool) {
	number = strings.TrimPrefix(pattern, "gpu")
	return number, number != "" && strings.Trim(number, "0123456789*") == ""
}

// match applies the groups to the ranks that they mean, later ones over earlier ones. A pattern is
// about a rank's number, or with a "/" about its place in a cluster.
func (v *view) match(t *Topology, net *topology.Graph, groups []rankChange) bool {
	for _, g := range groups {
		var ranks []int32
		if number, ok := rankNumber(g.pattern); ok {
			ranks = numbers(number, t.Ranks)
		} else if strings.Contains(g.pattern, "/") {
			ranks, _ = net.MatchRanks(g.pattern)
		}
		if len(ranks) == 0 {
			p := problem{text: "matches no rank; ranks are 0 to " + strconv.Itoa(t.Ranks-1)}
			if t.Preset == inNodes {
				p.hint = `their places are called as node0/gpu3`
			}
			v.fail(g.at+".match", p)
			return false
		}
		t.set(g, ranks)
	}
	return true
}

// numbers lists the ranks whose numbers match a pattern of digits and stars.
func numbers(pattern string, ranks int) []int32 {
	if !strings.Contains(pattern, "*") { // each of many ranks may have a table of its own
		r, err := strconv.Atoi(pattern)
		if err != nil || r >= ranks || strconv.Itoa(r) != pattern {
			return nil
		}
		return []int32{int32(r)}
	}
	var found []int32
	for r := range ranks {
		if ok, err := glob.Match(pattern, strconv.Itoa(r)); ok && err == nil {
			found = append(found, int32(r))
		}
	}
	return found
}

// set applies a group to ranks.
func (t *Topology) set(g rankChange, ranks []int32) {
	if g.late && t.Starts == nil {
		t.Starts = make([]unit.Time, t.Ranks)
	}
	if g.slow && t.Slowdowns == nil {
		t.Slowdowns = make([]float64, t.Ranks)
		for r := range t.Slowdowns {
			t.Slowdowns[r] = 1
		}
	}
	for _, r := range ranks {
		if g.late {
			t.Starts[r] = g.start
		}
		if g.slow {
			t.Slowdowns[r] = g.slowdown
		}
	}
}

// ChangedLinks returns the links of its Graph, by index, that [[topology.link]] changes.
func (t *Topology) ChangedLinks(g *topology.Graph) (links []int32, err error) {
	for _, c := range t.changes {
		found, err := g.MatchLinks(c.pattern)
		if err != nil {
			return nil, err
		}
		links = append(links, found...)
	}
	slices.Sort(links)
	return slices.Compact(links), nil
}
