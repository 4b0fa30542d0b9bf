package event

import (
	"cmp"
	"slices"

	"collsim/sim/model"
)

// faults holds what goes wrong on ranks, and counts what their lanes begin. It is off where nothing
// goes wrong and nobody asks what begins.
type faults struct {
	e      *engine
	list   []model.Fault
	ofRank [][]int32 // by rank: its faults, the earliest first
	struck []bool
	begun  []int32 // by lane: sub-steps
	lost   []int32 // messages that never arrive
	begins *[]model.Begin
	watch  int32 // the rank whose steps begins gets
}

func newFaults(e *engine) faults {
	f := faults{e: e}
	if len(e.rules.Faults) > 0 {
		f.start()
	}
	return f
}

// start puts the faults of the environment on.
func (f *faults) start() {
	f.list = f.e.rules.Faults
	f.struck = make([]bool, len(f.list))
	f.ofRank, f.begun = make([][]int32, len(f.e.programs)), make([]int32, f.e.lanes.len())
	for i := range f.list {
		of := &f.ofRank[f.list[i].Rank]
		*of = append(*of, int32(i))
	}
	for _, of := range f.ofRank {
		slices.SortStableFunc(of, func(a, b int32) int {
			return cmp.Compare(f.list[a].At, f.list[b].At)
		})
	}
}

// isOn reports whether anything goes wrong, or somebody asks what begins. any reports the former.
func (f *faults) isOn() bool { return f.begun != nil }
func (f *faults) any() bool  { return len(f.list) > 0 }

// hit returns, by fault, whether it has changed anything.
func (f *faults) hit() []bool { return f.struck }

// resumes returns when a rank begins what it could begin at a moment; never where it does not.
func (f *faults) resumes(rank int32, at model.Moment) (model.Moment, bool) {
	for _, i := range f.ofRank[rank] {
		switch x := &f.list[i]; {
		case at.T < x.At || x.Does == model.Drops:
		case x.IsEnd():
			f.struck[i] = true
			return at, false
		case at.T < x.At+x.For:
			f.struck[i] = true
			at = model.Moment{T: x.At + x.For}
		}
	}
	return at, true
}

// ended reports whether a fault has ended a rank.
func (f *faults) ended(rank int32) bool {
	return slices.ContainsFunc(f.ofRank[rank], func(i int32) bool {
		return f.list[i].IsEnd() && f.struck[i]
	})
}

// count counts a sub-step that lane i begins at a moment.
func (f *faults) count(i int32, at model.Moment) {
	l, number := f.e.lanes.at(i), f.begun[i]
	f.begun[i]++
	if f.begins != nil && l.rank == f.watch {
		*f.begins = append(*f.begins, model.Begin{At: at.T, Lane: i - f.e.first[l.rank],
			Number: number, Part: l.part, Sends: int(l.receives) < len(l.named), IsEdge: l.cursor.Edge()})
	}
}

// lose loses the first message that a lane's present sub-step sends to another lane, where a fault
// says so.
func (f *faults) lose(i int32) {
	l := f.e.lanes.at(i)
	for _, k := range f.ofRank[l.rank] {
		x := &f.list[k]
		if x.Does != model.Drops || x.Lane != i-f.e.first[l.rank] || x.Number != f.begun[i]-1 {
			continue
		}
		m := l.sends
		for m >= 0 && f.e.conns.message(m).conn < 0 {
			m = f.e.conns.message(m).also
		}
		if m >= 0 {
			f.struck[k] = true
			f.lost = append(f.lost, m)
		}
	}
}

// isLost reports whether a message never arrives.
func (f *faults) isLost(m int32) bool { return slices.Contains(f.lost, m) }
