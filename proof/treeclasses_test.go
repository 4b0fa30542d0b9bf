package proof

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestTreeClasses: for binomial trees of any root and size, the proof by tree classes equals the
// one that walks all ranks.
func TestTreeClasses(t *testing.T) {
	kinds := []collective.Kind{collective.AllReduce, collective.Broadcast, collective.Reduce,
		collective.Gather, collective.Scatter}
	proved := 0
	runs := tier.Of(100, 2000)
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 43))
		kind := kinds[rng.IntN(len(kinds))]
		a, err := algos.Find(kind, "binomial")
		require.NoError(t, err)
		spec := collective.Spec{Kind: kind, Ranks: 3 + rng.IntN(70), Count: int64(1 + rng.IntN(20)),
			Type: dtype.Float32, InPlace: rng.IntN(2) == 0}
		if kind.Reduces() {
			spec.Op = []collective.Op{collective.Sum, collective.Avg}[rng.IntN(2)]
		}
		if kind.Rooted() {
			spec.Root = rng.IntN(2) * rng.IntN(spec.Ranks)
		}
		s, err := a.Build(spec, algos.Options{Slices: 1 + rng.IntN(2), Channels: 1 + rng.IntN(2)})
		require.NoError(t, err)
		o := Options{Slots: rng.IntN(3), Iterations: 1}
		about := fmt.Sprintf("seed %d: %v", seed, s)
		byPlace := verifyTreeClasses(s, o)
		o.Unfolded = true
		all, found := Verify(s, o)
		require.Empty(t, found, about)
		if byPlace == nil {
			continue
		}
		proved++
		require.Less(t, byPlace.Walked, spec.Ranks)
		byPlace.Walked = all.Walked
		require.Equal(t, all, byPlace, about)
	}
	require.Greater(t, 10*proved, 9*runs)
}

// A harmed tree is an all_reduce, or a scatter, in which some role does something wrong.
const (
	unharmed      = iota
	leavesOwnOut  // who has two children hands up what they have sent, without its own
	addsTwice     // it adds its own twice
	passesOwnDown // it passes its own input down
	sendsEarly    // it hands up its own before its last child's has come
	twoHalves     // there are two trees
	wrongBlock    // it hands its last child the block before
	wrongOwn      // it keeps another block than its own
	treeHarms
)

// harmedTree is a binomial tree of 2^k ranks.
func harmedTree(rng *rand.Rand, wrong int) schedule.Plan {
	k := 4 + rng.IntN(3)
	p, root := 1<<k, 0
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: p, Count: int64(1 + rng.IntN(9)),
		Type: dtype.Float32, Op: collective.Sum, InPlace: rng.IntN(2) == 0}
	if wrong >= wrongBlock || wrong == unharmed && rng.IntN(2) == 0 {
		root = rng.IntN(p)
		spec.Kind, spec.Op, spec.Root, spec.InPlace = collective.Scatter, 0, root, false
	}
	at := func(rank int) (v, low int) {
		v, low = (rank-root+p)%p, p
		if wrong == twoHalves {
			v, low = v%(p/2), p/2
		}
		if v > 0 {
			low = v & -v
		}
		return v, low
	}
	return schedule.Plan{Name: "harmed", Spec: spec, Scratch: p / 2,
		Roles: func(rank int, peers []int32) (int64, []int32) {
			v, low := at(rank)
			if v > 0 {
				peers = append(peers, int32((rank-low+p)%p))
			}
			for d := 1; d < low; d *= 2 {
				peers = append(peers, int32((rank+d)%p))
			}
			wraps := 0
			if rank+low > p {
				wraps = p - rank
			}
			return int64(wraps<<16 | low<<1 | min(v, 1)), peers
		},
		Lane: func(l *schedule.Lane) {
			v, low := at(l.Rank)
			harm := wrong
			if low != 4 || v == 0 {
				harm = unharmed
			}
			if spec.Kind == collective.Scatter {
				scatterHarmed(l, v, low, harm)
				return
			}
			reduceHarmed(l, v, low, harm)
		}}
}

func reduceHarmed(l *schedule.Lane, v, low, harm int) {
	last := low / 2
	for d := 1; d < low; d *= 2 {
		switch {
		case d == last && harm == sendsEarly:
			l.Send(l.Rank-low, l.All())
			l.Accumulate(l.Rank+d, l.All())
		case d == 1 && harm == leavesOwnOut:
			l.Recv(l.Rank+d, l.All())
		default:
			l.Accumulate(l.Rank+d, l.All())
		}
	}
	if harm == addsTwice {
		l.Combine([]schedule.Region{l.Out(0)}, nil, l.Local(l.Out(0)), l.Local(l.Out(0)))
	}
	if v > 0 {
		if harm != sendsEarly {
			l.Send(l.Rank-low, l.All())
		}
		l.Recv(l.Rank-low, l.All())
	}
	for d := last; d > 0; d /= 2 {
		if harm == passesOwnDown {
			l.Send(l.Rank+d, l.Scratch(0))
			continue
		}
		l.Send(l.Rank+d, l.All())
	}
}

func scatterHarmed(l *schedule.Lane, v, low, harm int) {
	mine := l.In(l.Rank)
	if v > 0 {
		mine = l.Scratch(0)
		l.Recv(l.Rank-low, mine.Blocks(low))
	}
	for d := low / 2; d > 0; d /= 2 {
		part := mine.Blocks(d)
		if part.First += int32(d); harm == wrongBlock {
			part.First--
		}
		l.Send(l.Rank+d, part)
	}
	if harm == wrongOwn {
		mine.First++
	}
	l.Copy(l.Out(0), mine)
}

// TestTreeClassesRefuseHarm: of trees in which ranks of a role do something wrong nothing is
// proven.
func TestTreeClassesRefuseHarm(t *testing.T) {
	proved := map[int]int{}
	for seed := range uint64(tier.Of(80, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 47))
		wrong := max(0, rng.IntN(treeHarms+3)-3)
		s, err := schedule.Build(harmedTree(rng, wrong))
		require.NoError(t, err)
		o := Options{Iterations: 1}
		byPlace := verifyTreeClasses(s, o)
		folded, _ := Verify(s, o)
		o.Unfolded = true
		all, found := Verify(s, o)
		require.Equal(t, wrong == unharmed, len(found) == 0, "seed %d, harm %d: %v", seed, wrong, found)
		require.Equal(t, all == nil, folded == nil)
		if byPlace != nil {
			require.Empty(t, found, "seed %d, harm %d\n%s", seed, wrong, s)
			byPlace.Walked = all.Walked
			require.Equal(t, all, byPlace)
			proved[wrong]++
		}
	}
	require.Greater(t, proved[unharmed], 5)
}
