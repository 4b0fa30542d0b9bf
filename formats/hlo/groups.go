package hlo

import (
	"fmt"
	"slices"
	"strings"
)

// mode is the meaning of the numbers in replica_groups. Without a channel they are replicas, and
// each partition communicates separately. With one they are partitions, and with
// use_global_device_ids ranks. Kinds that have that attribute and do not set it run over all
// partitions of the replicas.
type mode uint8

const (
	ofReplicas mode = iota
	ofPartitions
	ofBoth
	ofRanks
)

// modeOf returns the mode of an instruction.
func modeOf(i *instr) (mode, error) {
	_, channel := i.attr("channel_id")
	global, given := i.attr("use_global_device_ids")
	switch {
	case given && global != "true" && global != "false":
		return 0, fmt.Errorf("use_global_device_ids=%.20s: true or false is expected", global)
	case !channel && global == "true":
		return 0, fmt.Errorf("use_global_device_ids=true: a channel_id is expected with it")
	case !channel:
		return ofReplicas, nil
	case global == "true":
		return ofRanks, nil
	case given || kindOf(i.opcode).reducesOrGathers():
		return ofBoth, nil
	}
	return ofPartitions, nil
}

// numbers returns the count of numbers in a mode.
func (m *module) numbers(by mode) int64 {
	switch by {
	case ofReplicas, ofBoth:
		return int64(m.replicas)
	case ofPartitions:
		return int64(m.partitions)
	}
	return int64(m.ranks())
}

// teams converts groups to teams of ranks; no groups stand for one with all numbers.
func (m *module) teams(groups [][]int64, by mode) (teams [][]int) {
	if len(groups) == 0 {
		all := make([]int64, m.numbers(by))
		for i := range all {
			all[i] = int64(i)
		}
		groups = [][]int64{all}
	}
	times := map[mode]int{ofReplicas: m.partitions, ofPartitions: m.replicas}[by]
	for at := range max(times, 1) {
		for _, group := range groups {
			var team []int
			for _, n := range group {
				switch id := int(n); by {
				case ofReplicas:
					team = append(team, id*m.partitions+at)
				case ofPartitions:
					team = append(team, at*m.partitions+id)
				case ofRanks:
					team = append(team, id)
				case ofBoth:
					for partition := range m.partitions {
						team = append(team, id*m.partitions+partition)
					}
				}
			}
			teams = append(teams, team)
		}
	}
	return teams
}

// groups parses replica_groups: distinct numbers below most. Its forms are {{0,1},{2,3}}, {},
// [2,2]<=[4], optionally with T(0): the numbers of an array, transposed, in rows; and axes of a
// mesh.
func groups(text string, most int64) (list [][]int64, err error) {
	switch {
	case strings.HasPrefix(text, "{"):
		list, err = listed(text)
	case strings.HasPrefix(text, "["):
		list, err = tiled(text, most)
	case strings.HasPrefix(text, "mesh["), strings.HasPrefix(text, "maximal_mesh["):
		list, err = meshed(text, most)
	default:
		err = fmt.Errorf("{{0,1},{2,3}}, [2,2]<=[4] or mesh['a'=2,'b'=2] {'b'} is expected")
	}
	if err != nil {
		return nil, fmt.Errorf("replica_groups=%.60s: %w", text, err)
	}
	seen := map[int64]bool{}
	for _, group := range list {
		for _, n := range group {
			if n >= most || seen[n] {
				return nil, fmt.Errorf("replica_groups=%.60s: %d: each of 0 to %d once is expected", text, n,
					most-1)
			}
			seen[n] = true
		}
	}
	return list, nil
}

// listed parses {{0,1},{2,3}}.
func listed(text string) (list [][]int64, err error) {
	inner, closed := strings.CutSuffix(text[1:], "}")
	if !closed {
		return nil, fmt.Errorf("} is expected at its end")
	}
	for _, item := range split(inner) {
		item, opened := strings.CutPrefix(item, "{")
		item, closed := strings.CutSuffix(item, "}")
		numbers, err := wholes(item)
		if !opened || !closed || err != nil || len(numbers) == 0 {
			return nil, fmt.Errorf("groups as {{0,1},{2,3}} are expected")
		}
		list = append(list, numbers)
	}
	return list, nil
}

// tiled parses [groups,size]<=[lengths]T(axes).
func tiled(text string, most int64) (list [][]int64, err error) {
	rows, rest, found := strings.Cut(text, "<=")
	lengths, axes, transposed := strings.Cut(rest, "T")
	var numbers [3][]int64
	for i, part := range []struct{ text, open, close string }{{rows, "[", "]"}, {lengths, "[", "]"},
		{axes, "(", ")"}} {
		if i == 2 && !transposed {
			break
		}
		inner, opened := strings.CutPrefix(part.text, part.open)
		inner, closed := strings.CutSuffix(inner, part.close)
		if numbers[i], err = wholes(inner); !found || !opened || !closed || err != nil {
			return nil, fmt.Errorf("as [2,4]<=[8] or [4,2]<=[2,4]T(1,0) is expected")
		}
	}
	shape, dims, order := numbers[0], numbers[1], numbers[2]
	if len(shape) != 2 {
		return nil, fmt.Errorf("two numbers before <= are expected: of groups, and of each")
	}
	if !transposed {
		for i := range dims {
			order = append(order, int64(i))
		}
	}
	total := int64(1)
	for _, n := range dims {
		if total *= n; total < 1 || total > most {
			return nil, fmt.Errorf("up to %d numbers are expected", most)
		}
	}
	sorted := slices.Sorted(slices.Values(order))
	for i, axis := range sorted {
		if axis != int64(i) || len(order) != len(dims) {
			return nil, fmt.Errorf("behind T each of %d axes once is expected", len(dims))
		}
	}
	if shape[0] < 1 || len(order) != len(dims) || shape[0]*shape[1] != total {
		return nil, fmt.Errorf("%d groups of %d are not %d numbers", shape[0], shape[1], total)
	}
	for i, n := range transpose(dims, order) {
		if int64(i)%shape[1] == 0 {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], n)
	}
	return list, nil
}

// transpose returns the row-major numbers of an array after its axes are put into another order.
func transpose(dims, order []int64) (numbers []int64) {
	stride, total := make([]int64, len(dims)), int64(1) // in the array
	for i := len(dims) - 1; i >= 0; i-- {
		stride[i] = total
		total *= dims[i]
	}
	place := make([]int64, len(order)) // in the transposed array
	for range total {
		n := int64(0)
		for k, axis := range order {
			n += place[k] * stride[axis]
		}
		numbers = append(numbers, n)
		for k := len(order) - 1; k >= 0; k-- {
			if place[k]++; place[k] < dims[order[k]] {
				break
			}
			place[k] = 0
		}
	}
	return numbers
}
