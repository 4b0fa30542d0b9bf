package sim

import (
	"collsim/schedule"
	"collsim/sim/model"
)

// Cut describes how a kernel is cut into blocks and waves, and the parts of its time if it has its
// device to itself.
type Cut = model.Cut

// CutOf returns the cut of a step's kernel. It reports false for opaque kernels, and on a device
// without SMs.
func CutOf(env *Env, step *schedule.Step) (Cut, bool) { return model.CutOf(env, step) }
