package schedule

import "collsim/collective"

// Causal is what a schedule must do that carries no data of its own: whose start must come before
// whose end, over messages and events, so that it can be a collective of that kind at all.
type Causal struct {
	Kind collective.Kind
	Root int
}
