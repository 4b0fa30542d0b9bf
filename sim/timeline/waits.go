package timeline

import (
	"sort"

	"collsim/sim/activity"
	"collsim/sim/model"
	"collsim/trace"
)

// waits finds when brackets wait.
type waits struct {
	moves *activity.Activity
	unit  []int32           // by lane: its unit in moves
	busy  [][]activity.Span // by lane: when something of it moves or a kernel of it runs
}

// newWaits reads a log.
func newWaits(env *model.Env, log *model.Log) *waits {
	w := &waits{moves: activity.Of(log, env.Sharing), unit: make([]int32, len(log.Lanes))}
	for i, u := range w.moves.Units {
		for lane := range u.Lanes {
			w.unit[u.First+lane] = int32(i)
		}
	}
	w.busy = w.moves.Lanes
	for i := range log.Steps {
		if s := &log.Steps[i]; s.Computes {
			w.busy[s.Lane] = append(w.busy[s.Lane], activity.Span{From: s.Start, To: s.End, Peer: -1})
		}
	}
	for lane := range w.busy {
		w.busy[lane] = activity.Union(w.busy[lane])
	}
	return w
}

// bracket returns when a bracket waits; first is its first lane in the log. Then nothing of its
// lanes moves, no kernel of them runs, and no other rank gets or puts data of its part.
func (w *waits) bracket(b *model.BracketRecord, first int32) (list []trace.Wait) {
	busy := activity.Within(w.moves.Aside[w.unit[first]], b.Begin, b.End)
	for lane := first; lane < first+b.Lanes; lane++ {
		all := w.busy[lane]
		from := sort.Search(len(all), func(i int) bool { return all[i].To > b.Begin })
		to := sort.Search(len(all), func(i int) bool { return all[i].From >= b.End })
		busy = append(busy, activity.Within(all[from:max(from, to)], b.Begin, b.End)...)
	}
	for _, p := range activity.Pauses(activity.Union(busy), b.Begin, b.End) {
		list = append(list, trace.Wait(p))
	}
	return list
}
