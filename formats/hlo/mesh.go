package hlo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mesh is an array of ranks with named axes, the last one the fastest.
type mesh struct {
	names   []string
	lengths []int64
	ids     []int64 // in row-major order; nil: 0, 1, …
}

// axisRef is an axis of a mesh, or a part of one: the digit of length size that stands behind
// factors of pre in all.
type axisRef struct {
	axis      int
	pre, size int64
}

// meshed parses mesh['a'=2,'b'=4] {'b'}: groups along some axes of a mesh, in their order. A mesh
// may have ", device_ids=(0,2,1,3)" or ", device_ids=([2,4]T(1,0))" after it, and an axis may be a
// part of one, as 'b':(1)2 (openxla/xla, xla/hlo/ir/mesh_and_axis.h and replica_group.cc).
func meshed(text string, most int64) ([][]int64, error) {
	if rest, found := strings.CutPrefix(text, "maximal_mesh[device_id="); found {
		id, _, _ := strings.Cut(rest, "]")
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("a number behind device_id= is expected")
		}
		return [][]int64{{n}}, nil
	}
	open := strings.LastIndexByte(text, '{')
	inner, closed := strings.CutSuffix(text[open+1:], "}")
	if open < 0 || !closed {
		return nil, fmt.Errorf("axes as {'a'} are expected behind a mesh")
	}
	m, err := parseMesh(strings.TrimSpace(text[:open]), most)
	if err != nil {
		return nil, err
	}
	var refs []axisRef
	for _, word := range split(inner) {
		ref, err := m.ref(word)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return m.groups(refs)
}

// parseMesh parses the part before the axes.
func parseMesh(text string, most int64) (*mesh, error) {
	head, order, isOrdered := strings.Cut(text, ", device_ids=(")
	inner, closed := strings.CutSuffix(strings.TrimPrefix(head, "mesh["), "]")
	if !closed {
		return nil, fmt.Errorf("as mesh['a'=2,'b'=4] {'b'} is expected")
	}
	m, total := &mesh{}, int64(1)
	for _, word := range split(inner) {
		at := strings.LastIndexByte(word, '=')
		n, err := strconv.ParseInt(word[at+1:], 10, 64)
		if at < 0 || err != nil || n < 1 {
			return nil, fmt.Errorf("axis %.40s: as 'a'=2 is expected", word)
		}
		name := strings.Trim(word[:at], "'")
		if slices.Contains(m.names, name) {
			return nil, fmt.Errorf("a second axis '%s'", name)
		}
		m.names, m.lengths = append(m.names, name), append(m.lengths, n)
		if total > most/n {
			return nil, fmt.Errorf("up to %d ranks are expected", most)
		}
		total *= n
	}
	if !isOrdered {
		return m, nil
	}
	order, closed = strings.CutSuffix(order, ")")
	var err error
	if strings.HasPrefix(order, "[") {
		var lists [][]int64
		if lists, err = tiled(fmt.Sprintf("[1,%d]<=%s", total, order), most); err == nil {
			m.ids = lists[0]
		}
	} else {
		m.ids, err = wholes(order)
	}
	if err != nil || !closed || int64(len(m.ids)) != total {
		return nil, fmt.Errorf("device_ids=(%.40s: %d numbers, or as [4,2]T(1,0), are expected", order,
			total)
	}
	return m, nil
}

// ref parses an axis, by name or number, or a part of one.
func (m *mesh) ref(word string) (axisRef, error) {
	quoted, part, isPart := word, "", false
	if end := strings.LastIndexByte(word, '\''); end > 0 {
		quoted = word[:end+1]
		part, isPart = strings.CutPrefix(word[end+1:], ":(")
	}
	name := strings.Trim(quoted, "'")
	axis := slices.Index(m.names, name)
	if axis < 0 {
		n, err := strconv.ParseUint(name, 10, 31)
		if err != nil || n >= uint64(len(m.names)) {
			return axisRef{}, fmt.Errorf("axis %.40s: one of '%s' is expected", word,
				strings.Join(m.names, "', '"))
		}
		axis = int(n)
	}
	if !isPart {
		return axisRef{axis, 1, m.lengths[axis]}, nil
	}
	before, after, _ := strings.Cut(part, ")")
	pre, err := strconv.ParseInt(before, 10, 32)
	size, wrong := strconv.ParseInt(after, 10, 32)
	if err != nil || wrong != nil || pre < 1 || size < 1 || m.lengths[axis]%(pre*size) != 0 {
		return axisRef{}, fmt.Errorf("axis %.40s: a part as 'a':(1)2, whose numbers divide %d, is "+
			"expected", word, m.lengths[axis])
	}
	return axisRef{axis, pre, size}, nil
}

// groups returns the ranks that differ along some axes alone, group by group. An axis that is named
// in part is cut into its parts first.
func (m *mesh) groups(refs []axisRef) (list [][]int64, err error) {
	var dims, others []int64
	grouped, size := make([]int64, len(refs)), int64(1)
	for axis, length := range m.lengths {
		var of []int // refs of this axis, the outermost part first
		for i, ref := range refs {
			if ref.axis == axis {
				of = append(of, i)
			}
		}
		slices.SortFunc(of, func(a, b int) int { return int(refs[a].pre - refs[b].pre) })
		done := int64(1)
		for _, i := range of {
			ref := refs[i]
			if ref.pre%done != 0 {
				return nil, fmt.Errorf("axis '%s': parts that do not overlap are expected", m.names[axis])
			}
			others = append(others, int64(len(dims)))
			grouped[i] = int64(len(dims) + 1)
			dims = append(dims, ref.pre/done, ref.size)
			done, size = ref.pre*ref.size, size*ref.size
		}
		others, dims = append(others, int64(len(dims))), append(dims, length/done)
	}
	for i, at := range transpose(dims, append(others, grouped...)) {
		if int64(i)%size == 0 {
			list = append(list, nil)
		}
		if m.ids != nil {
			at = m.ids[at]
		}
		list[len(list)-1] = append(list[len(list)-1], at)
	}
	return list, nil
}
