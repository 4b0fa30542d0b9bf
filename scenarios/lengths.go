package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/internal/nearest"
)

// ProgramLength is a [[program.length]].
type ProgramLength struct {
	Name   string
	Length int64
}

func programLengthKeys() []Key {
	return []Key{
		{Path: "program.length.name", kind: aText, Example: `"tokens"`, must: "a name",
			Doc: "What shapes call it, as in shape = [\"tokens\", \"4*hidden\"], and texts of ops, as in " +
				"kernel = \"expand axis=1 times={heads}\".",
			to: set(func(l *ProgramLength, name string) { l.Name = name })},
		{Path: "program.length.length", kind: aWhole, min: 0, max: maxCount, Example: "4096", Sweep: true,
			Doc: "The length: of all shapes that have it, at once.", must: "a length",
			idle: "no shape and no op has it",
			to:   set(func(l *ProgramLength, n int64) { l.Length = n })},
	}
}

// programLengths reads the lengths that a program gives names.
func (r *run) programLengths(v *view, p *ProgramPoint) bool {
	ok := true
	for i := range r.d.count("program.length") {
		at, l := numbered("program.length", i), ProgramLength{}
		read := v.fill(at, &l)
		isTwice := slices.ContainsFunc(p.lengths, func(o ProgramLength) bool { return o.Name == l.Name })
		switch {
		case read && strings.ContainsAny(l.Name, "*/{} \t") || strings.Trim(l.Name, "0123456789") == "" &&
			l.Name != "":
			v.fail(at+".name", problem{quoted(l.Name) + " is no name of a length",
				"letters, digits and _ are expected"})
			read = false
		case read && isTwice:
			v.fail(at+".name", problem{"a second length " + quoted(l.Name), ""})
			read = false
		}
		ok = ok && read
		p.lengths = append(p.lengths, l)
	}
	return ok
}

// shapeAs computes a shape from its lengths as they are written.
func shapeAs(v *view, at string, p *ProgramPoint, written lengths) (s collective.Shape, ok bool) {
	for i, text := range written {
		n, why := lengthOf(v, p, text)
		if why.text != "" {
			why.text = fmt.Sprintf("dimension %d is %s: %s", i, quoted(text), why.text)
			v.fail(at, why)
			return nil, false
		}
		s = append(s, n)
	}
	return s, true
}

// lengthOf computes a product or quotient of numbers and lengths, from the left.
func lengthOf(v *view, p *ProgramPoint, text string) (n int64, wrong problem) {
	n, rest, sign := 1, text, byte('*')
	for {
		word, after := rest, ""
		end := strings.IndexAny(rest, "*/")
		if end >= 0 {
			word, after = rest[:end], rest[end+1:]
		}
		by, wrong := factorOf(v, p, strings.TrimSpace(word))
		switch {
		case wrong.text != "":
			return 0, wrong
		case sign == '/' && (by == 0 || n%by != 0):
			return 0, problem{text: fmt.Sprintf("%d is not divisible by %d", n, by)}
		case sign == '/':
			n /= by
		case n > 0 && by > maxCount/n:
			return 0, problem{text: fmt.Sprintf("at most %d is expected", int64(maxCount))}
		default:
			n *= by
		}
		if end < 0 {
			return n, problem{}
		}
		sign, rest = rest[end], after
	}
}

// factorOf returns a number or a length by its name, which has an effect then.
func factorOf(v *view, p *ProgramPoint, word string) (int64, problem) {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && n >= 0 && n <= maxCount {
		return n, problem{}
	}
	var names []string
	for i, l := range p.lengths {
		if l.Name == word {
			v.use(numbered("program.length", i) + ".length")
			return l.Length, problem{}
		}
		names = append(names, l.Name)
	}
	hint := "[[program.length]] gives lengths names"
	if near := nearest.To(word, names, 1); len(near) > 0 {
		hint = "did you mean " + quoted(near[0]) + "?"
	}
	return 0, problem{fmt.Sprintf("no length is called %s", quoted(word)), hint}
}

// withLengths replaces the names of lengths in braces in the text of an op: "times={heads}".
func withLengths(v *view, at string, p *ProgramPoint, text string) (string, bool) {
	for i, l := range p.lengths {
		if in := "{" + l.Name + "}"; strings.Contains(text, in) {
			v.use(numbered("program.length", i) + ".length")
			text = strings.ReplaceAll(text, in, strconv.FormatInt(l.Length, 10))
		}
	}
	if _, after, open := strings.Cut(text, "{"); open {
		name, _, _ := strings.Cut(after, "}")
		v.fail(at, problem{fmt.Sprintf("no length is called %s", quoted(name)),
			"[[program.length]] gives lengths names"})
		return text, false
	}
	return text, true
}
