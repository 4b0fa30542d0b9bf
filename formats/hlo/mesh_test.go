package hlo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// meshes are groups along axes of a mesh; under each what they are, or the error.
const meshes = `
mesh['x'=2,'y'=2] {'x'}
  {{0,2},{1,3}}
mesh['x'=2,'y'=2] {'y'}
  {{0,1},{2,3}}
mesh['x'=2,'y'=2] {'0'}
  {{0,2},{1,3}}
mesh['x'=2,'y'=2] {'x','y'}
  {{0,1,2,3}}
mesh['x'=2,'y'=2] {'y', 'x'}
  {{0,2,1,3}}
mesh['x'=2,'y'=2] {}
  {{0},{1},{2},{3}}
mesh['x'=2,'y'=2], device_ids=(3,1,0,2) {'x'}
  {{3,0},{1,2}}
mesh['x'=2,'y'=2], device_ids=(3,1,0,2) {'y'}
  {{3,1},{0,2}}
mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}
  {{0,1},{2,3}}
mesh['<a> b'=2,'z/w'=4] {'z/w':(2)2,'<a> b'}
  {{0,4,1,5},{2,6,3,7}}
maximal_mesh[device_id=1] {}
  {{1}}
mesh['a'=8] {'a':(1)2}
  [4,2]<=[2,4]T(1,0)
mesh['a'=8] {'a':(1)4}
  [2,4]<=[4,2]T(1,0)
mesh['a'=8] {'a':(2)2}
  [4,2]<=[2,2,2]T(0,2,1)
mesh['a'=8] {'a':(2)4}
  [2,4]<=[8]
mesh['a'=8] {'a':(4)2}
  [4,2]<=[8]
mesh['a'=8] {'a':(1)2,'a':(4)2}
  [2,4]<=[2,2,2]T(1,0,2)
mesh['a'=8] {'a':(4)2,'a':(1)2}
  [2,4]<=[2,2,2]T(1,2,0)
mesh['a'=8] {'a'}
  [1,8]<=[8]
mesh['a'=6,'b'=6] {'b':(1)3}
  [12,3]<=[6,3,2]T(0,2,1)
mesh['a'=6,'b'=6] {'a':(1)2,'b':(1)2}
  [9,4]<=[2,3,2,3]T(1,3,0,2)
mesh['a'=6,'b'=6] {'b':(1)3,'a':(1)3}
  [4,9]<=[3,2,3,2]T(1,3,2,0)
mesh['a'=2,'b'=2] {'c'}
  axis 'c': one of 'a', 'b' is expected
mesh['a'=2,'b'=2] {'5'}
  axis '5': one of 'a', 'b' is expected
mesh['a'=2,'b'=2], device_ids=(0,1,2) {'a'}
  device_ids=(0,1,2: 4 numbers
mesh['a'=2,'b'=2], device_ids=(0,1,2,2) {'a'}
  2: each of 0 to 99 once
mesh['a'=4] {'a':(1)3}
  whose numbers divide 4, is expected
mesh['a'=30] {'a':(6)5,'a':(10)3}
  parts that do not overlap
mesh['a'=2,'a'=2] {'a'}
  a second axis 'a'
mesh['a'=99,'b'=99] {'a'}
  up to 100 ranks are expected
mesh['a'=2
  axes as {'a'} are expected
mesh['a'=2 {'a'}
  as mesh['a'=2,'b'=4] {'b'} is expected
mesh[a] {'a'}
  axis a: as 'a'=2 is expected
maximal_mesh[device_id=x] {}
  a number behind device_id= is expected
mesh['a'=2,'b'=2], device_ids=([2,2]T(0,0)) {'a'}
  or as [4,2]T(1,0), are expected
mesh['a'=9223372036854775807,'b'=9223372036854775807] {'a'}
  up to 100 ranks
`

// TestMesh: groups along axes of a mesh are those that XLA's own tests expect
// (xla/hlo/ir/replica_group_test.cc), and as [groups,size]<=… where they say that it is the same.
func TestMesh(t *testing.T) {
	for row := range strings.SplitSeq(strings.TrimSpace(meshes), "\nm") {
		text, want, _ := strings.Cut("m"+strings.TrimPrefix(row, "m"), "\n  ")
		got, err := groups(text, 100)
		if !strings.HasPrefix(want, "{") && !strings.HasPrefix(want, "[") {
			require.ErrorContains(t, err, want, text)
			require.ErrorContains(t, err, "replica_groups=", text)
			continue
		}
		require.NoError(t, err, text)
		same, err := groups(want, 100)
		require.NoError(t, err)
		require.Equal(t, same, got, text)
	}
}

// TestMeshAtRandom: two ranks are in one group if their places in the mesh agree in all but the
// digits that are named, and a group is in the order of these digits, the last the fastest.
func TestMeshAtRandom(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		var head, named []string
		var lengths, weights, digits []int64 // of the digits of all axes
		total := int64(1)
		for axis := range 1 + r.IntN(3) {
			parts := []int64{2 + r.Int64N(2), 2 + r.Int64N(2), 2 + r.Int64N(2)}
			head = append(head, fmt.Sprintf("'%c'=%d", 'a'+axis, parts[0]*parts[1]*parts[2]))
			pre := int64(1)
			for _, n := range parts {
				named = append(named, fmt.Sprintf("'%c':(%d)%d", 'a'+axis, pre, n))
				lengths = append(lengths, n)
				pre *= n
				total *= n
			}
		}
		for i := range lengths {
			weight := int64(1)
			for _, n := range lengths[i+1:] {
				weight *= n
			}
			weights = append(weights, weight)
		}
		var chosen []string
		for _, i := range r.Perm(len(lengths))[:1+r.IntN(len(lengths))] {
			chosen, digits = append(chosen, named[i]), append(digits, int64(i))
		}
		text := fmt.Sprintf("mesh[%s] {%s}", strings.Join(head, ","), strings.Join(chosen, ","))
		got, err := groups(text, total)
		require.NoError(t, err, text)
		digit := func(rank, i int64) int64 { return rank / weights[i] % lengths[i] }
		seen := 0
		for _, group := range got {
			seen += len(group)
			for n, rank := range group {
				at := int64(0)
				for _, i := range digits {
					at = at*lengths[i] + digit(rank, i)
				}
				require.Equal(t, int64(n), at, "%s: %v", text, group)
				for i := range int64(len(lengths)) {
					require.True(t, slices.Contains(digits, i) || digit(rank, i) == digit(group[0], i), text)
				}
			}
		}
		require.Equal(t, total, int64(seen), text)
	}
}
