package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// anyTree is a binomial tree over which messages go phase by phase, each over all edges to children
// of one height. What nodes do follows from their height, and is often right.
type anyTree struct {
	ranks, root, heights int
	phases               []treePhase
	does                 [2][][]treeOp // by lane and height; the root has one of its own
}

// treePhase is messages to children of a height, or up from them.
type treePhase struct {
	height int
	isUp   bool
	style  int // a message, a put, or a message after a signal
}

// treeOp is what a node does in a phase.
type treeOp struct{ kind, phase int }

// Kinds of what nodes do: three of each sort, of which the first is the right one.
const (
	sendsUp    = iota * 3 // the working copy; its input; its scratch
	sendsDown             //
	addsUp                // what a child sends; keeps it; keeps it in scratch
	takesDown             // what the parent sends; adds it; keeps it in scratch
	worksAlone            // copies its input; adds its scratch; copies that
)

// newAnyTree is a random one, and what it is to compute.
func newAnyTree(rng *rand.Rand) (*anyTree, collective.Spec) {
	kinds := []collective.Kind{collective.AllReduce, collective.AllReduce, collective.Broadcast,
		collective.Reduce}
	kind, x := kinds[rng.IntN(len(kinds))], &anyTree{ranks: 3 + rng.IntN(30)}
	x.root = rng.IntN(2) * rng.IntN(x.ranks)
	spec := collective.Spec{Kind: kind, Ranks: x.ranks, Count: 1, Type: dtype.Float32,
		InPlace: rng.IntN(2) == 0}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	if kind.Rooted() {
		spec.Root = x.root
	}
	for 1<<x.heights < x.ranks {
		x.heights++
	}
	for h := 0; h < x.heights && kind != collective.Broadcast; h++ {
		x.phases = append(x.phases, treePhase{height: h, isUp: true})
	}
	for h := x.heights - 1; h >= 0 && kind != collective.Reduce; h-- {
		x.phases = append(x.phases, treePhase{height: h})
	}
	n := len(x.phases)
	switch rng.IntN(6) {
	case 0:
		x.phases = append(x.phases, x.phases[rng.IntN(n)])
	case 1:
		i, j := rng.IntN(n), rng.IntN(n)
		x.phases[i], x.phases[j] = x.phases[j], x.phases[i]
	case 2:
		x.phases[rng.IntN(n)].style = 1 + rng.IntN(2)
	}
	x.execute()
	for range rng.IntN(4) {
		x.harm(rng)
	}
	return x, spec
}

// execute has every height do what is right in each phase.
func (x *anyTree) execute() {
	for lane := range x.does {
		x.does[lane] = make([][]treeOp, x.heights+1)
	}
	for h := range x.does[0] {
		for i, p := range x.phases {
			kind := map[bool][2]int{true: {sendsDown, addsUp}, false: {takesDown, sendsUp}}[h > p.height]
			if h < p.height {
				continue
			}
			op := treeOp{kind[0], i}
			if p.isUp {
				op.kind = kind[1]
			}
			x.does[0][h] = append(x.does[0][h], op)
		}
	}
}

// harm has a height do something else.
func (x *anyTree) harm(rng *rand.Rand) {
	h := rng.IntN(x.heights + 1)
	list := x.does[0][h]
	if len(list) == 0 {
		return
	}
	i, j, alone := rng.IntN(len(list)), rng.IntN(len(list)), treeOp{kind: worksAlone + rng.IntN(3)}
	switch rng.IntN(8) {
	case 0, 1, 2:
		list[i].kind = list[i].kind/3*3 + rng.IntN(3)
	case 3:
		list[i], list[j] = list[j], list[i]
	case 4:
		x.does[0][h] = slices.Insert(list, i, alone)
	case 5:
		x.does[1][h] = append(x.does[1][h], alone)
	case 6:
		x.does[0][h] = slices.Delete(list, i, i+1)
	case 7:
		x.does[0][h] = slices.Insert(list, i, list[j])
	}
}

