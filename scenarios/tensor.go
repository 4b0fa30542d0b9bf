package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/internal/nearest"
	"collsim/unit"
)

// Files names the files of a collective's data, as written; empty for none. {rank} in a name stands
// for the rank.
type Files struct{ Input, Output, Compare string }

// Any reports whether there is one.
func (f Files) Any() bool { return f != Files{} }

// rankInName is the placeholder in the name of a file for each rank.
const rankInName = "rank"

// placeholder matches {key} in the name of an output file.
func placeholder() *regexp.Regexp { return regexp.MustCompile(`\{([^{}]*)\}`) }

// files reads the names of data files, and refuses what makes no sense with them.
func (r *run) files(v *view, p *Point, at string) bool {
	ok := true
	for _, k := range v.d.schema.filled["collective"] {
		name, given, readable := fetch[string](v, at+k.name())
		if k.kind != aFile || !given || !readable {
			continue
		}
		if !p.Check.Numbers {
			v.fail(at+k.name(), problem{"needs numbers, which check.numbers = false turns off", ""})
			ok = false
		}
		known := append(r.onlyKeys(), rankInName)
		if k.name() == "input" || k.name() == "gradient_of_output" { // read before it is what it is
			known = []string{rankInName}
		}
		for _, m := range placeholder().FindAllStringSubmatch(name, -1) {
			if slices.Contains(known, m[1]) {
				continue
			}
			hint := "known: " + strings.Join(known, ", ")
			if near := nearest.To(m[1], known, 1); len(near) > 0 {
				hint = "did you mean " + quoted(near[0]) + "?"
			}
			v.fail(at+k.name(), problem{quoted(m[0]) + " stands for nothing", hint})
			ok = false
		}
	}
	return ok
}

// sizes reads bytes, count, shape or splits, whichever the kind takes; or takes the shape of the
// input.
func (r *run) sizes(v *view, p *Point, at string) bool {
	s := &p.Spec
	if s.Kind == collective.Barrier {
		return true
	}
	if s.Kind.Splits() && !r.splits(v, p, at) {
		return false
	}
	v.use(at + "shape")
	lengths, shaped, ok := fetch[[]int](v, at+"shape")
	if !ok {
		return false
	}
	sized := v.has(at+"bytes") || v.has(at+"count")
	switch {
	case shaped && sized:
		other := "bytes"
		if v.has(at + "count") {
			other = "count"
		}
		v.fail(at+"shape", problem{other + " is given too; one of the two is expected", ""})
		return false
	case shaped:
		shape := make(collective.Shape, len(lengths))
		for i, n := range lengths {
			shape[i] = int64(n)
		}
		return v.tensor(p, at, shape, "shape")
	case p.Data.Input != "" && !sized:
		shapes, ok := r.shapesOf(v, p, at)
		if !ok {
			return false
		}
		first := 0
		for shapes[first] == nil {
			first++
		}
		return v.tensor(p, at, shapes[first], "input")
	case s.Kind.Splits():
		return true
	}
	return v.elements(p, at)
}

// tensor makes a collective on tensors of a shape, which the key gives.
func (v *view) tensor(p *Point, at string, shape collective.Shape, key string) bool {
	s := p.Spec
	c := &collective.Communication{Kind: s.Kind, Op: s.Op, Avg: s.Avg, Factor: s.Factor,
		Type: s.Type, Root: s.Root, Shape: shape, Splits: s.Splits, InPlace: s.InPlace}
	axis, _, ok1 := fetch[int64](v, at+"axis")
	concat, _, ok2 := fetch[int64](v, at+"concat")
	if !ok1 || !ok2 {
		return false
	}
	if s.Kind.Gathers() || s.Kind.Scatters() || s.Kind == collective.AllToAll ||
		s.Kind == collective.AllToAllV {
		v.use(at + "axis")
		c.Axis = int(axis)
	}
	if s.Kind == collective.AllToAll {
		v.use(at + "concat")
		c.Concat = int(concat)
	}
	p.Tensor = c
	for _, n := range p.sizesOfTeams() {
		spec, err := c.Spec(n)
		if err == nil && spec.Bytes() > unit.Bytes(maxBytes) {
			err = fmt.Errorf("more than 1024 TiB in a buffer")
		}
		if err != nil {
			v.fail(at+key, problem{text: err.Error()})
			return false
		}
		if n == p.Spec.Ranks {
			p.Spec = spec
		}
	}
	return true
}

