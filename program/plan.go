package program

import (
	"fmt"
	"maps"
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// A plan is a program between two passes. A pass turns one plan into another.
type plan struct {
	*Program
	tensors []Tensor       // of the program, and those that passes have added
	at      map[string]int // of tensors, by name
	roles   map[string]schedule.Role
	homes   map[string]home // of tensors that are stored in others
	ops     []resolved
	piped   map[string]bool // first ops of pipelines
	passes  Lowering
	guide   Guide
	chosen  map[string]Chosen               // shared by all plans of a program
	kernels map[kernelOn]*schedule.Schedule // so are these: equal kernels have one
	notes   []Note
	decided Decisions
	// persistent says that buffers of communication are the same allocation in every iteration
	persistent bool
	used       map[string]use // how ops use tensors, once computed
	emitted    *scheduler     // the schedule, once made
	launches   int32          // of several calls at once
}

// use says how many ops write a tensor, and which op uses it last.
type use struct{ writers, last int }

// A home is where a tensor is stored in another: from an element on, as a part of it or, if shared,
// at times when other tensors are not.
type home struct {
	in     string
	off    int64
	shared bool
}

// A Note records what a pass did to ops, or did not, and why; or which tensors the backward pass
// leaves without a gradient.
type Note struct {
	Pass    string
	Ops     []string // none: the whole program
	Tensors []string // in place of ops
	Did     string
	Why     string
	// Saved is the time of the program without it less that with it, where Timed.
	Saved unit.Time
	Timed bool
}

// Decisions are the choices of passes that depend on sizes and times, by names of ops.
type Decisions struct {
	OneShot []string   // calls done in one shot
	Merged  [][]string // calls that became one
	Piped   []string   // first ops of pipelines
	Order   []string   // of units, by their first op; nil: as written
	// Backward has the algorithms of calls of the backward pass, by their names.
	Backward map[string]string
}

// A pass transforms a plan if it is on.
type pass struct {
	name  string
	on    func(*Lowering) bool
	apply func(*plan) (*plan, error)
}

// passTable lists the passes in their order.
func passTable() []pass {
	return []pass{
		{"layout", func(*Lowering) bool { return true }, layOut},
		{"lowering", func(l *Lowering) bool { return optional(l) }, unlowered},
		{"register", func(l *Lowering) bool { return l.Register }, register},
		{"persistent", func(l *Lowering) bool { return l.Persistent }, persist},
		{"one_shot", func(l *Lowering) bool { return l.OneShot > 0 && l.SymmetricMemory }, oneShot},
		{"bucket", func(l *Lowering) bool { return l.Bucket > 0 }, bucket},
		{"coalesce", func(l *Lowering) bool { return l.Coalesce }, coalesce},
		{"in_place", func(l *Lowering) bool { return l.InPlace }, inPlace},
		{"pipeline", func(l *Lowering) bool { return l.Pipeline != NoPipeline }, pipelines},
		{"reorder", func(l *Lowering) bool { return l.Reorder }, reorder},
		{"comm_buffer", func(l *Lowering) bool { return l.CommBuffer > 0 }, stage},
		{"reuse", func(l *Lowering) bool { return l.Reuse }, reuse},
	}
}

// newPlan returns the plan of a program as written.
func newPlan(l *lookup, passes Lowering, guide Guide) *plan {
	x := &plan{Program: l.Program, at: map[string]int{}, roles: map[string]schedule.Role{},
		homes: map[string]home{}, ops: l.ops, piped: map[string]bool{}, passes: passes,
		guide: guide, chosen: map[string]Chosen{},
		kernels: map[kernelOn]*schedule.Schedule{}, notes: slices.Clone(l.Program.notes)}
	for _, t := range l.tensors {
		x.add(t, l.role(t))
	}
	for i := range l.ops {
		if r := &l.ops[i]; r.reader != "" {
			x.note("shape", []string{r.Name}, fmt.Sprintf("%s is %v", r.Out, r.out.Shape),
				fmt.Sprintf("as %s reads it; shape says otherwise", r.reader))
		}
	}
	return x
}

// fork returns a copy that can be changed independently.
func (x *plan) fork() *plan {
	y := *x
	y.tensors, y.ops = slices.Clone(x.tensors), slices.Clone(x.ops)
	y.at, y.roles = maps.Clone(x.at), maps.Clone(x.roles)
	y.homes, y.piped = maps.Clone(x.homes), maps.Clone(x.piped)
	y.notes, y.used, y.emitted = slices.Clone(x.notes), nil, nil
	return &y
}

// useOf returns how the ops of a plan use a tensor. The ops must not change afterwards.
func (x *plan) useOf(name string) use {
	if x.used == nil {
		x.used = map[string]use{}
		for i := range x.ops {
			r := &x.ops[i]
			for _, t := range r.reads() {
				x.used[t] = use{x.used[t].writers, i}
			}
			for _, t := range r.writes() {
				x.used[t] = use{x.used[t].writers + 1, i}
			}
		}
	}
	return x.used[name]
}

// note adds a note.
func (x *plan) note(pass string, ops []string, did, why string) {
	x.notes = append(x.notes, Note{Pass: pass, Ops: ops, Did: did, Why: why})
}

// add adds a tensor that a pass needs.
func (x *plan) add(t Tensor, role schedule.Role) {
	x.at[t.Name], x.tensors = len(x.tensors), append(x.tensors, t)
	x.roles[t.Name] = role
}

// units returns the ops in order, in groups: pipelines, and single ops.
func (x *plan) units() (list [][]resolved) {
	for at := 0; at < len(x.ops); {
		n := 1
		if x.piped[x.ops[at].Name] {
			n = max(x.fusible(at), 1)
		}
		list = append(list, x.ops[at:at+n])
		at += n
	}
	return list
}

// answersOf returns the names by which others wait for a unit.
func answersOf(ops []resolved) (names []string) {
	for i := range ops {
		names = append(names, ops[i].answers()...)
	}
	return names
}

// time returns the time of a plan; known is false where Guide.Time is nil.
func (x *plan) time() (t unit.Time, known bool, err error) {
	if x.guide.Time == nil {
		return 0, false, nil
	}
	w, err := x.emit()
	if err != nil {
		return 0, false, err
	}
	t, err = x.guide.Time(w.result.Schedule)
	return t, err == nil, err
}

// total returns a plan with a note of what a pass did to the program, and the time that this saved.
func (x *plan) total(pass string, before *plan, did string) *plan {
	n := Note{Pass: pass, Did: did}
	was, known, err := before.time()
	if err == nil && known {
		var is unit.Time
		if is, n.Timed, err = x.time(); err == nil {
			n.Saved, n.Why = was-is, fmt.Sprintf("%v, %v without", is, was)
		}
	}
	if err != nil {
		n.Why = err.Error()
	}
	x.notes = append(x.notes, n)
	return x
}
