package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestAllReduceOverATree: rank 0 loads 1000 bytes of four ranks, added up, over leaves and a root
// of 1 GB/s and 100 ns, stores them everywhere, and signals rank 3. The way is up two links
// and down two.
//
//	load    400 for the request, 1000 and 400 for the data: 1800; stored, 400 + 4·1100 = 4800
//	store   the bytes have left 1000 later. The signal behind them is there 400 later; stored, it
//	        stands behind them at every switch: the last link has carried them at 4·1100 − 100, 100
//	        before the signal
func TestAllReduceOverATree(t *testing.T) {
	g, err := topology.Build(topology.Params{Preset: "tree", Ranks: 4, K: 2, Bandwidth: gbs,
		Latency: 100 * ns, Multimem: true})
	require.NoError(t, err)
	env := Env{Graph: g, Device: device.Ideal(), Slots: 8}
	s := written(t, 4, `
rank 0
  lane 0
    reduceSend multimem{0,1,2,3} in[0 x10] to multimem{0,1,2,3} at out[0 x10] @0
    signal to 3 @0
rank 3
  lane 0
    wait from 0 @0`)
	check(t, s, env, want{fluid: []float64{2800, 3200}, fifo: []float64{2800, 3200},
		stored: []float64{5800, 9200}})
	for _, m := range modes {
		env.Sharing, env.Switching = m.sharing, m.switching
		r, err := Run(s, env, Options{})
		require.NoError(t, err)
		require.Equal(t, unit.Bytes(1000*(8+8)), r.LinkBytes,
			"all 6 links up and 2 down to the rank, 2 up from it and all 6 down")
	}
}

// TestTreesByPaper: of a load and a store alone on a random tree, the lane ends when the rules of
// docs/time.md say, worked out here link by link, by a recursion over parents.
func TestTreesByPaper(t *testing.T) {
	for i := range tier.Of(300, 5000) {
		rng := rand.New(rand.NewPCG(uint64(i), 39))
		ranks := 2 + rng.IntN(7)
		g := simtest.Aggregation(t, rng, ranks)
		team := rng.Perm(ranks)[:1+rng.IntN(ranks)]
		names := strings.Trim(strings.ReplaceAll(fmt.Sprint(team), " ", ","), "[]")
		for _, m := range modes {
			p := newPaper(g, team, m)
			env := Env{Graph: g, Device: device.Ideal(), Slots: 8, Sharing: m.sharing,
				Switching: m.switching}
			s := written(t, ranks, "\nrank 0\n  lane 0\n    reduce multimem{"+names+
				"} in[0 x10] into out[0 x10] @0")
			r, err := Run(s, env, Options{Critical: true, Trace: true})
			require.NoError(t, err, i)
			require.NoError(t, r.Trace.Validate())
			require.Equal(t, p.load(1000), r.LaneEnd[0], "%d: %s", i, m.name)
			require.Equal(t, unit.Bytes(1000*len(p.links)), r.LinkBytes)
			require.Equal(t, r.LaneEnd[0], lengthOf(r.Critical), "%d: %s: the critical path", i, m.name)

			s = written(t, ranks, "\nrank 0\n  lane 0\n    reduceSend multimem{"+names+
				"} in[0 x10] to multimem{"+names+"} at out[0 x10] fused @0")
			r, err = Run(s, env, Options{Critical: true, Trace: true})
			require.NoError(t, err, i)
			require.NoError(t, r.Trace.Validate())
			require.Equal(t, p.fused(1000), r.LaneEnd[0], "%d: %s", i, m.name)
			require.Equal(t, unit.Bytes(1000*2*len(p.risen)), r.LinkBytes)
			require.Equal(t, r.LaneEnd[0], lengthOf(r.Critical), "%d: %s: the critical path", i, m.name)

			s = written(t, ranks, "\nrank 0\n  lane 0\n    put in[0 x10] to multimem{"+names+
				"} at out[0 x10] @0")
			r, err = Run(s, env, Options{Trace: true})
			require.NoError(t, err, i)
			require.NoError(t, r.Trace.Validate())
			slowest := unit.Unlimited
			p.eachDown(func(l *topology.Link) { slowest = min(slowest, l.Bandwidth) })
			require.Equal(t, unit.Bytes(1000).Over(slowest), r.LaneEnd[0], "%d: %s", i, m.name)
		}
	}
}

// lengthOf returns the length of a critical path.
func lengthOf(path []Piece) (sum unit.Time) {
	for _, piece := range path {
		sum += piece.To - piece.From
	}
	return sum
}

// paper works out a load of rank 0 on a tree of switches, whose links it knows by their names.
type paper struct {
	mode
	byName  map[string]*topology.Link
	parent  map[string]string // towards the root
	root    string
	team    []string
	feeders map[string][]string // by node, members and nodes from which data come up to it
	links   map[string]bool     // that data cross
	risen   []string            // of these, up to the root
	asked   map[string]unit.Time
}

