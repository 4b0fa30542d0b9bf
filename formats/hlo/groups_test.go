package hlo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// coordinates are those of an array, the last axis the fastest.
func coordinates(dims []int64) [][]int64 {
	list := [][]int64{nil}
	for _, n := range dims {
		var longer [][]int64
		for _, c := range list {
			for i := range n {
				longer = append(longer, append(slices.Clone(c), i))
			}
		}
		list = longer
	}
	return list
}

// expand reads [groups,size]<=[dims]T(order) otherwise: the numbers of an array, sorted by their
// coordinates in the order of the transposed axes.
func expand(groups int64, dims []int64, order []int) [][]int64 {
	all := coordinates(dims)
	numbers := make([]int64, len(all))
	for i := range numbers {
		numbers[i] = int64(i)
	}
	slices.SortFunc(numbers, func(a, b int64) int {
		for _, axis := range order {
			if d := all[a][axis] - all[b][axis]; d != 0 {
				return int(d)
			}
		}
		return 0
	})
	var list [][]int64
	for rows := range slices.Chunk(numbers, len(numbers)/int(groups)) {
		list = append(list, rows)
	}
	return list
}

// TestGroups: both notations are the same groups as in a second reading, which enumerates.
func TestGroups(t *testing.T) {
	n := uint64(2000)
	if tier.Long {
		n = 100000
	}
	join := func(numbers any) string {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		var dims []int64
		total := int64(1)
		for range 1 + r.IntN(4) {
			dims = append(dims, 1+r.Int64N(5))
			total *= dims[len(dims)-1]
		}
		var divisors []int64
		for d := range total {
			if total%(d+1) == 0 {
				divisors = append(divisors, d+1)
			}
		}
		count := divisors[r.IntN(len(divisors))]
		order := r.Perm(len(dims))
		text := fmt.Sprintf("[%d,%d]<=[%s]T(%s)", count, total/count, join(dims), join(order))
		if slices.IsSorted(order) && r.IntN(2) == 0 {
			text, _, _ = strings.Cut(text, "T")
		}
		want := expand(count, dims, order)
		got, err := groups(text, total)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		var rows []string
		for _, row := range want {
			rows = append(rows, "{"+join(row)+"}")
		}
		got, err = groups("{"+strings.Join(rows, ",")+"}", total)
		require.NoError(t, err)
		require.Equal(t, want, got)
		_, err = groups(text, total-1)
		require.Error(t, err, "one number too many")
		_, err = groups(strings.Replace(text, strconv.FormatInt(count, 10),
			strconv.FormatInt(count+1, 10), 1), total)
		require.Error(t, err, "another number of groups")
	}
}

// TestTeams: the ranks of groups are, for each mode, those that the words of XLA's documents give
// when every rank is asked which group it is in.
func TestTeams(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		m := &module{replicas: 1 + r.IntN(4), partitions: 1 + r.IntN(4)}
		for _, by := range []mode{ofReplicas, ofPartitions, ofBoth, ofRanks} {
			n := int(m.numbers(by))
			var list [][]int64
			for _, x := range r.Perm(n) {
				if len(list) == 0 || r.IntN(2) == 0 {
					list = append(list, nil)
				}
				list[len(list)-1] = append(list[len(list)-1], int64(x))
			}
			group := func(number int) int {
				return slices.IndexFunc(list, func(g []int64) bool {
					return slices.Contains(g, int64(number))
				})
			}
			together := func(a, b int) bool {
				replicaA, partA := a/m.partitions, a%m.partitions
				replicaB, partB := b/m.partitions, b%m.partitions
				switch by {
				case ofReplicas:
					return partA == partB && group(replicaA) == group(replicaB)
				case ofPartitions:
					return replicaA == replicaB && group(partA) == group(partB)
				case ofBoth:
					return group(replicaA) == group(replicaB)
				}
				return group(a) == group(b)
			}
			of := map[int]int{}
			for k, team := range m.teams(list, by) {
				for _, rank := range team {
					require.NotContains(t, of, rank)
					of[rank] = k
				}
			}
			require.Len(t, of, m.ranks())
			for a := range m.ranks() {
				for b := range m.ranks() {
					require.Equal(t, together(a, b), of[a] == of[b], "%v %v", by, list)
				}
			}
		}
	}
}
