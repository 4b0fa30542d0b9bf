package golden

import (
	"collsim/collective"
	"collsim/schedule"
)

// sum is the order in which a library adds a rank's input to others: first of two sums, or a rank's
// input alone.
type sum struct {
	rank        int
	left, right *sum
}

func input(rank int) *sum { return &sum{rank: rank} }

func plus(left, right *sum) *sum { return &sum{left: left, right: right} }

// order is an order of additions that none of our algorithms has: everybody sends to rank 0, which
// adds. So it is recorded which order it is, and not how the library moves it.
func order(name string, of func(ranks int) *sum) summation {
	build := func(s collective.Spec) (*schedule.Schedule, error) {
		s.Kind, s.Count, s.Splits, s.Root = collective.Reduce, vector(&s), nil, 0
		return schedule.Build(schedule.Plan{Name: name, Spec: s, Scratch: s.Ranks,
			Lane: func(l *schedule.Lane) {
				if l.Rank > 0 {
					l.Send(0, l.In(0))
					return
				}
				for rank := 1; rank < l.Ranks; rank++ {
					l.Recv(rank, l.Scratch(rank))
				}
				total := of(l.Ranks)
				l.Combine([]schedule.Region{l.Out(0)}, nil, l.Local(add(l, total.left)),
					l.Local(add(l, total.right)))
			}})
	}
	return summation{name: "none of ours: " + name, build: build}
}

// add makes a sum where its first rank's input has come to, and says where that is.
func add(l *schedule.Lane, s *sum) schedule.Region {
	if s.left == nil {
		if s.rank == 0 {
			return l.In(0)
		}
		return l.Scratch(s.rank)
	}
	left, right := add(l, s.left), add(l, s.right)
	into := left
	if left.Buffer == schedule.Input {
		into = l.Scratch(0)
	}
	l.Combine([]schedule.Region{into}, nil, l.Local(left), l.Local(right))
	return into
}

// fromRank1 goes round from rank 1 to rank 0, which adds its own last.
func fromRank1(ranks int) *sum {
	total := input(1)
	for rank := 2; rank < ranks; rank++ {
		total = plus(total, input(rank))
	}
	return plus(total, input(0))
}

// largestFirst is a binomial tree in which the first child has the largest subtree, and all ranks
// of a subtree follow one another: MPICH's "knomial_1" with k = 2.
func largestFirst(ranks int) *sum { return subtree(0, ranks) }

func subtree(first, ranks int) *sum {
	total, size := input(first), 1
	for 2*size < ranks {
		size *= 2
	}
	for next, left := first+1, ranks-1; left > 0; size /= 2 {
		n := min(size, left)
		total = plus(total, subtree(next, n))
		next, left = next+n, left-n
	}
	return total
}

// foldedFar has the ranks from the largest power of two q on hand theirs to the rank q before; then
// partners at distance 1, 2, 4, … add.
func foldedFar(ranks int) *sum {
	q := power(ranks)
	all := make([]*sum, q)
	for rank := range all {
		all[rank] = input(rank)
		if rank+q < ranks {
			all[rank] = plus(all[rank], input(rank+q))
		}
	}
	return doubled(all)
}

// doubled has partners at distance 1, 2, 4, … add, of a power of two.
func doubled(all []*sum) *sum {
	for len(all) > 1 {
		for i := range len(all) / 2 {
			all[i] = plus(all[2*i], all[2*i+1])
		}
		all = all[:len(all)/2]
	}
	return all[0]
}