func newPaper(g *topology.Graph, team []int, m mode) *paper {
	p := &paper{mode: m, byName: map[string]*topology.Link{}, feeders: map[string][]string{},
		links: map[string]bool{}, asked: map[string]unit.Time{}}
	near := map[string][]string{}
	for i := range g.Links() {
		l := &g.Links()[i]
		p.byName[l.Name] = l
		from, to, _ := strings.Cut(l.Name, "->")
		near[from] = append(near[from], to)
	}
	members := map[string]bool{"gpu0": true}
	least := len(g.Ranks)
	for _, r := range append(team, 0) {
		least = min(least, r)
	}
	for _, r := range team {
		p.team = append(p.team, fmt.Sprint("gpu", r))
		members[p.team[len(p.team)-1]] = true
	}
	best, equals := 1<<30, []string{}
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		if !n.Multicast {
			continue
		}
		parent, height := map[string]string{}, 0
		var visit func(at, from string, depth int)
		visit = func(at, from string, depth int) {
			if parent[at] = from; members[at] {
				height = max(height, depth)
			}
			for _, next := range near[at] {
				if next != from {
					visit(next, at, depth+1)
				}
			}
		}
		visit(n.Name, "", 0)
		if height < best {
			best, equals = height, nil
		}
		if height == best {
			equals = append(equals, n.Name)
		}
	}
	p.root = equals[least%len(equals)]
	if direct := p.hub(near, g); direct != "" {
		p.root = direct
	}
	p.parent = map[string]string{}
	var visit func(at, from string)
	visit = func(at, from string) {
		p.parent[at] = from
		for _, next := range near[at] {
			if next != from {
				visit(next, at)
			}
		}
	}
	visit(p.root, "")
	for _, member := range p.team {
		for at := member; at != p.root; at = p.parent[at] {
			up := p.parent[at]
			if name := at + "->" + up; !p.links[name] {
				p.links[name] = true
				p.risen = append(p.risen, name)
				p.feeders[up] = append(p.feeders[up], at)
			}
		}
	}
	for at := "gpu0"; at != p.root; at = p.parent[at] {
		p.links[p.parent[at]+"->"+at] = true
	}
	return p
}

// hub returns the switch that all hang on, "" if there is none.
func (p *paper) hub(near map[string][]string, g *topology.Graph) string {
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		count := 0
		for _, member := range append([]string{"gpu0"}, p.team...) {
			for _, next := range near[n.Name] {
				if next == member && n.Multicast {
					count++
				}
			}
		}
		if count == len(p.team)+1 {
			return n.Name
		}
	}
	return ""
}

// eachDown visits the links of a store: from rank 0 up to the root, and down to the members.
func (p *paper) eachDown(see func(*topology.Link)) {
	for at := "gpu0"; at != p.root; at = p.parent[at] {
		see(p.byName[at+"->"+p.parent[at]])
	}
	for _, member := range p.team {
		for at := member; at != p.root; at = p.parent[at] {
			see(p.byName[p.parent[at]+"->"+at])
		}
	}
}

// rise returns the latency of the links from a node to the root, or down from there to it.
func (p *paper) rise(from string, down bool) (t unit.Time) {
	for at := from; at != p.root; at = p.parent[at] {
		name := at + "->" + p.parent[at]
		if down {
			name = p.parent[at] + "->" + at
		}
		t += p.byName[name].Latency
	}
	return t
}

// ask returns when the last member has been asked for its data.
func (p *paper) ask() (last unit.Time) {
	for _, member := range p.team {
		p.asked[member] = p.rise("gpu0", false) + p.rise(member, true)
		last = max(last, p.asked[member])
	}
	return last
}

// flow returns how long n bytes of all members, added up, take to some ranks, under fluid sharing.
func (p *paper) flow(n unit.Bytes, to []string) unit.Time {
	slowest, up, down := unit.Unlimited, unit.Time(0), unit.Time(0)
	for _, name := range p.risen {
		slowest = min(slowest, p.byName[name].Bandwidth)
	}
	for _, member := range p.team {
		up = max(up, p.rise(member, false))
	}
	for _, rank := range to {
		down = max(down, p.rise(rank, true))
		for at := rank; at != p.root; at = p.parent[at] {
			slowest = min(slowest, p.byName[p.parent[at]+"->"+at].Bandwidth)
		}
	}
	return n.Over(slowest) + up + down
}

// fall returns when n bytes that have come to the root have come down to a rank.
func (p *paper) fall(n unit.Bytes, rank string) unit.Time {
	var way []string
	for at := rank; at != p.root; at = p.parent[at] {
		way = append([]string{p.parent[at] + "->" + at}, way...)
	}
	head, tail := p.at(p.root, n)
	for _, name := range way {
		head, tail = p.cross(name, n, head, tail)
	}
	return tail
}

// load returns when n bytes of each member have come to rank 0, added up.
func (p *paper) load(n unit.Bytes) unit.Time {
	last := p.ask()
	if p.sharing == Fluid {
		return last + p.flow(n, []string{"gpu0"})
	}
	return p.fall(n, "gpu0")
}

// fused returns when n bytes of each member have come to each of them, added up.
func (p *paper) fused(n unit.Bytes) (end unit.Time) {
	last := p.ask()
	if p.sharing == Fluid {
		return last + p.flow(n, p.team)
	}
	for _, member := range p.team {
		end = max(end, p.fall(n, member))
	}
	return end
}

// at returns when the first byte and the last of what comes up to a node are there.
func (p *paper) at(node string, n unit.Bytes) (head, tail unit.Time) {
	for _, from := range p.feeders[node] {
		h, t := p.asked[from], unit.Time(0)
		if !strings.HasPrefix(from, "gpu") {
			h, t = p.at(from, n)
		}
		h, t = p.cross(from+"->"+node, n, h, t)
		head, tail = max(head, h), max(tail, t)
	}
	return head, tail
}

// cross returns when the first byte and the last are at the end of a link.
func (p *paper) cross(name string, n unit.Bytes, head, tail unit.Time) (h, t unit.Time) {
	l := p.byName[name]
	t = max(head+n.Over(l.Bandwidth), tail) + l.Latency
	if p.switching == StoreForward {
		return t, t
	}
	return head + l.Latency, t
}