// sizesOfTeams lists the numbers of ranks that teams have, that of the largest team first.
func (p *Point) sizesOfTeams() []int {
	sizes := []int{p.Spec.Ranks}
	for _, team := range p.Teams {
		if !slices.Contains(sizes, len(team)) {
			sizes = append(sizes, len(team))
		}
	}
	return sizes
}

// shapesOf asks for the shapes in the input file: of every rank of the network, nil for those that
// have none.
func (r *run) shapesOf(v *view, p *Point, at string) ([]collective.Shape, bool) {
	spec := p.Spec
	spec.Count = 0 // what the file has does not depend on what is asked of it
	answer, known := r.ask(WhichShapes, &Point{Spec: spec, Topology: p.Topology, Teams: p.Teams,
		Data: Files{Input: p.Data.Input}})
	if answer.Err != nil {
		v.fail(at+"input", problem{text: answer.Err.Error()})
	}
	return answer.Shapes, known && answer.Err == nil
}

// inputs holds what the input file has against what the collective takes.
func (r *run) inputs(v *view, p *Point, at string) bool {
	if p.Data.Input == "" || p.Spec.Kind == collective.Barrier {
		return true
	}
	shapes, ok := r.shapesOf(v, p, at)
	if !ok {
		return false
	}
	for _, team := range p.Members() {
		spec := p.TeamSpec(len(team))
		if p.Tensor != nil {
			if text := p.misshapen(shapes, team); text != "" {
				v.fail(at+"input", problem{text: text})
				return false
			}
			continue
		}
		for place, rank := range team {
			have, want := shapes[rank], spec.In(place)
			if have == nil || have.Elements() == want {
				continue
			}
			v.fail(at+"input", problem{text: fmt.Sprintf("rank %d has shape %v there, %d elements; "+
				"the collective takes %d of every rank", rank, have, have.Elements(), want)})
			return false
		}
	}
	return true
}

// misshapen says which input of a team has another shape than the collective takes.
func (p *Point) misshapen(shapes []collective.Shape, team []int) string {
	c := *p.Tensor
	c.Team = team
	if c.Kind.Rooted() {
		c.Root = team[c.Root]
	}
	in := make([]collective.Shape, len(team))
	for place, rank := range team {
		in[place] = shapes[rank]
	}
	if _, err := c.Shapes(in); err != nil {
		return err.Error()
	}
	for place, rank := range team {
		if have := in[place]; have != nil && len(p.Spec.Splits) == 0 &&
			!slices.Equal(have, p.Tensor.Shape) {
			return fmt.Sprintf("rank %d has shape %v there; shape %v is expected", rank, have,
				p.Tensor.Shape)
		}
	}
	return ""
}

// Members returns the ranks of each team; all ranks, for a point without teams.
func (p *Point) Members() [][]int {
	if p.Teams != nil {
		return p.Teams
	}
	all := make([]int, p.Spec.Ranks)
	for i := range all {
		all[i] = i
	}
	return [][]int{all}
}

// gradient refuses a backward pass that a collective does not have, and its files without one.
func (v *view) gradient(p *Point, at string) bool {
	if p.Gradient == NoGradient && p.GradientData.Any() {
		key := "compare_gradient"
		switch {
		case p.GradientData.Input != "":
			key = "gradient_of_output"
		case p.GradientData.Output != "":
			key = "gradient_of_input"
		}
		v.fail(at+key, problem{"there is no backward pass", `write gradient = "full"`})
		return false
	}
	var err error
	for _, s := range p.specs() {
		switch p.Gradient {
		case LocalGradient:
			_, err = collective.LocalGradient(s, 0)
		case FullGradient:
			_, err = collective.Gradient(s)
		}
		if err != nil {
			v.fail(at+"gradient", problem{text: err.Error()})
			return false
		}
	}
	return true
}
