package report

import (
	"math"

	"collsim/collective"
	"collsim/program"
	"collsim/run"
	"collsim/unit"
)

// programFields lists the members of a program's result. Those from engine to iterations_ps are
// there if it came to its end, bubble and stages if it is a pipeline, library if calls run as the
// machine's library does them.
func programFields() fields[run.ProgramResult] {
	type r = run.ProgramResult
	list := fields[r]{
		derivedField("id", aText(), func(r *r) Value { return Text(r.Point.ID) }),
		derivedField("point", anObject(), func(r *r) Value { return axesOf(r.Point.Point) }),
		textField("proof", func(r *r) *string { return &r.Proof }, run.Proved, run.Failed, run.Off),
		textField("numbers", func(r *r) *string { return &r.Numbers }, append(verdicts(),
			"unbounded")...),
		textField("digest", func(r *r) *string { return &r.Digest }).when(func(r *r) bool {
			return r.Digest != ""
		}),
		listField("violations", violationFields(), func(r *r) *[]run.Violation {
			return &r.Violations
		}),
		listField("passes", noteFields(), func(r *r) *[]program.Note { return &r.Lowered.Notes }),
		programMemory(),
		textField("numbers_why", func(r *r) *string { return &r.NumbersOff }).when(func(r *r) bool {
			return r.NumbersOff != ""
		}).ifAny(),
		listField("compare", tensorFields(), func(r *r) *[]run.TensorComparison {
			return &r.Compared
		}).ifSet(),
	}
	for _, f := range append(programTimes(), stageFields()...) {
		list = append(list, f.ifAny())
	}
	list = append(list, faultsField(func(r *r) **run.Faulted { return &r.Faulted }),
		arrivalField(func(r *r) **run.Arrived { return &r.Arrived }))
	return append(list, listField("library", libraryFields(), func(r *r) *[]run.LibraryCall {
		return &r.Library
	}).ifSet(), ownField[r]("ops", anArray(opFields().form()), opsValue, setOps))
}

// programMemory makes the field of the memory, null where it is not known.
func programMemory() field[run.ProgramResult] {
	type r = run.ProgramResult
	f := structField("memory", memoryFields(), func(r *r) *program.Usage { return &r.Lowered.Memory })
	f = f.when(func(r *r) bool { return !r.Point.Unplaced })
	f.none = func(r *r) { r.Point.Unplaced = true }
	return f
}

// programTimes lists the times of a program.
func programTimes() (list fields[run.ProgramResult]) {
	type r = run.ProgramResult
	time := wholeField("time_ps", func(r *r) *unit.Time { return &r.Time })
	time.set = func(r *r, v Value) { r.Timed, r.Time = true, unit.Time(v.whole) }
	all := fields[r]{
		textField("engine", func(r *r) *string { return &r.Engine }),
		wholeField("classes", func(r *r) *int { return &r.Classes }).ifSet(),
		time,
		wholeField("exposed_rank", func(r *r) *int { return &r.Rank }),
		wholeField("compute_ps", func(r *r) *unit.Time { return &r.Compute }),
		ownField("collectives_ps", aWhole(), func(r *r) Value { return Int(r.Calls()) },
			func(r *r, v Value) { r.Hidden += unit.Time(v.whole) }),
		ownField("exposed_ps", aWhole(), func(r *r) Value { return Int(r.Exposed()) },
			func(r *r, v Value) { r.Hidden -= unit.Time(v.whole) }),
		wholeField("moving_ps", func(r *r) *unit.Time { return &r.Moving }),
		wholeField("waiting_ps", func(r *r) *unit.Time { return &r.Waiting }),
		wholeField("idle_ps", func(r *r) *unit.Time { return &r.Idle }),
		wholeField("bytes_sent", func(r *r) *unit.Bytes { return &r.BytesSent }),
		ownField("iterations_ps", anArray(aWhole()), func(r *r) Value {
			return listOf(r.Iterations, Int[unit.Time])
		}, func(r *r, v Value) {
			for _, one := range v.list {
				r.Iterations = append(r.Iterations, unit.Time(one.whole))
			}
		}),
	}
	for _, f := range all {
		list = append(list, f.when(func(r *r) bool { return r.Timed }))
	}
	return list
}

// stageFields lists the members of a pipeline's stages. Each has its bubble, the share of time that
// is lost in it.
func stageFields() (list fields[run.ProgramResult]) {
	type r = run.ProgramResult
	stage := anObject(must("name", aText()), must("ranks", aWhole()), must("bubble", aNumber()))
	all := fields[r]{
		derivedField("bubble", aNumber(), func(r *r) Value { return Number(bubbleOf(r, r.Stages...)) }),
		ownField("stages", anArray(stage), func(r *r) Value {
			return listOf(r.Stages, func(s run.Stage) Value {
				return object(members{{"name", Text(s.Name)}, {"ranks", Int(s.Ranks)},
					{"bubble", Number(bubbleOf(r, s))}})
			})
		}, func(r *r, v Value) {
			for _, one := range v.list {
				s := run.Stage{Name: one.get("name").text, Ranks: int(one.get("ranks").whole)}
				lost := float64(float64(s.Ranks)*float64(r.Time)) * one.get("bubble").float()
				s.Lost = unit.Time(math.Round(lost))
				r.Stages = append(r.Stages, s)
			}
		}),
	}
	for _, f := range all {
		list = append(list, f.when(func(r *r) bool { return r.Timed && r.Stages != nil }))
	}
	return list
}

