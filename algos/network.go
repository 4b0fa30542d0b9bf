package algos

import (
	"fmt"
	"sync"

	"collsim/collective"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// A Network is what an algorithm that is made for a network knows of it (Algorithm.Make).
type Network struct {
	Graph *topology.Graph // its ranks are those of the collective
	Step  unit.Time       // what every step of a rank takes, besides its bytes
	// LaneRate is the bytes a second that one lane sends; 0 is unlimited.
	LaneRate unit.Rate

	lock sync.Mutex // of Graph, too, which caches routes
	made map[string]made
}

// made is a result of Once.
type made struct {
	value any
	err   error
}

// Once returns what a function finds out about a network, and calls it only the first time for each
// key.
func Once[T any](n *Network, key string, find func() (T, error)) (T, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	m, known := n.made[key]
	if !known {
		value, err := find()
		if m = (made{value, err}); n.made == nil {
			n.made = map[string]made{}
		}
		n.made[key] = m
	}
	return m.value.(T), m.err
}

// make calls Make, after checking what it gets.
func (a Algorithm) make(spec collective.Spec, o Options) (*schedule.Schedule, Pick, error) {
	err := a.check(spec, o)
	if err == nil {
		err = a.checkParams(o)
	}
	switch {
	case err != nil:
		return nil, Pick{}, err
	case o.Slices > 1:
		return nil, Pick{}, &Unfit{a.Name, "it has no slices; its pieces are tiles"}
	case spec.Ranks > 1 && o.Network != nil && spec.Ranks != len(o.Network.Graph.Ranks):
		return nil, Pick{}, fmt.Errorf("%s: %d ranks on a network of %d", a.Name, spec.Ranks,
			len(o.Network.Graph.Ranks))
	case spec.Ranks > 1 && o.Network == nil:
		return nil, Pick{}, &Unfit{a.Name, "it is made for a network, and none is known here"}
	}
	s, pick, err := a.Make(spec, o, func(name string) string { return a.Param(name, o) })
	if err != nil {
		return nil, Pick{}, &Unfit{a.Name, err.Error()}
	}
	return s, pick, nil
}
