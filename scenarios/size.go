package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/internal/nearest"
	"collsim/unit"
)

// kind reads what to compute, and refuses kinds that nothing computes.
func (r *run) kind(v *view, at string) (collective.Kind, bool) {
	name, ok := need[string](v, at+"kind", "what to compute is expected")
	if !ok {
		return 0, false
	}
	kind, err := collective.ParseKind(name)
	if err != nil {
		v.fail(at+"kind", problem{text: err.Error()})
		return 0, false
	}
	if r.algorithms != nil && len(r.algorithms[kind]) == 0 && kind != collective.Custom {
		var have []string
		for _, k := range collective.Kinds() {
			if len(r.algorithms[k]) > 0 {
				have = append(have, k.String())
			}
		}
		v.fail(at+"kind", problem{"no algorithm computes this kind yet",
			"kinds with algorithms: " + strings.Join(have, ", ")})
		return 0, false
	}
	return kind, true
}

// algorithm checks a name against the facts and adds the keys channels and slices to it.
func (r *run) algorithm(v *view, at string, kind collective.Kind, a *Algorithm) bool {
	ok := v.copies(at+"channels", a.Name, &a.Channels)
	ok = v.copies(at+"slices", a.Name, &a.Slices) && ok
	a.Slices = max(a.Slices, 1)
	if kind == collective.Custom && !a.FromFile() {
		v.fail(at+"algorithm", problem{"a custom collective is what a schedule from a file does",
			`name one: algorithm = "file:mine.xml"`})
		return false
	}
	if a.chosen() || a.Every {
		return ok
	}
	id := named{kind, a.String()}
	p, judged := r.checked[id]
	if !judged {
		if p, judged = r.judge(kind, *a); !judged {
			return false
		}
		r.checked[id] = p
	}
	if p != nil {
		v.fail(at+"algorithm", *p)
		return false
	}
	return ok
}

// judge asks whether there is such an algorithm: what is wrong with it, nil if nothing, and whether
// that is known.
func (r *run) judge(kind collective.Kind, a Algorithm) (wrong *problem, known bool) {
	if r.algorithms != nil && !a.FromFile() {
		names := r.algorithms[kind]
		meant := slices.Concat(names, []string{allOf, fastest}, r.libraries[kind])
		if !slices.Contains(meant, a.Name) {
			p := &problem{"no " + kind.String() + " algorithm of that name",
				kind.String() + " has " + firstOfNames(names)}
			if hint := inLibrary(a.Name, r.libraries[kind]); hint != "" {
				p.hint = hint
			} else if near := nearest.To(a.Name, meant, 1); len(near) > 0 {
				p.hint = "did you mean " + quoted(near[0]) + "? " + p.hint
			}
			if kinds := r.kindsOf(a.Name); kinds != "" {
				p.hint += "; " + a.Name + " does " + kinds
			}
			return p, true
		}
	}
	answer, known := r.ask(WhetherAlgorithm,
		&Point{Spec: collective.Spec{Kind: kind}, Algorithm: a})
	if answer.Err != nil {
		wrong = &problem{text: answer.Err.Error()}
	}
	return wrong, known
}

// listedNames bounds the names of algorithms that an error lists.
const listedNames = 8

// firstOfNames lists names of algorithms, and of many the first and where to find the others.
func firstOfNames(names []string) string {
	text := strings.Join(names[:min(len(names), listedNames)], ", ")
	if n := len(names) - listedNames; n > 0 {
		text += fmt.Sprintf(" and %d more: collsim list algorithms", n)
	}
	return text
}

// kindsOf lists the kinds of collectives that have an algorithm of that name; empty if none has.
func (r *run) kindsOf(name string) string {
	var kinds []string
	for _, kind := range collective.Kinds() {
		if slices.Contains(r.algorithms[kind], name) || slices.Contains(r.libraries[kind], name) {
			kinds = append(kinds, kind.String())
		}
	}
	return strings.Join(kinds, ", ")
}

// inLibrary suggests a name of the library that a name begins with, or lists all of them: nccl:auto
// and its like for "nccl" and for "nccl:foo". It is empty for other names.
func inLibrary(name string, all []string) string {
	library, short, _ := strings.Cut(name, ":")
	var names, shorts []string
	for _, n := range all {
		if of, one, _ := strings.Cut(n, ":"); of == library {
			names, shorts = append(names, n), append(shorts, one)
		}
	}
	if near := nearest.To(short, shorts, 1); len(near) > 0 {
		return "did you mean " + quoted(library+":"+near[0]) + "?"
	}
	if len(names) == 0 {
		return ""
	}
	return "of that library there are " + strings.Join(names, ", ")
}

// copies reads channels or slices; the algorithm's own parameter of that name is the other place
// to write it.
func (v *view) copies(at, algorithm string, into *int) bool {
	n, given, ok := fetch[int64](v, at)
	switch {
	case !ok:
		return false
	case given && algorithm == "file":
		v.fail(at, problem{"a schedule from a file has its own; none is expected", ""})
		return false
	case given && *into != 0 && *into != int(n):
		v.fail(at, problem{fmt.Sprintf("the algorithm's name says %d; one of the two is expected",
			*into), ""})
		return false
	case given:
		*into = int(n)
	}
	return true
}

// elements reads bytes or count.
func (v *view) elements(p *Point, at string) bool {
	s := &p.Spec
	v.use(at+"bytes", at+"count")
	size, byBytes, ok1 := fetch[unit.Bytes](v, at+"bytes")
	count, byCount, ok2 := fetch[int64](v, at+"count")
	switch {
	case !ok1 || !ok2:
		return false
	case byBytes && byCount:
		v.fail(at+"count", problem{"bytes is given too; one of the two is expected", ""})
		return false
	case byBytes:
		*s = s.WithBytes(size)
		p.Asked, p.ByBytes = size, true
		return true
	case !byCount:
		v.missing(at[:len(at)-1], "bytes", "bytes, count or shape is expected", v.example(at+"bytes"))
		return false
	}
	s.Count = count
	if most := p.largest().WithBytes(unit.Bytes(maxBytes)).Count; count > most {
		v.fail(at+"count", problem{fmt.Sprintf("more than 1024 TiB in a buffer; at most %d is expected",
			most), ""})
		return false
	}
	return true
}

// shape asks for the sizes of a custom collective.
func (r *run) shape(v *view, p *Point, at string) bool {
	v.use(at + "bytes")
	size, given, ok := fetch[unit.Bytes](v, at+"bytes")
	if !ok {
		return false
	}
	if p.Teams != nil {
		v.fail(at+"teams", problem{"a custom collective is one of all ranks; no teams are expected",
			""})
		return false
	}
	answer, known := r.ask(WhichSizes, &Point{Spec: p.Spec, Algorithm: p.Algorithm,
		Topology: p.Topology, Whole: size})
	if answer.Err != nil {
		v.fail(at+"algorithm", problem{text: answer.Err.Error()})
	}
	if answer.Err != nil || !known {
		return false
	}
	p.Spec, p.Whole = answer.Spec, size
	if given {
		p.Asked = size
	}
	return true
}

func ranksUpTo(n int) string {
	if n == 1 {
		return "0, the only rank,"
	}
	return "0 to " + strconv.Itoa(n-1)
}
