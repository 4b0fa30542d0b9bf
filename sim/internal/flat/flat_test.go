package flat

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func compare(a, b Entry[int64]) int {
	return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second),
		cmp.Compare(a.Third, b.Third))
}

// TestHeap does all that a heap can do to one, and to a list that is sorted. What comes out is the
// same, but for the items of entries that are alike.
func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var h Heap[int64]
	var list []Entry[int64]
	random := func() Entry[int64] { // with many ties
		return Entry[int64]{int64(rng.IntN(9)), uint64(rng.IntN(3)), uint64(rng.IntN(3)), rng.Int32N(100)}
	}
	for range 20_000 {
		switch rng.IntN(7) {
		case 0, 1, 2:
			e := random()
			h.Push(e)
			list = append(list, e)
		case 3:
			from := len(h)
			for range rng.IntN(10) {
				e := random()
				h, list = append(h, e), append(list, e)
			}
			h.Fix(from)
		case 4:
			bit := rng.Int32N(4)
			isTrue := func(e *Entry[int64]) bool { return e.Item>>bit&1 == 0 }
			if len(h) > 500 {
				h.Keep(isTrue)
				list = slices.DeleteFunc(list, func(e Entry[int64]) bool { return !isTrue(&e) })
			}
		default:
			if len(h) > 0 {
				e := h.Pop()
				require.Zero(t, compare(e, slices.MinFunc(list, compare)))
				list = slices.Delete(list, slices.Index(list, e), slices.Index(list, e)+1)
			}
		}
		require.Len(t, h, len(list))
	}
	slices.SortFunc(list, compare)
	for _, e := range list {
		require.Zero(t, compare(e, h.Pop()))
	}
}

// TestQueue does all that a queue can do to one, and to a map of what is in it.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var q Queue[int64]
	q.Grow(50)
	q.Grow(10)
	keys := map[int32]int64{}
	for range 20_000 {
		item := rng.Int32N(50)
		switch rng.IntN(20) {
		case 0:
			q.Each(func(key int64) int64 { return key + 3 })
			for i := range keys {
				keys[i] += 3
			}
		case 1, 2, 3, 4, 5, 6, 7, 8:
			q.Remove(item)
			delete(keys, item)
		default: // with many ties
			key := int64(rng.IntN(30))
			q.Set(item, key)
			keys[item] = key
		}
		require.Equal(t, len(keys), q.Len())
		if len(keys) > 0 {
			item, key := q.First()
			require.Equal(t, keys[item], key)
			require.Equal(t, slices.Min(slices.Collect(maps.Values(keys))), key)
		}
	}
}

// TestTable: what was put in is found, also after it has grown; what was not is not.
func TestTable(t *testing.T) {
	x := NewTable()
	for i := range int32(5000) {
		require.EqualValues(t, -1, x.Find(uint64(i)<<32))
		x.Put(uint64(i)<<32, i)
	}
	for i := range int32(5000) {
		require.Equal(t, i, x.Find(uint64(i)<<32))
	}
	require.EqualValues(t, -1, x.Find(1))
}

// TestAdd: what is added is there; there is room for the least at first, then for twice as many.
func TestAdd(t *testing.T) {
	var list []int
	var rooms []int
	for i := range 50 {
		if list = Add(list, i, 6); i == 0 || cap(list) != rooms[len(rooms)-1] {
			rooms = append(rooms, cap(list))
		}
	}
	require.Equal(t, []int{6, 12, 24, 48, 96}, rooms)
	for i, one := range list {
		require.Equal(t, i, one)
	}
	require.Equal(t, []int{7}, Add(nil, 7, 0))
}

// TestList: what is in a list stays where it is and is all that a slice would have.
func TestList(t *testing.T) {
	var l List[int]
	var want []int
	var first *int
	rng := rand.New(rand.NewPCG(3, 1))
	for l.Len() < 5*piece {
		if rng.IntN(300) == 0 {
			n := rng.IntN(3 * piece)
			l.Skip(n)
			want = append(want, make([]int, n)...)
			continue
		}
		x := rng.IntN(100)
		at := l.Next()
		*at = x
		if want = append(want, x); len(want) == 1 {
			first = at
		}
	}
	require.Equal(t, len(want), l.Len())
	require.Same(t, first, l.At(0))
	for i, x := range want {
		require.Equal(t, x, *l.At(i))
	}
	require.Equal(t, append([]int{7}, want...), l.AppendTo([]int{7}))
}
