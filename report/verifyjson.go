package report

import (
	"collsim/collective"
	"collsim/proof"
	"collsim/run"
	"collsim/schedule"
)

// VerificationJSON writes verifications: an object for one, an array of them for several.
func VerificationJSON(list ...*run.Verification) ([]byte, error) {
	return encode(oneOrAll(list, verificationValue))
}

// verificationValue makes the object of a verification. A file of requests, which has no schedule,
// has no kind and no ranks. Without a proof there are no counts.
func verificationValue(v *run.Verification) Value {
	var kind, ranks, scratch, problem, program Value
	ordered := false // the order in which kernels add is not compared
	if s := v.Schedule; s != nil {
		kind, ranks = Text(s.Spec.Kind.String()), Int(s.Spec.Ranks)
		scratch, problem = Int(scratchBytes(v)), problemValue(s.Spec)
		if size := s.Contents(); size.Tensors > 0 {
			problem, program = Value{}, contentsValue(size, v.Proof)
		}
		ordered = v.Proof != nil && !s.Computes()
	}
	var sent, flows Value
	p := v.Proof
	if p == nil {
		p = &proof.Proof{}
	} else if v.Format != "scenario" { // a scenario may have very many schedules
		sent = listOf(sentBytes(p, v.Schedule.Spec.Ranks), Int[int64])
		flows = listOf(p.Traffic, flowValue)
	}
	proven := func(value Value) Value { return known(v.Proof != nil, value) }
	list := members{
		{"file", Text(v.File)},
		{"format", Text(v.Format)},
		{"id", some(v.ID)},
		{"kind", kind},
		{"ranks", ranks},
		{"ok", Bool(v.Good())},
		{"violations", violationFields().all(v.Violations)},
		{"min_slots", proven(Int(p.MinSlots))},
		{"rounds", proven(Int(p.Rounds))},
		{"messages", proven(Int(p.Messages))},
		{"bytes_sent", proven(Int(p.BytesSent))},
		{"keeps_rank_order", known(ordered, Bool(p.KeepsRankOrder))},
		{"same_tree", known(ordered, Bool(p.SameTree))},
		{"steps", proven(Int(p.Steps))},
		{"sent_bytes", sent}, // by rank
		{"flows", flows},
		{"name", Text(v.Name)},
		{"collective", problem},
		{"scratch_bytes", scratch},
		{"slots", known(v.Slots > 0, Int(v.Slots))}, // slots of a connection; null: any number
		{"sizes", some(v.Sizes)},                    // the sizes that the file supports, in words
		{"causal", causalValue(v.Causal)},
		{"notes", listOf(v.Notes, Text)},
		// Whether a rank may begin a call as soon as its last call has ended there; and why not.
		{"back_to_back", known(v.Calls > 0, Bool(v.Calls == 2))},
		{"next_call", violationFields().all(v.NextCall)},
		{"ranks_walked", proven(Int(p.Walked))}, // 1 where one rank stands for all
	}
	if v.Made != nil { // the calls of a file that says who takes part in each
		list = append(list, member{"made", listOf(v.Made, Text)})
	}
	if v.Ranges != nil { // where the size decides which messages a file sends
		list = append(list, member{"size_ranges", listOf(v.Ranges, rangeValue)})
	}
	if program.kind != isNull { // a collective has none
		list = append(list, member{"program", program})
	}
	return object(list)
}

// rangeValue makes the object of a range of sizes with one verdict, and the first violation at the
// least of them. ok is null where the range was not judged.
func rangeValue(r run.SizeRange) Value {
	var first Value
	if r.Violation != nil {
		first = violationFields().write(r.Violation)
	}
	return object(members{{"from_bytes", Int(r.From)}, {"to_bytes", known(r.To > 0, Int(r.To))},
		{"ok", known(r.Judged, Bool(r.Violation == nil))}, {"violation", first}})
}

// contentsValue makes the object of a program's contents. The tensors that no line defines are null
// unless the program was proven.
func contentsValue(size schedule.Contents, p *proof.Proof) Value {
	var undefined Value
	if p != nil {
		undefined = listOf(p.Undefined, Text)
	}
	return object(members{{"kernels", Int(size.Kernels)}, {"collectives", Int(size.Collectives)},
		{"parts", Int(size.Parts)}, {"tensors", Int(size.Tensors)}, {"tensor_bytes", Int(size.Bytes)},
		{"undefined", undefined}})
}

// problemValue makes the object of a collective. A barrier has no type.
func problemValue(spec collective.Spec) Value {
	return object(members{{"bytes", Int(spec.Bytes())}, {"count", Int(run.CountOf(spec))},
		{"dtype", known(spec.Kind != collective.Barrier, Text(spec.Type.String()))},
		{"op", Text(run.OpOf(spec))}, {"root", Int(rootOf(spec))}, {"in_place", Bool(spec.InPlace)}})
}

// flowValue makes the object of the bytes from one rank to another. −1 stands for a switch: as
// sender of sums that it has computed, as receiver of what it multicasts.
func flowValue(f proof.Traffic) Value {
	return object(members{{"from", Int(f.From)}, {"to", Int(f.To)}, {"bytes", Int(f.Bytes)}})
}

// causalValue makes the object of the order that a schedule without data must keep.
func causalValue(c *schedule.Causal) Value {
	if c == nil {
		return Value{}
	}
	return object(members{{"kind", Text(c.Kind.String())}, {"root", Int(c.Root)}})
}
