package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// The pass one_shot executes small sums in one round, as torch's Inductor does where symmetric
// memory is enabled (torch/_inductor/comm_lowering.py, _should_lower_as_one_shot_all_reduce). It
// applies to sums of at most the threshold, on a buffer that can be realised for communication.

// oneShot applies the pass.
func oneShot(x *plan) (*plan, error) {
	y := x.fork()
	decided := x.guide.Decided
	y.ops = nil
	for i := range x.ops {
		r := x.ops[i]
		shoots := false
		if r.call != nil && r.call.Kind == collective.AllReduce && decided == nil {
			shoots = y.decideOneShot(x, &r)
		} else if decided != nil {
			shoots = slices.Contains(decided.OneShot, r.Name)
		}
		if shoots {
			y.shoot(&r)
		} else {
			y.ops = append(y.ops, r)
		}
	}
	if len(y.decided.OneShot) == 0 {
		return y, nil
	}
	return y.total("one_shot", x, fmt.Sprintf("%d in one shot", len(y.decided.OneShot))), nil
}

// decideOneShot decides on a sum of x, and notes why.
func (y *plan) decideOneShot(x *plan, r *resolved) bool {
	size := unit.Bytes(r.in[0].Shape.Elements() * int64(r.in[0].Type.Width()))
	if why, can := x.oneShotOf(r, size); !can {
		y.note("one_shot", r.names(), "left as it is", why)
		return false
	}
	y.decided.OneShot = append(y.decided.OneShot, r.Name)
	did := "one-shot"
	if r.Algorithm != "" {
		did += " in the place of " + r.Algorithm
	}
	if r.inPlace() {
		did += ", copied back"
	}
	y.note("one_shot", r.names(), did, fmt.Sprintf("%v, at most %v", size, x.passes.OneShot))
	return true
}

// oneShotOf returns why a call is not done in one shot, and whether it can be.
func (x *plan) oneShotOf(r *resolved, size unit.Bytes) (why string, can bool) {
	switch {
	case r.call.Op != collective.Sum:
		return fmt.Sprintf("%v is no sum", r.call.Op), false
	case size > x.passes.OneShot:
		return fmt.Sprintf("%v, more than %v", size, x.passes.OneShot), false
	}
	b, why := x.bufferOf(r.In[0])
	if !b.Realisable() {
		return why, false
	}
	if err := b.Realise(); err != nil {
		return err.Error(), false
	}
	return "", true
}

// shoot adds a call that is done in one shot, on symmetric memory. An in-place call gets a separate
// result, and a kernel copies that back; only this kernel waits for it.
func (x *plan) shoot(r *resolved) {
	x.tensors[x.at[r.In[0]]].Memory = Symmetric
	o := *r.Op
	o.Algorithm = "one-shot"
	shot := *r
	shot.Op, shot.in = &o, slices.Clone(r.in)
	shot.in[0].Memory = Symmetric
	if !r.inPlace() {
		x.ops = append(x.ops, shot)
		return
	}
	call := *r.call
	call.InPlace = false
	shot.call, o.Async = &call, true
	shot.out = Tensor{Name: x.fresh("shot_" + r.Out), Type: r.out.Type, Shape: r.out.Shape}
	o.Out = shot.out.Name
	x.add(shot.out, schedule.Inner)
	back := x.copied(r, "copy back", shot.out, r.out)
	back.of = r.answers()
	x.ops = append(x.ops, shot, back)
}
