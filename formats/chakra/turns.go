package chakra

import "container/heap"

// inTurns returns things in a topological order, which of several that are ready takes the first by
// less. after has for each those that it waits for. Things in a circle, and those behind one, are
// missing.
func inTurns[T int | int32](after [][]T, less func(a, b int) bool) (order []int) {
	then := make([][]int, len(after))
	waits := make([]int, len(after))
	ready := &readyThings{less: less}
	for i, list := range after {
		for _, on := range list {
			then[on] = append(then[on], i)
		}
		if waits[i] = len(list); waits[i] == 0 {
			heap.Push(ready, i)
		}
	}
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		order = append(order, i)
		for _, next := range then[i] {
			if waits[next]--; waits[next] == 0 {
				heap.Push(ready, next)
			}
		}
	}
	return order
}

// readyThings is a heap, the first by less on top.
type readyThings struct {
	list []int
	less func(a, b int) bool
}

func (h *readyThings) Len() int           { return len(h.list) }
func (h *readyThings) Less(i, j int) bool { return h.less(h.list[i], h.list[j]) }
func (h *readyThings) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *readyThings) Push(x any)         { h.list = append(h.list, x.(int)) }
func (h *readyThings) Pop() any {
	last := len(h.list) - 1
	x := h.list[last]
	h.list = h.list[:last]
	return x
}
