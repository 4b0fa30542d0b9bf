package schedule

import "collsim/collective"

// Causal says which ranks must start before which others end, over messages and events, in a
// schedule that carries no data. It is the order that a collective of this kind needs.
type Causal struct {
	Kind collective.Kind
	Root int
}
