package bounds

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"collsim/collective"
	"collsim/dtype"
	"collsim/topology"
	"collsim/unit"
)

// TestLaws are what holds of the bounds of one network and of a network like it.
func TestLaws(t *testing.T) {
	kinds := collective.Kinds()
	any := func(c randomCase) collective.Kind { return kinds[c.rng.Intn(len(kinds))] }
	// The kinds of which all cuts are tried; for the others a change may bring a better cut into view.
	exact := []collective.Kind{collective.AllGather, collective.AllGatherV, collective.ReduceScatter,
		collective.ReduceScatterV, collective.Broadcast, collective.Reduce, collective.Gather,
		collective.Scatter, collective.Barrier}
	again := func(spec collective.Spec, g *topology.Graph) Bounds {
		b, err := For(spec, g, Options{})
		if err != nil {
			panic(err)
		}
		return b
	}
	laws(t, 500, map[string]func(c randomCase) bool{
		"lower is at least each part": func(c randomCase) bool {
			b, _, _ := c.bounds(any(c))
			return b.Lower >= max(b.Latency, b.Bandwidth, b.Reduction)
		},
		"a faster link raises no bandwidth bound": func(c randomCase) bool {
			b, spec, g := c.bounds(exact[c.rng.Intn(len(exact))])
			l := &g.Links()[c.rng.Intn(len(g.Links()))]
			if l.Bandwidth != unit.Unlimited {
				l.Bandwidth *= unit.Rate(1 + c.rng.Intn(3))
			}
			return again(spec, g).Bandwidth <= b.Bandwidth
		},
		"a shorter link raises no latency bound": func(c randomCase) bool {
			b, spec, g := c.bounds(any(c))
			g.Links()[c.rng.Intn(len(g.Links()))].Latency /= 2
			return again(spec, g).Latency <= b.Latency
		},
		"more bytes lower nothing": func(c randomCase) bool {
			b, spec, g := c.bounds(any(c))
			if !spec.Kind.Splits() && spec.Kind != collective.Barrier {
				spec.Count += int64(c.rng.Intn(50))
			}
			more := again(spec, g)
			return more.Bandwidth >= b.Bandwidth && more.Latency == b.Latency && more.Lower >= b.Lower
		},
		"k times the latencies and the bytes are k times the bounds, rounded": func(c randomCase) bool {
			b, spec, g := c.bounds(any(c))
			k := 1 + c.rng.Intn(5)
			spec.Count *= int64(k)
			for _, row := range spec.Splits {
				for i := range row {
					row[i] *= int64(k)
				}
			}
			for l := range g.Links() {
				g.Links()[l].Latency *= unit.Time(k)
			}
			near := func(a, b unit.Time) bool { return a <= b && b <= a+unit.Time(k) }
			much := again(spec, g)
			return much.Latency == unit.Time(k)*b.Latency &&
				near(much.Bandwidth, unit.Time(k)*b.Bandwidth) && near(much.Lower, unit.Time(k)*b.Lower)
		},
		"the transposed kind on the network turned round": func(c randomCase) bool {
			pair := [][2]collective.Kind{{collective.AllGather, collective.ReduceScatter},
				{collective.AllGatherV, collective.ReduceScatterV},
				{collective.Broadcast, collective.Reduce},
				{collective.Gather, collective.Scatter}}[c.rng.Intn(4)]
			b, spec, _ := c.bounds(pair[0])
			spec.Kind, spec.Op = pair[1], 0
			if spec.Kind.Reduces() {
				spec.Op = collective.Sum
			}
			turned := again(spec, c.backward())
			return turned.Bandwidth == b.Bandwidth && turned.Latency == b.Latency
		},
		"forwarding ranks are switches": func(c randomCase) bool {
			kind := any(c)
			g := c.graph()
			spec := c.spec(kind)
			b := again(spec, g)
			g.Ranks = append(g.Ranks, int32(len(g.Nodes())-1)) // a rank more than the collective has
			return again(spec, g) == b
		},
		"the same again": func(c randomCase) bool {
			b, spec, g := c.bounds(any(c))
			return again(spec, g) == b
		},
	})
}

// laws runs properties on small random networks: each is given a seed for randomCase.
func laws(t *testing.T, cases int, properties map[string]func(c randomCase) bool) {
	t.Helper()
	parameters := gopter.DefaultTestParametersWithSeed(11)
	parameters.MinSuccessfulTests = cases
	p := gopter.NewProperties(parameters)
	for _, name := range slices.Sorted(maps.Keys(properties)) { // the order decides the seeds
		holds := properties[name]
		p.Property(name, prop.ForAll(func(seed int64) bool { return holds(newCase(seed)) },
			gen.Int64Range(0, 1<<40)))
	}
	p.TestingRun(t)
}

// randomCase is a strongly connected network of 2 to 9 nodes, of which at least two are ranks, with
// rates that have common divisors or none, a few of them unlimited.
type randomCase struct {
	rng   *rand.Rand
	wires []topology.Wire
	ranks int
}

func newCase(seed int64) randomCase {
	rng := rand.New(rand.NewSource(seed))
	nodes := 2 + rng.Intn(8)
	c := randomCase{rng: rng, ranks: 2 + rng.Intn(nodes-1)}
	step := []unit.Rate{1, 1000, gigabyte, 12_345_678_901}[rng.Intn(4)]
	odd := rng.Intn(5) == 0
	name := func(v int) string {
		if v < c.ranks {
			return gpu(v)
		}
		return fmt.Sprintf("switch%d", v)
	}
	seen := map[[2]int]bool{}
	add := func(from, to int) {
		if from == to || seen[[2]int{from, to}] {
			return
		}
		seen[[2]int{from, to}] = true
		w := topology.Wire{From: name(from), To: name(to),
			Bandwidth: step * unit.Rate(1+rng.Intn(9)), Latency: unit.Time(rng.Intn(4)) * 100}
		if odd {
			w.Bandwidth = 1 + unit.Rate(rng.Int63n(1<<40))
		}
		if rng.Intn(25) == 0 {
			w.Bandwidth = unit.Unlimited
		}
		c.wires = append(c.wires, w)
	}
	order := rng.Perm(nodes)
	for i, v := range order {
		add(v, order[(i+1)%nodes])
	}
	for range rng.Intn(2 * nodes) {
		add(rng.Intn(nodes), rng.Intn(nodes))
	}
	return c
}

func (c randomCase) graph() *topology.Graph {
	g, err := topology.Links(c.ranks, c.wires)
	if err != nil {
		panic(err)
	}
	return g
}

// backward is the network with every link turned round.
func (c randomCase) backward() *topology.Graph {
	turned := c
	turned.wires = nil
	for _, w := range c.wires {
		w.From, w.To = w.To, w.From
		turned.wires = append(turned.wires, w)
	}
	return turned.graph()
}

// spec is a collective of some random size on the network's ranks.
func (c randomCase) spec(kind collective.Kind) collective.Spec {
	s := specOf(kind, c.ranks, int64(1+c.rng.Intn(100)))
	s.Type = dtype.Int8
	if kind.Rooted() {
		s.Root = c.rng.Intn(c.ranks)
	}
	for _, row := range s.Splits {
		for i := range row {
			row[i] = int64(c.rng.Intn(5)) * int64(c.rng.Intn(50))
		}
	}
	return s
}

func (c randomCase) bounds(kind collective.Kind) (Bounds, collective.Spec, *topology.Graph) {
	spec, g := c.spec(kind), c.graph()
	b, err := For(spec, g, Options{})
	if err != nil {
		panic(err)
	}
	return b, spec, g
}
