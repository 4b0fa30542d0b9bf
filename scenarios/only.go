package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/nearest"
	"collsim/unit"
)

// onlyOrigin stands in place of the file in errors about --only.
const onlyOrigin = "--only"

// term is one key=value of --only.
type term struct{ key, value string }

// choose keeps of a scenario the points, and those of its programs, that --only selects.
func (r *run) choose(s *Scenario) {
	all := slices.Clone(s.Points)
	for _, p := range s.Programs {
		all = append(all, p.Point)
	}
	chosen := r.only(all)
	has := map[*Point]bool{}
	for _, p := range chosen {
		has[p] = true
	}
	s.Only = r.d.options.Only
	s.Points = slices.DeleteFunc(s.Points, func(p *Point) bool { return !has[p] })
	s.Programs = slices.DeleteFunc(s.Programs, func(p *ProgramPoint) bool { return !has[p.Point] })
}

// only selects points. A term that no point has is an error: it would select nothing.
func (r *run) only(points []*Point) []*Point {
	var terms []term
	for _, text := range r.d.options.Only {
		if id, is := wholeID(points, text); is {
			terms = append(terms, term{"id", id})
			continue
		}
		for _, one := range splitTerms(text) {
			key, value, ok := strings.Cut(one, "=")
			t := term{strings.TrimSpace(key), strings.TrimSpace(value)}
			if !ok || t.key == "" || t.value == "" {
				r.onlyError(shown(one), "", problem{"key=value is expected",
					"for example --only algorithm=ring,bytes=1MiB"})
				return nil
			}
			if name, own := cutTable(t.key, "collective"); own {
				t.key = name
			}
			terms = append(terms, t)
		}
	}
	for _, t := range terms {
		if !r.select1(points, t) {
			return nil
		}
	}
	var chosen []*Point
	for _, p := range points {
		if !slices.ContainsFunc(terms, func(t term) bool { return !r.holds(p, terms, t.key) }) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 && len(points) > 0 {
		r.onlyError("", "", problem{"no point has all of that", "to see all points: collsim check"})
	}
	return chosen
}

// wholeID reports whether a text is the id of a point, with or without "id=": it may have commas.
func wholeID(points []*Point, text string) (id string, is bool) {
	id = strings.TrimPrefix(strings.TrimSpace(text), "id=")
	return id, slices.ContainsFunc(points, func(p *Point) bool { return p.ID == id })
}

// select1 reports whether a term can be read and some point has it, after reporting if not.
func (r *run) select1(points []*Point, t term) bool {
	var have []string
	for _, p := range points {
		values, ok := p.facts(t.key)
		if !ok {
			continue
		}
		if spelt(values, r.spelling(t)) {
			return true
		}
		if !slices.Contains(have, values[0]) {
			have = append(have, values[0])
		}
	}
	if have == nil && len(points) > 0 {
		names := r.onlyKeys()
		hint := "known: " + strings.Join(names, ", ")
		if near := nearest.To(t.key, names, 1); len(near) > 0 {
			hint = "did you mean " + quoted(near[0]) + "?"
		}
		r.onlyError(t.key, t.value, problem{"points are not told apart by this", hint})
		return false
	}
	hint := "points have " + strings.Join(have[:min(len(have), 8)], ", ")
	if len(have) > 8 {
		hint += ", …"
	}
	r.onlyError(t.key, t.value, problem{"no point has this", hint})
	return false
}

// holds reports whether a point has one of the values that the terms give a key.
func (r *run) holds(p *Point, terms []term, key string) bool {
	values, _ := p.facts(key)
	return slices.ContainsFunc(terms, func(t term) bool {
		return t.key == key && spelt(values, r.spelling(t))
	})
}

// spelt reports whether one of the values is spelt so; ids leave the blanks out.
func spelt(values []string, value string) bool {
	dense := func(s string) string { return strings.ReplaceAll(s, " ", "") }
	return slices.ContainsFunc(values, func(one string) bool { return dense(one) == dense(value) })
}

func (r *run) onlyError(key, value string, p problem) {
	r.d.errs.add(&Error{File: onlyOrigin, Key: key, Value: shown(value), Text: p.text, Hint: p.hint})
}

// onlyKeys lists what --only and file names know, besides swept paths.
func onlyKeys() []string {
	return []string{"kind", "algorithm", "bytes", "count", "dtype", "op", "ranks", "name",
		"collective", "id"}
}

// collectiveFacts returns the facts that a program has no single value of.
func collectiveFacts() []string {
	return []string{"kind", "algorithm", "bytes", "count", "dtype", "op", "name", "collective"}
}

// Names lists what FileName knows of a point, besides the swept keys.
func (p *Point) Names() []string {
	return slices.DeleteFunc([]string{"kind", "algorithm", "bytes", "count", "dtype", "op", "ranks",
		"name", "id"}, func(name string) bool {
		return p.OfProgram() && slices.Contains(collectiveFacts(), name)
	})
}

func (r *run) onlyKeys() []string {
	names := onlyKeys()
	if r.hasProgram() && r.d.count("collective") == 0 {
		names = []string{"ranks", "id"}
	}
	for _, s := range r.d.sweeps {
		names = append(names, s.path)
	}
	if r.d.variants != nil || r.d.origin != nil {
		names = append(names, variantAxis)
	}
	return names
}

// facts returns the spellings of what a point has under a key, the one to show first; false for
// keys that it does not know.
func (p *Point) facts(key string) ([]string, bool) {
	if p.OfProgram() && slices.Contains(collectiveFacts(), key) {
		return nil, false
	}
	switch key {
	case "kind":
		return []string{p.Spec.Kind.String()}, true
	case "algorithm":
		return []string{p.Algorithm.String(), p.Algorithm.Name}, true
	case "bytes":
		return []string{p.Spec.Bytes().String(), p.Asked.String(),
			strconv.FormatInt(int64(p.Spec.Bytes()), 10), strconv.FormatInt(int64(p.Asked), 10)}, true
	case "count":
		return []string{strconv.FormatInt(p.Spec.Count, 10)}, true
	case "dtype":
		return []string{p.Spec.Type.String()}, true
	case "op":
		if p.Spec.Op == 0 {
			return []string{"none"}, true
		}
		return []string{canonical(operator{p.Spec.Op, p.Spec.Factor})}, true
	case "ranks":
		return []string{strconv.Itoa(p.Topology.Ranks)}, true
	case "name":
		if p.Collective == "" {
			return []string{p.Spec.Kind.String()}, true
		}
		return []string{p.Collective}, true
	case "collective": // as ids distinguish equal points of several
		if p.Collective == "" {
			return []string{strconv.Itoa(p.Number)}, true
		}
		return []string{p.Collective, strconv.Itoa(p.Number)}, true
	case "id":
		return []string{p.ID}, true
	}
	for _, a := range p.Axes {
		if own, ok := cutTable(a.Path, "collective"); a.Path == key || ok && own == key {
			return []string{a.Text}, true
		}
	}
	return nil, false
}

// spelling returns a term's value in the spelling of facts. A value that cannot be read stays as it
// is.
func (r *run) spelling(t term) string {
	switch t.key {
	case "kind":
		if k, err := collective.ParseKind(t.value); err == nil {
			return k.String()
		}
	case "algorithm":
		if a, wrong := parseAlgorithm(t.value); wrong == nil {
			return a.(Algorithm).String()
		}
	case "bytes":
		if b, err := unit.ParseBytes(t.value); err == nil {
			return b.String()
		}
	case "dtype":
		if d, err := dtype.Parse(t.value); err == nil {
			return d.String()
		}
	case "count", "op", "ranks", "name", "collective", "id":
	default:
		path, _ := parsePath(t.key)
		if k := r.d.schema.byPath[path.plain()]; k != nil {
			if v, wrong := k.read(setNode(t.value)); wrong == nil {
				return canonical(v)
			}
		}
	}
	return t.value
}

// splitTerms cuts at commas that are not inside brackets.
func splitTerms(s string) []string {
	var terms []string
	depth, start := 0, 0
	for i, r := range s {
		switch {
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		case r == ',' && depth == 0:
			terms = append(terms, s[start:i])
			start = i + 1
		}
	}
	return append(terms, s[start:])
}
