package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"collsim/topology"
	"collsim/unit"
)

// Topology is the network of a point. Points of a scenario that have the same network share one
// Topology.
type Topology struct {
	Preset    string    // of package topology; "links" where they are given by hand
	Ranks     int       // ≥ 1
	Bandwidth unit.Rate // of each link before changes; 0 by hand where every link has its own
	Latency   unit.Time // likewise
	// Starts and Slowdowns are those of [[topology.rank]] by rank; nil where all ranks begin at
	// once, at full speed.
	Starts    []unit.Time
	Slowdowns []float64

	wires   []topology.Wire
	places  []string // the numbered path of the entry of each wire
	changes []alteration
}

// alteration is an entry of [[topology.link]] that changes links.
type alteration struct {
	place   string
	pattern string
	change  topology.Change
}

// Changed reports whether single links differ from the preset.
func (t *Topology) Changed() bool { return len(t.changes) > 0 }

// Graph builds the network. What Load accepted builds without error; each call builds anew.
func (t *Topology) Graph() (*topology.Graph, error) {
	g, _, err := t.build()
	return g, err
}

// build returns the network, or what is wrong and the path of the key to blame.
func (t *Topology) build() (g *topology.Graph, blame string, err error) {
	if t.Preset == "links" {
		g, err = topology.Links(t.Ranks, t.wires)
	} else {
		g, err = topology.New(t.Preset, t.Ranks, t.Bandwidth, t.Latency)
	}
	var wire *topology.WireError
	switch {
	case errors.As(err, &wire):
		return nil, t.places[wire.Wire] + "." + wire.Key, err
	case err != nil:
		return nil, "topology.link", err
	}
	if err := g.Connected(); err != nil {
		return nil, "topology.link", err
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
	t := &Topology{}
	preset, given, ok := fetch[string](v, "topology.preset")
	if n := v.d.root.child("topology"); n != nil && n.shape != table {
		return nil
	}
	if !v.has("topology.preset") && v.d.count("topology.link") == 0 {
		v.missing("topology", "preset", "a preset, or links by hand, is expected",
			"presets are "+strings.Join(topology.Presets(), ", "))
		return nil
	}
	if given {
		t.Preset = preset
		ok = v.shape(t) && ok
	} else {
		t.Preset = "links"
		ok = v.hand(t)
	}
	ok = v.alterations(t) && ok
	groups, readable := v.groups()
	if !ok || !readable {
		return nil
	}
	if len(t.wires)+len(t.changes)+len(groups) == 0 {
		return t
	}
	g, blame, err := t.build()
	if err != nil {
		v.blame(blame, err)
		return nil
	}
	t.Ranks = len(g.Ranks)
	if !v.match(t, g, groups) {
		return nil
	}
	return t
}

// shape reads the parameters of a preset.
func (v *view) shape(t *Topology) bool {
	ranks, ok1 := need[int64](v, "topology.ranks", "the number of ranks is expected")
	bandwidth, ok2 := need[unit.Rate](v, "topology.bandwidth", "the bandwidth of a link is expected")
	latency, ok3 := need[unit.Time](v, "topology.latency", "the latency of a link is expected")
	t.Ranks, t.Bandwidth, t.Latency = int(ranks), bandwidth, latency
	v.use("topology.bandwidth", "topology.latency")
	if links := t.Ranks * (t.Ranks - 1); t.Preset == "full-mesh" && links > topology.MaxLinks {
		v.fail("topology.ranks", problem{fmt.Sprintf("a full mesh of so many ranks has %d links; "+
			"at most %d are expected", links, topology.MaxLinks), ""})
		return false
	}
	return ok1 && ok2 && ok3
}

// hand reads what [topology] says where links are given by hand: the number of ranks, if it wants
// to fix it, and what links have that do not say.
func (v *view) hand(t *Topology) bool {
	ranks, _, ok1 := fetch[int64](v, "topology.ranks")
	bandwidth, _, ok2 := fetch[unit.Rate](v, "topology.bandwidth")
	latency, _, ok3 := fetch[unit.Time](v, "topology.latency")
	t.Ranks, t.Bandwidth, t.Latency = int(ranks), bandwidth, latency
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
		case v.has("topology.preset"):
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

// group is an entry of [[topology.rank]].
type group struct {
	at, pattern string
	start       unit.Time
	late        bool // start is given
	slowdown    float64
	slow        bool // slowdown is given
}

// groups reads [[topology.rank]].
func (v *view) groups() (list []group, ok bool) {
	ok = true
	for i := range v.d.count("topology.rank") {
		g := group{at: numbered("topology.rank", i)}
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

// match applies the groups to the ranks that they mean, later ones over earlier ones.
func (v *view) match(t *Topology, net *topology.Graph, groups []group) bool {
	for _, g := range groups {
		ranks, err := net.MatchRanks("gpu" + strings.TrimPrefix(g.pattern, "gpu"))
		if err != nil {
			last := strconv.Itoa(t.Ranks - 1)
			v.fail(g.at+".match", problem{"matches no rank; ranks are 0 to " + last, ""})
			return false
		}
		t.set(g, ranks)
	}
	return true
}

// set applies a group to ranks.
func (t *Topology) set(g group, ranks []int32) {
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

// blame reports an error of package topology at the key that is to blame.
func (v *view) blame(at string, err error) {
	p := problem{text: unprefixed(err)}
	var match *topology.MatchError
	var wire *topology.WireError
	switch {
	case errors.As(err, &match):
		p.text = "matches no link"
		if len(match.Nearest) > 0 {
			p.hint = "nearest: " + strings.Join(match.Nearest, ", ")
		} else {
			p.hint = `links are called as gpu0->switch; * stands for any characters`
		}
	case errors.As(err, &wire):
		p.text = wire.Text
	}
	v.fail(at, p)
}
