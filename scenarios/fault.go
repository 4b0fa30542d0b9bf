package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"collsim/unit"
)

// Fault is a [[fault]]: something that goes wrong on a rank.
type Fault struct {
	Rank int
	Does string    // of faultKinds
	Late unit.Time // of "late": for how long
	// At is the moment where neither Step nor Op names it. Step is the number of the rank's step, −1
	// if none is named; Op is an op of a program.
	At   unit.Time
	Step int
	Op   string
}

// String describes the fault: "rank 3 stops at 3 us".
func (f *Fault) String() string {
	text := fmt.Sprintf("rank %d %s", f.Rank, f.Does)
	switch f.Does {
	case "late":
		text = fmt.Sprintf("rank %d is %v late", f.Rank, f.Late)
	case "drops":
		text += " its next message"
	}
	switch {
	case f.Op != "":
		return text + " at op " + f.Op
	case f.Step >= 0:
		return fmt.Sprintf("%s at step %d", text, f.Step)
	}
	return fmt.Sprintf("%s at %v", text, f.At)
}

// faultKinds lists what a rank may do; "late" is followed by a time.
func faultKinds() []string { return []string{"stops", "dies", "drops", "late"} }

// mostFaults bounds the faults of a scenario: to find the moment of each may take simulations.
const mostFaults = 64

func faultKeys() []Key {
	return []Key{
		{Path: "fault.rank", kind: aWhole, max: maxRanks - 1, Example: "3", Sweep: true,
			Doc: "The rank on which something goes wrong.", by: (*view).fault},
		{Path: "fault.does", kind: aText, Example: `"late 5 us"`, Sweep: true,
			Doc: "What goes wrong: the rank stops (it begins no step any more, as with a GPU that " +
				"hangs), dies (so, too, and its process is gone), drops the next message that it sends " +
				"to another rank, or is late by a time for which it begins no step.",
			by: (*view).fault},
		{Path: "fault.at", kind: aTime, max: maxWait, Example: `"3 us"`, Sweep: true,
			Doc: "When: what has begun then goes on, what would begin then does not.",
			by:  (*view).fault},
		{Path: "fault.step", kind: aWhole, max: 1 << 40, Example: "7", Sweep: true,
			Doc: "Or at which step of the rank: those of all its lanes are counted, from 0, in the order " +
				"in which they begin.", by: (*view).fault},
		{Path: "fault.op", kind: aText, Example: `"gather"`, Sweep: true,
			Doc: "Or, of a program, at which of its ops, by name.", by: (*view).fault},
	}
}

// faults reads [[fault]].
func (v *view) faults(p *Point) bool {
	n, ok := v.d.count("fault"), true
	if n > mostFaults {
		v.fail(numbered("fault", mostFaults), problem{fmt.Sprintf("%d faults; a scenario has at most %d",
			n, mostFaults), ""})
		return false
	}
	for i := range n {
		f, readable := v.fault(numbered("fault", i)+".", p.Topology)
		p.Faults = append(p.Faults, f)
		ok = ok && readable
	}
	return ok
}

// fault reads an entry, by its numbered path with a point behind.
func (v *view) fault(at string, t *Topology) (f Fault, ok bool) {
	rank, ok1 := need[int64](v, at+"rank", "the rank on which something goes wrong is expected")
	does, ok2 := need[string](v, at+"does", "what the rank does is expected")
	f.Rank = int(rank)
	var timed, stepped, named, ok3, ok4, ok5 bool
	f.At, timed, ok3 = fetch[unit.Time](v, at+"at")
	step, stepped, ok4 := fetch[int64](v, at+"step")
	f.Op, named, ok5 = fetch[string](v, at+"op")
	if f.Step = -1; stepped {
		f.Step = int(step)
	}
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return f, false
	}
	switch ranks := ranksOf(t); {
	case !doesOf(v, at+"does", does, &f):
		return f, false
	case ranks > 0 && f.Rank >= ranks:
		v.fail(at+"rank", problem{"no such rank; " + ranksUpTo(ranks) + " is expected", ""})
	case !timed && !stepped && !named:
		v.missing(at[:len(at)-1], "at", "when is expected: at, step or, of a program, op",
			v.example(at+"at"))
	case named && (timed || stepped):
		v.fail(at+"op", problem{"at or step says when already", "leave out one of them"})
	case timed && stepped:
		v.fail(at+"step", problem{"at says when already", "leave out one of them"})
	default:
		return f, true
	}
	return f, false
}

// ranksOf returns the number of ranks; 0 where the network could not be read.
func ranksOf(t *Topology) int {
	if t == nil {
		return 0
	}
	return t.Ranks
}

// doesOf reads what a rank does: "stops", "late 5 us".
func doesOf(v *view, at, text string, f *Fault) bool {
	word, rest, timed := strings.Cut(text, " ")
	f.Does = word
	switch expected := strings.Join(faultKinds()[:3], ", ") + ` or "late 5 us" is expected`; {
	case !slices.Contains(faultKinds(), word) || timed && word != "late":
		v.fail(at, problem{expected, ""})
	case word == "late" && !timed:
		v.fail(at, problem{"how late is expected behind it", `for example "late 5 us"`})
	case word != "late":
		return true
	default:
		var err error
		if f.Late, err = unit.ParseTime(rest); err == nil && f.Late >= 0 && int64(f.Late) <= maxWait {
			return true
		}
		if err == nil {
			err = fmt.Errorf("%v is not from 0 to %v", f.Late, unit.Time(maxWait))
		}
		v.fail(at, problem{err.Error(), expected})
	}
	return false
}

// faultsFit refuses faults that a collective cannot have.
func faultsFit(v *view, p *Point) bool {
	for i, f := range p.Faults {
		at := numbered("fault", i)
		switch {
		case f.Op != "":
			v.fail(at+".op", problem{"a collective has no ops", "write at or step"})
		case p.Benchmark.Calls > 0:
			v.fail(at+".does", problem{"a fault is of a single call, not of a loop of them",
				"leave out [benchmark]"})
		default:
			continue
		}
		return false
	}
	return true
}
