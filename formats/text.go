package formats

import (
	"errors"
	"fmt"
	"io"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/input"
	"collsim/schedule"
)

// readText reads our own text form. Options of the problem replace those in the text.
func readText(r io.Reader, o Options) (*File, error) {
	text, err := input.Limit{Bytes: o.Limit}.All(r)
	if err != nil {
		return nil, err
	}
	s, err := schedule.Parse(string(text))
	var wrong *schedule.ParseError
	if errors.As(err, &wrong) {
		return nil, &Error{File: o.File, Line: wrong.Line, Text: wrong.Text}
	}
	if err != nil {
		return nil, err
	}
	spec, changed, err := respecified(s.Spec, o)
	if err != nil {
		return nil, err
	}
	if changed {
		if s, err = refit(s, spec); err != nil {
			return nil, err
		}
	}
	where := func(_, _, _ int) Place { return Place{Block: -1, Step: -1} }
	return &File{Name: s.Name, Schedule: s, Where: where}, nil
}

// respecified applies options to a problem and reports whether they change it.
func respecified(spec collective.Spec, o Options) (collective.Spec, bool, error) {
	changed := o.As != 0 || o.Root != 0 || o.Type != 0 || o.Op != 0 || o.Count != 0 ||
		o.Bytes != 0 || o.Place != AsFile
	if o.As != 0 {
		spec.Kind = o.As
	}
	if o.Root != 0 {
		spec.Root = o.Root
	}
	if spec.Kind != collective.Barrier {
		spec.Type = orElse(o.Type, orElse(spec.Type, dtype.Float32))
	}
	switch {
	case !spec.Kind.Reduces() && spec.Kind != collective.Custom:
		spec.Op, spec.Avg, spec.Factor = 0, 0, 0
	case o.Op != 0:
		spec.Op, spec.Avg, spec.Factor = o.Op, o.Avg, o.Factor
	default:
		spec.Op = orElse(spec.Op, collective.Sum)
	}
	if o.Place != AsFile {
		spec.InPlace = o.Place == InPlace
	}
	switch {
	case (o.Count != 0 || o.Bytes != 0) && spec.Kind.Splits():
		return spec, changed, fmt.Errorf("the sizes of %v are in the file, block by block", spec.Kind)
	case o.Count != 0:
		spec.Count = o.Count
	case o.Bytes != 0:
		spec = spec.WithBytes(o.Bytes)
	}
	return spec, changed, nil
}

func orElse[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}

// Fit adapts a schedule in our text form to another count, type or operator. Kind, ranks, root and
// in place must be the same.
func Fit(s *schedule.Schedule, spec collective.Spec) (*schedule.Schedule, error) {
	own := s.Spec
	for _, fact := range []struct{ what, has, wants string }{
		{"the collective", own.Kind.String(), spec.Kind.String()},
		{"ranks", fmt.Sprint(own.Ranks), fmt.Sprint(spec.Ranks)},
		{"root", fmt.Sprint(own.Root), fmt.Sprint(spec.Root)},
		{"in place", fmt.Sprint(own.InPlace), fmt.Sprint(spec.InPlace)},
		{"splits", fmt.Sprint(own.Splits), fmt.Sprint(spec.Splits)},
	} {
		if fact.has != fact.wants {
			return nil, fmt.Errorf("the schedule is for %s %s, not %s", fact.what, fact.has, fact.wants)
		}
	}
	return refit(s, spec)
}

// refit rewrites a schedule in our text form for another problem.
func refit(s *schedule.Schedule, spec collective.Spec) (*schedule.Schedule, error) {
	if s.Teams() != nil {
		return nil, errors.New(
			"the schedule has teams, each with a problem of its own: no other size, " +
				"type or operator fits it; in a scenario collective.teams says who the teams are")
	}
	scratch, ok := s.ScratchFor(spec.Count)
	if !ok {
		return nil, fmt.Errorf("the schedule has a scratch buffer of %d elements for count %d, which "+
			"does not say how long it is for %d: neither its blocks are as long as one of input or "+
			"output, nor is it so many times the count", s.Memory, s.Spec.Count, spec.Count)
	}
	fitted := *s
	fitted.Spec, fitted.Memory = spec, scratch
	return schedule.Parse(fitted.String()) // checks the cuts of the new size
}
