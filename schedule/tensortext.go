package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
)

// isProgram reports whether the schedule works on tensors only: its input and output have no
// elements.
func (s *Schedule) isProgram() bool {
	return len(s.Tensors) > 0 && s.Spec.Kind == collective.Custom &&
		!slices.ContainsFunc(s.Spec.Splits, func(row []int64) bool {
			return slices.ContainsFunc(row, func(n int64) bool { return n != 0 })
		})
}

// withoutVectors gives a program whose text has no splits an input and output without elements.
func (s *Schedule) withoutVectors() {
	if s.isProgram() && s.Spec.Splits == nil && s.Spec.Ranks <= maxRanks {
		none := make([]int64, s.Spec.Ranks)
		s.Spec.Splits = [][]int64{none, none}
	}
}

// writeTensors prints tensors, their cuts, and definitions.
func (s *Schedule) writeTensors(b *strings.Builder) {
	for i := range s.Tensors {
		b.WriteString(s.Tensors[i].words())
	}
	for i := range s.Defs {
		b.WriteString(s.Defs[i].words(s))
	}
}

// tensor reads "a given bfloat16 64x32 symmetric".
func (p *parser) tensor(args []string) (err error) {
	if len(args) < 4 || len(args) > 5 || len(args) == 5 && args[4] != "symmetric" {
		return fmt.Errorf("a tensor looks like: tensor a given bfloat16 64x32 symmetric")
	}
	t := Tensor{Name: args[0], Symmetric: len(args) == 5}
	role, err := index(roleNames[:], args[1])
	if err != nil {
		return err
	}
	t.Role = Role(role)
	if t.Type, err = dtype.Parse(args[2]); err != nil {
		return err
	}
	if t.Shape, err = collective.ParseShape(args[3]); err != nil {
		return err
	}
	if _, has := p.s.bufferOf(t.Name); has {
		return fmt.Errorf("a second %q", t.Name)
	}
	p.s.Tensors = append(p.s.Tensors, t)
	return nil
}

// define reads "c = (OPERATION) of a, b", or "g = all_reduce sum count=8 of a".
func (p *parser) define(args []string) error {
	text := strings.Join(args, " ")
	to, rest, ok := strings.Cut(text, " = ")
	what, from, of := cutLast(rest, " of ")
	if !ok || !of {
		return fmt.Errorf("a definition looks like: define g = all_gather count=64 of a")
	}
	d := Def{}
	if d.To, ok = p.s.bufferOf(to); !ok {
		return fmt.Errorf("%q is no tensor above", to)
	}
	for _, name := range strings.Split(from, ",") {
		b, ok := p.s.bufferOf(strings.TrimSpace(name))
		if !ok {
			return fmt.Errorf("%q is no tensor above", strings.TrimSpace(name))
		}
		d.From = append(d.From, b)
	}
	if op, ok := strings.CutPrefix(what, "("); ok {
		op, err := kernel.Parse(strings.TrimSuffix(op, ")"))
		d.Kernel = &op
		p.s.Defs = append(p.s.Defs, d)
		return err
	}
	if t := p.s.Tensor(d.From[0]); t != nil {
		d.Spec = &collective.Spec{Type: t.Type, Ranks: p.s.Spec.Ranks}
		p.s.Defs = append(p.s.Defs, d)
		return d.readCollective(strings.Fields(what))
	}
	return fmt.Errorf("%q is no tensor", from)
}

// readCollective reads "reduce sum root=3 post count=64".
func (d *Def) readCollective(words []string) (err error) {
	if d.Spec.Kind, err = collective.ParseKind(words[0]); err != nil {
		return err
	}
	for _, word := range words[1:] {
		name, value, numbered := strings.Cut(word, "=")
		n, wrong := strconv.ParseInt(value, 10, 64)
		switch {
		case word == "post":
			d.Spec.Avg = collective.AvgPost
		case numbered && wrong == nil && name == "root":
			d.Spec.Root = int(n)
		case numbered && wrong == nil && name == "count":
			d.Spec.Count = n
		case d.Spec.Kind.Reduces() && d.Spec.Op == 0:
			if d.Spec.Op, d.Spec.Factor, err = collective.ParseOp(word); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%q does not belong to the collective", word)
		}
	}
	return nil
}

// cutLast cuts a text at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}
