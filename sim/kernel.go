package sim

import (
	"collsim/schedule"
	"collsim/sim/model"
)

// Cut says how a kernel is cut into blocks and waves, and what its time is made of if it has its
// device to itself.
type Cut = model.Cut

// CutOf is the cut of a step's kernel, and whether there is one: opaque kernels have none, nor has
// any on a device without SMs.
func CutOf(env *Env, step *schedule.Step) (Cut, bool) { return model.CutOf(env, step) }
