package algos

import (
	"strings"

	"collsim/collective"
	"collsim/schedule"
)

// Own reports whether the algorithm decides by itself how its schedule is cut. It takes no slices
// then, and channels only if it is made for a network.
func (a Algorithm) Own() bool { return a.Plan != nil || a.Chooses != nil || a.Make != nil }

// chosen returns the algorithm that Chooses comes to, and its options.
func (a Algorithm) chosen(spec collective.Spec, o Options) (Algorithm, Options, error) {
	if err := a.check(spec, o); err != nil {
		return a, o, err
	}
	if err := a.checkParams(o); err != nil {
		return a, o, err
	}
	if err := a.refuseCopies(o); err != nil {
		return a, o, err
	}
	chosen, how, err := a.Chooses(spec, o, func(name string) string { return a.Param(name, o) })
	if err != nil {
		return a, o, &Unfit{a.Name, err.Error()}
	}
	return chosen, how, nil
}

// buildChosen builds the schedule of the algorithm that Chooses comes to, under this one's name.
func (a Algorithm) buildChosen(spec collective.Spec, o Options) (*schedule.Schedule, error) {
	chosen, o, err := a.chosen(spec, o)
	if err != nil {
		return nil, err
	}
	s, err := chosen.Build(spec, o)
	if err != nil {
		return nil, err
	}
	s.Name = a.Name
	return s, nil
}

// kindsText formats the names of kinds.
func kindsText(kinds []collective.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, " and ")
}
