package proof

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	second "collsim/internal/judge"
	"collsim/internal/tier"
	"collsim/schedule"
)

// harm is what is wrong with a random tree.
type harm int

const (
	none      harm = iota
	noOwn          // who has two children leaves its own input out
	twice          // who has a child and a parent adds its own input twice
	noEvent        // the root's down lane does not wait for its up lane
	partDown       // who has two children sends its own input down
	twoTrees       // there are two trees of the same shape
	keepsPart      // who has a parent keeps what it sends up, which is overwritten later
	harms
)

// randomTree is an all_reduce over a random binary tree, or over two, as a plan with roles.
func randomTree(rng *rand.Rand, wrong harm) schedule.Plan {
	half := 2 + rng.IntN(30)
	ranks, trees := half, 1
	if wrong == twoTrees {
		ranks, trees = 2*half, 2
	}
	parent, children := make([]int, ranks), make([][]int, ranks)
	for i := 1; i < half; i++ {
		for parent[i] = (i - 1) / 2; ; parent[i] = rng.IntN(i) {
			if rng.IntN(3) > 0 && len(children[parent[i]]) < 2 {
				break
			}
		}
		children[parent[i]] = append(children[parent[i]], i)
	}
	for tree := range trees {
		from := tree * half
		parent[from] = -1
		for i := 1; i < half; i++ {
			parent[from+i] = from + parent[i]
		}
		for i := range half {
			children[from+i] = nil
			for j := 1; j < half; j++ {
				if parent[from+j] == from+i {
					children[from+i] = append(children[from+i], from+j)
				}
			}
		}
	}
	number := rng.Perm(ranks) // of each place in the trees
	parent, children = renumbered(number, parent, children)
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: ranks, Count: int64(1 + rng.IntN(20)),
		Type: dtype.Float32, Op: []collective.Op{collective.Sum, collective.Avg}[rng.IntN(2)],
		InPlace: rng.IntN(2) == 0}
	return schedule.Plan{Name: "tree", Spec: spec, Lanes: 2, Segment: int64(rng.IntN(2) * 7),
		Slices: 1 + rng.IntN(2),
		Roles: func(rank int, peers []int32) (int64, []int32) {
			role := int64(len(children[rank]) * 2)
			if parent[rank] >= 0 {
				role++
				peers = append(peers, int32(parent[rank]))
			}
			for _, child := range children[rank] {
				peers = append(peers, int32(child))
			}
			return role, peers
		},
		Lane: func(l *schedule.Lane) {
			for t := range l.Tiles() {
				l.Tile(t)
				treeLane(l, parent[l.Rank], children[l.Rank], t, wrong)
			}
		}}
}

// renumbered is a tree with other numbers.
func renumbered(number, parent []int, children [][]int) ([]int, [][]int) {
	up, down := make([]int, len(parent)), make([][]int, len(parent))
	for i, n := range number {
		if up[n] = -1; parent[i] >= 0 {
			up[n] = number[parent[i]]
		}
		for _, child := range children[i] {
			down[n] = append(down[n], number[child])
		}
	}
	return up, down
}

// treeLane is a segment of the lane that goes up, or down.
func treeLane(l *schedule.Lane, parent int, children []int, t int, wrong harm) {
	in, out, own := l.In(0), l.Out(0), []schedule.Source{l.Local(l.In(0))}
	if l.Index == 1 {
		switch {
		case parent >= 0 && wrong == partDown && len(children) == 2:
			l.Recv(parent, out)
			l.Combine(nil, children, l.Local(in))
		case parent >= 0:
			l.Combine([]schedule.Region{out}, children, l.From(parent))
		case len(children) > 0:
			if wrong != noEvent {
				l.After(0, t+1)
			}
			l.Combine(nil, children, l.Local(out))
		}
		return
	}
	if wrong == noOwn && len(children) == 2 {
		own = nil
	}
	for _, child := range children {
		own = append(own, l.From(child))
	}
	if parent < 0 {
		l.Completes()
		l.Combine([]schedule.Region{out}, nil, own...)
		l.Post()
		return
	}
	if wrong == twice && len(children) > 0 {
		own = append(own, l.Local(in))
	}
	var keep []schedule.Region
	if wrong == keepsPart {
		keep = append(keep, out)
	}
	l.Combine(keep, []int{parent}, own...)
}

// TestClassesAgree: whatever is proven of random trees by their classes is what all ranks are found
// to do, and of trees that are wrong nothing is proven; a judge says the same. Trees that are right
// are proven, but for those that are in rank order, or have no two parts alike.
func TestClassesAgree(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(tier.Of(75, 5_000)) {
		rng := rand.New(rand.NewPCG(seed, 23))
		wrong := harm(max(0, rng.IntN(int(harms)+4)-4))
		s, err := schedule.Build(randomTree(rng, wrong))
		require.NoError(t, err)
		o := Options{Slots: rng.IntN(3)}
		about := fmt.Sprintf("seed %d, harm %d\n%s", seed, wrong, s)
		o.Iterations = 1
		byClass := verifyRoleCounts(s, o)
		o.Unfolded = true
		all, found := Verify(s, o)
		if byClass != nil {
			require.Empty(t, found, about)
			require.Less(t, byClass.Walked, s.Spec.Ranks)
			byClass.Walked = all.Walked
			require.Equal(t, all, byClass, about)
			seen[fmt.Sprint("proved ", wrong)]++
		} else if all != nil && wrong == none && !all.KeepsRankOrder && o.Slots == 0 {
			seen["not proved"]++
		}
		if rng.IntN(4) > 0 {
			continue
		}
		plan, err := second.Read(s.String())
		require.NoError(t, err, about)
		v := second.Judge(plan, second.Options{Calls: 1, Seed: seed})
		if byClass != nil {
			require.Equal(t, second.Right, v.Finding, "%s\n%v", about, v.Why)
			seen["judged"]++
		}
	}
	t.Log(seen)
	require.Greater(t, seen["proved 0"], seen["not proved"])
	require.Greater(t, seen["judged"], 5)
	require.Zero(t, seen[fmt.Sprint("proved ", twoTrees)])
}
