// Package mesh arranges ranks along named axes, and says how tensors are divided among them: the
// device meshes and placements of PyTorch's DTensor. Steps plans a redistribution: the collectives
// that take a tensor from one list of placements to another.
//
//	dp, tp = 2, 4:  0 1 2 3    teams of tp: 0 1 2 3 and 4 5 6 7
//	                4 5 6 7    teams of dp: 0 4, 1 5, 2 6 and 3 7
//
// A tensor has one placement for each axis of the mesh. Sharded twice along one of its own axes, it
// is cut by the mesh's first axis first.
package mesh

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// A Mesh has ranks from 0 in row-major order: the last axis varies fastest.
type Mesh struct {
	Shape []int
	Axes  []string // their names, as many
}

// Validate returns what is wrong with a mesh of so many ranks.
func (m Mesh) Validate(ranks int) error {
	all := 1
	for i, n := range m.Shape {
		if n < 1 {
			return fmt.Errorf("axis %d has a length of %d; a length from 1 is expected", i, n)
		}
		if all *= n; all > ranks {
			break
		}
	}
	if len(m.Shape) == 0 || all != ranks {
		return fmt.Errorf("a mesh of %s does not have the %d ranks", m, ranks)
	}
	if len(m.Axes) != len(m.Shape) {
		return fmt.Errorf("%d axes have %d names; one for each is expected", len(m.Shape), len(m.Axes))
	}
	for i, name := range m.Axes {
		if name == "" || slices.Contains(m.Axes[:i], name) {
			return fmt.Errorf("axis %d is called %q; a name of its own is expected", i, name)
		}
	}
	return nil
}

// String returns the lengths, as "2 x 4".
func (m Mesh) String() string {
	var lengths []string
	for _, n := range m.Shape {
		lengths = append(lengths, fmt.Sprint(n))
	}
	return strings.Join(lengths, " x ")
}

// Teams lists the ranks that differ in their place on an axis alone, in the order of that place.
func (m Mesh) Teams(axis int) (teams [][]int) {
	inner := product(m.Shape[axis+1:])
	for first := range product(m.Shape) {
		if first/inner%m.Shape[axis] != 0 {
			continue
		}
		team := make([]int, m.Shape[axis])
		for i := range team {
			team[i] = first + i*inner
		}
		teams = append(teams, team)
	}
	return teams
}

func product(lengths []int) int {
	n := 1
	for _, l := range lengths {
		n *= l
	}
	return n
}

// Local returns the shape of a rank's part of a tensor. Every length that is sharded must be a
// multiple of the ranks that it is sharded among.
func (m Mesh) Local(whole collective.Shape, at []Placement) (collective.Shape, error) {
	if len(at) != len(m.Shape) {
		return nil, fmt.Errorf("%d placements on a mesh of %s; one for each of its axes is expected",
			len(at), m)
	}
	part := slices.Clone(whole)
	for i, p := range at {
		if p.Kind != Sharded {
			continue
		}
		if p.Axis >= len(whole) {
			return nil, fmt.Errorf("%v of a tensor of %v: an axis below %d is expected", p, whole,
				len(whole))
		}
		if part[p.Axis]%int64(m.Shape[i]) != 0 {
			return nil, fmt.Errorf("%v over %s: a length of %d is not divisible by %d ranks", p, m.Axes[i],
				part[p.Axis], m.Shape[i])
		}
		part[p.Axis] /= int64(m.Shape[i])
	}
	return part, nil
}
