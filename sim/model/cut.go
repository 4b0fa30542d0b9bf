package model

import (
	"collsim/schedule"
	"collsim/unit"
)

// Cut describes how a kernel is cut into blocks, and the parts of its time if it has its device to
// itself.
type Cut struct {
	Op            string
	Rows, Columns int64 // of a tile
	Split         int64 // parts of K
	Blocks, Waves int64
	Takes         unit.Time // Start and the longer of the other two, with what is not hidden
	// Start is the time to start the kernel. Arithmetic is that of all its waves of blocks, and Memory
	// that of its bytes at the memory's bandwidth.
	Start, Arithmetic, Memory unit.Time
}

// Bound names the longest part of a kernel's time: "arithmetic", "memory" or "start".
func (c *Cut) Bound() string {
	switch {
	case c.Start >= max(c.Arithmetic, c.Memory):
		return "start"
	case c.Memory > c.Arithmetic:
		return "memory"
	}
	return "arithmetic"
}

// CutOf returns the cut of a step's kernel. It reports false where the kernel has no grid: an
// opaque kernel, or any kernel on a device without a GPU model.
func CutOf(env *Env, step *schedule.Step) (c Cut, cut bool) {
	r := &Rules{Env: *env}
	if step.Kernel == nil || step.OpaqueTime() > 0 || !r.HasGPU() {
		return Cut{}, false
	}
	op := *step.Kernel
	g := r.GridOf(0, &op, step.Launch)
	if g.Blocks == 0 || !g.Moves() {
		return Cut{}, false
	}
	places, stay := int64(env.Device.GPU.SMs)*int64(r.PerSM(step.Launch)), false
	if step.Launch != nil && step.Launch.Blocks > 0 {
		places, stay = int64(step.Launch.Blocks), true
	}
	c = Cut{Op: op.String(), Rows: g.Tile.Rows, Columns: g.Tile.Columns, Split: g.Split,
		Blocks: g.Blocks, Waves: over(g.Blocks, places), Start: g.start, Takes: g.Alone(places, stay)}
	_, bytes := g.Resident(places)
	c.Arithmetic = unit.Time(unit.MultiplyCapped(int64(g.Time), c.Waves))
	c.Memory = g.crosses(bytes)
	return c, true
}