// libraryFields lists the members of a call that names no algorithm. Such a call runs as the
// machine's library does it.
func libraryFields() fields[run.LibraryCall] {
	type c = run.LibraryCall
	return fields[c]{
		ownField("kind", aText(), func(c *c) Value { return Text(c.Kind.String()) }, func(c *c, v Value) {
			c.Kind, _ = collective.ParseKind(v.text) // what is none differs from the line
		}),
		wholeField("bytes", func(c *c) *unit.Bytes { return &c.Bytes }),
		structField("library", candidateFields(), func(c *c) *run.Candidate { return &c.Library }),
		structField("fastest", candidateFields(), func(c *c) *run.Candidate { return &c.Fastest }),
	}
}

// noteFields lists the members of what a pass did.
func noteFields() fields[program.Note] {
	type n = program.Note
	saved := wholeField("saved_ps", func(n *n) *unit.Time { return &n.Saved }).when(func(n *n) bool {
		return n.Timed
	})
	saved.set = func(n *n, v Value) { n.Timed, n.Saved = true, unit.Time(v.whole) }
	return fields[n]{
		textField("pass", func(n *n) *string { return &n.Pass }),
		textsField("ops", func(n *n) *[]string { return &n.Ops }),
		textField("did", func(n *n) *string { return &n.Did }),
		textField("why", func(n *n) *string { return &n.Why }).when(func(n *n) bool {
			return n.Why != ""
		}),
		saved,
		textsField("tensors", func(n *n) *[]string { return &n.Tensors }),
	}
}

// memoryFields lists the members of the memory that a program takes on each rank.
func memoryFields() fields[program.Usage] {
	type m = program.Usage
	alive := fields[program.Held]{
		textField("tensor", func(h *program.Held) *string { return &h.Name }),
		wholeField("bytes", func(h *program.Held) *unit.Bytes { return &h.Bytes }),
	}
	return fields[m]{
		wholeField("bytes", func(m *m) *unit.Bytes { return &m.Bytes }),
		wholeField("workspace_bytes", func(m *m) *unit.Bytes { return &m.Workspace }),
		wholeField("peak_bytes", func(m *m) *unit.Bytes { return &m.Peak }),
		textsField("peak_at", func(m *m) *[]string { return &m.At }),
		listField("alive", alive, func(m *m) *[]program.Held { return &m.Alive }),
	}
}

// opOf is an op with its time; nil: the program has none.
type opOf struct {
	program.LoweredOp
	time *run.OpTime
}

// opFields lists the members of an op, with its times where the program has some.
func opFields() fields[opOf] {
	type o = opOf
	list := fields[o]{
		textsField("names", func(o *o) *[]string { return &o.Names }),
		wholeField("iteration", func(o *o) *int { return &o.Iteration }),
		textField("stream", func(o *o) *string { return &o.Stream }),
		textField("is", func(o *o) *string { return &o.Became }),
	}
	type t = run.OpTime
	times := fields[t]{
		wholeField("start_ps", func(t *t) *unit.Time { return &t.Start }),
		wholeField("end_ps", func(t *t) *unit.Time { return &t.End }),
		derivedField("exposed_ps", aWhole(), func(t *t) Value { return Int(t.Exposed()) }),
		wholeField("moving_ps", func(t *t) *unit.Time { return &t.Moving }),
		wholeField("waiting_ps", func(t *t) *unit.Time { return &t.Waiting }),
	}
	time := func(o *o) *t { return o.time }
	for _, f := range partOf(times, time, time) {
		list = append(list, f.ifAny())
	}
	return list
}

func opsValue(r *run.ProgramResult) Value {
	ops := make([]opOf, len(r.Lowered.Ops))
	for i, o := range r.Lowered.Ops {
		if ops[i].LoweredOp = o; r.Timed {
			ops[i].time = &r.Ops[i]
		}
	}
	return opFields().all(ops)
}

func setOps(r *run.ProgramResult, v Value) {
	r.Ops = make([]run.OpTime, len(v.list))
	r.Lowered.Ops = make([]program.LoweredOp, len(v.list))
	for i, one := range v.list {
		o := opOf{time: &r.Ops[i]}
		opFields().read(one, &o)
		r.Lowered.Ops[i] = o.LoweredOp
	}
}
