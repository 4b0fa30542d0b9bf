package report

import (
	"slices"

	"collsim/collective/calls"
	"collsim/formats/dumps"
)

// HangJSON makes the object of a judgement: whether it hangs, the findings, the cause first, and
// all waits.
func HangJSON(d *dumps.Dump, j *calls.Judgement) ([]byte, error) {
	t := hangText{Dump: d, Judgement: j}
	group := func(g calls.Group) Value {
		return object(members{{"name", Text(g.Name)}, {"about", some(g.About)},
			{"ranks", listOf(g.Ranks, Int[int])}})
	}
	hangs := slices.ContainsFunc(j.Findings, func(f calls.Finding) bool { return t.hangs(&f) })
	return encode(object(append(version(), members{{"form", Text(d.Form)},
		{"hangs", Bool(hangs)}, {"ranks", Int(len(d.Ranks))},
		{"calls", Int(t.number())}, {"groups", listOf(d.Groups, group)},
		{"findings", listOf(j.Findings, t.findingValue)}, {"waits", listOf(j.Waits, waitValue)},
		{"notes", listOf(d.Notes, Text)}}...)))
}

// findingValue makes the object of a finding.
func (t *hangText) findingValue(f calls.Finding) Value {
	value := func(v calls.Value) Value {
		return object(members{{"value", Text(v.Text)}, {"ranks", listOf(v.Ranks, Int[int])}})
	}
	last := func(rank int) Value {
		return object(members{{"rank", Int(rank)}, {"last", t.lastValue(rank)}})
	}
	at := Value{}
	if f.Call != nil {
		at = callValue(f.Call)
	}
	return object(members{{"fault", Text(f.Fault.String())}, {"text", Text(t.verdict(&f))},
		{"group", Int(f.Group)}, {"call", at}, {"ranks", listOf(f.Ranks, Int[int])},
		{"waiting", listOf(f.Waiting, Int[int])}, {"completed", Bool(f.Completed)},
		{"field", some(string(f.Difference.Field))},
		{"values", listOf(f.Difference.Values, value)}, {"circle", listOf(f.Circle, waitValue)},
		{"last", listOf(f.Ranks, last)}})
}

// lastValue makes the object of a rank's last call, null if it has made none.
func (t *hangText) lastValue(rank int) Value {
	at := slices.IndexFunc(t.Ranks, func(r calls.Rank) bool { return r.Number == rank })
	if at < 0 || len(t.Ranks[at].Calls) == 0 {
		return Value{}
	}
	all := t.Ranks[at].Calls
	return callValue(&all[len(all)-1])
}

func waitValue(w calls.Wait) Value {
	return object(members{{"call", callValue(w.Meeting.First())},
		{"ranks", listOf(w.Ranks, Int[int])}, {"for", listOf(w.For, Int[int])}})
}

// callValue makes the object of a call.
func callValue(c *calls.Call) Value {
	return object(members{{"group", Int(c.Group)}, {"number", known(!c.Message(), Int(c.Seq))},
		{"name", Text(c.Name)}, {"type", some(c.Type)},
		{"in", natural(c.In)}, {"out", natural(c.Out)},
		{"root", known(c.Kind.Rooted() && c.Root >= 0, Int(c.Root))},
		{"peer", known(c.Message(), Int(c.Peer))},
		{"state", some(c.State.String())},
		{"frame", some(c.Frame)}})
}