// at is a rank's place in the tree: 0 is the root.
func (x *anyTree) at(rank int) (v, height int) {
	if v = (rank - x.root + x.ranks) % x.ranks; v == 0 {
		return 0, x.heights
	}
	for v>>height&1 == 0 {
		height++
	}
	return v, height
}

func (x *anyTree) roles(rank int, peers []int32) (role int64, all []int32) {
	v, height := x.at(rank)
	if v > 0 {
		peers = append(peers, int32((rank-1<<height+x.ranks)%x.ranks))
	}
	children := 0
	for ; children < height && v+1<<children < x.ranks; children++ {
		peers = append(peers, int32((rank+1<<children)%x.ranks))
	}
	return int64(children<<16 | height<<1 | min(v, 1)), peers
}

// lane has a lane do what it does.
func (x *anyTree) lane(l *schedule.Lane) {
	v, height := x.at(l.Rank)
	for _, op := range x.does[l.Index][height] {
		kind, which := op.kind/3*3, op.kind%3
		p := x.phases[op.phase]
		peer, isThere := (l.Rank-1<<height+x.ranks)%x.ranks, v > 0
		if kind == sendsDown || kind == addsUp {
			peer = (l.Rank + 1<<p.height) % x.ranks
			isThere = p.height < height && v+1<<p.height < x.ranks
		}
		isSend := kind == sendsUp || kind == sendsDown
		switch region := []schedule.Region{l.All(), l.In(0), l.Scratch(0)}[which]; {
		case kind == worksAlone:
			from := []schedule.Source{l.Local(l.In(0)), l.Local(l.Out(0)), l.Local(l.Scratch(0))}
			if which == 1 {
				l.Combine([]schedule.Region{l.Out(0)}, nil, from[1], from[2])
			} else {
				l.Combine([]schedule.Region{l.Out(0)}, nil, from[which])
			}
		case !isThere:
		case isSend && p.style == 1:
			l.Put(peer, l.Scratch(0), region)
		case isSend:
			if p.style == 2 {
				l.Signal(peer)
			}
			l.Send(peer, region)
		case p.style == 1:
			l.WaitPut(peer)
		default:
			if p.style == 2 {
				l.Wait(peer)
			}
			take := map[int]func(int, schedule.Region){addsUp: l.Accumulate, addsUp + 1: l.Recv,
				takesDown: l.Recv, takesDown + 1: l.Accumulate}[op.kind]
			if which == 2 {
				l.Recv(peer, region)
			} else {
				take(peer, l.All())
			}
		}
	}
}

// TestAnyTree: of trees of all sorts, right and wrong, however they are to be verified, what one
// rank of each class says is what all say.
func TestAnyTree(t *testing.T) {
	seen := map[string]int{}
	runs := tier.Raced(200, 250, 6_000)
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 53))
		x, spec := newAnyTree(rng)
		s, err := schedule.Build(schedule.Plan{Name: "any", Spec: spec, Scratch: 1, Lanes: 2,
			Roles: x.roles, Lane: x.lane})
		if err != nil {
			continue
		}
		o := Options{Slots: rng.IntN(3)}
		switch rng.IntN(8) {
		case 0:
			o.Rendezvous = true
		case 1:
			o.Iterations = 2
		case 4, 5:
			o.Iterations = 1
		case 2:
			o.Scratches = 2
		case 3:
			o.Traffic = true
		}
		about := fmt.Sprintf("seed %d, %+v: %s", seed, o, s)
		got, again := Verify(s, o)
		o.Unfolded = true
		all, found := Verify(s, o)
		require.Equal(t, found, again, about)
		if all == nil {
			seen[found[0].Kind.String()]++
			continue
		}
		seen["right"]++
		if got.Walked < all.Walked {
			seen["proven by some"]++
			got.Walked = all.Walked
		}
		require.Equal(t, all, got, about)
	}
	t.Log(seen)
	for _, what := range []string{"right", "proven by some", "missing", "doubled", "deadlock",
		"race"} {
		require.Greater(t, seen[what], runs/200, what)
	}
}
