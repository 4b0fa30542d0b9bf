package proof

import (
	"encoding/binary"
	"errors"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Where ranks have roles (schedule.Roles), one rank of each class of equal ones is walked. Classes
// do not know a rank's number, so they cannot distinguish one ring of 2m ranks from two of m.
// Values only count the inputs in them. That is enough where no value is used twice:
//
//	every input is read once, every sum goes to one place      ─► no input is twice in anything
//	a value of as many inputs as there are ranks, none twice   ─► it has all of them, each once
//
// Such a value is complete, and may then be copied to any rank. Any other use of values (a rank
// keeps a part and also sends it, say) is not proven in this way, and all ranks are walked.
//
// Races are checked on each representative, by what its lanes know of each other through events.
// One more rule helps: a rank that holds a complete value knows that all ranks have read the inputs
// in it, by whatever route. So a result may overwrite an input (in place).

// roleCounts is the state of a walk that counts inputs by class.
type roleCounts struct {
	classes *schedule.Classes
	ranks   int32
	unequal bool // a sum out of rank order has been seen

	knows  [][]int32   // of each lane: its clock of the rank's own lanes, in steps
	posts  [][][]int32 // of each lane: its clock at each of its posts
	first  []int32     // first lane of each class
	tracks [][]cellTrack
	races  bool
}

// cellTrack records the last accesses to a cell.
type cellTrack struct {
	write cellAccess
	reads []cellAccess
}

// A cellAccess is an access by a lane of the rank, in its step number at, from 1 on; 0: none. part
// is the element of the inputs if it read an incomplete sum, else −1.
type cellAccess struct {
	lane, at int32
	part     int64
}

// errGaveUp ends a walk that cannot prove anything.
var errGaveUp = errors.New("a value is used twice")

// spent is the value of elements whose partial sum has been used.
var spent = &value{runs: []run{{0, 0, 1}}}

// isSpent reports whether a value is spent, scaled or not.
func isSpent(v *value) bool { return len(v.runs) == 1 && v.runs[0].to == 0 }

// verifyRoleCounts proves an all_reduce by one rank of each class. It returns nil if that does not
// succeed: the schedule may be wrong, or right for another reason.
func verifyRoleCounts(s *schedule.Schedule, o Options) *Proof {
	if !s.HasRoles() || s.Spec.Kind != collective.AllReduce || s.Spec.Empty() || s.Spec.Ranks < 3 ||
		o.Iterations > 1 || o.Rendezvous || o.Scratches > 1 || o.Traffic || o.Causal != nil ||
		s.AnyStep(reachesFar) {
		return nil
	}
	c := schedule.ClassesOf(s)
	if c == nil || c.Len() >= s.Spec.Ranks {
		return nil
	}
	l := &roleCounts{classes: c, ranks: int32(s.Spec.Ranks)}
	v := newVerifier(s.OfClasses(c))
	v.roleCounts, v.iterations, v.scratches = l, 1, 1
	slots, counts := v.findSlots(o.Slots)
	if slots == 0 || l.races || len(v.found) > 0 || !l.unequal || !l.isRight(v) {
		return nil
	}
	return &Proof{Walked: c.Len(), Rounds: counts.Rounds, Steps: counts.Steps,
		Messages: counts.Messages, BytesSent: v.bytesSent(), MinSlots: slots,
		InFlight: counts.InFlight, SameTree: true, Iterations: 1}
}

// reachesFar reports whether a step does more than FIFO messages and local work.
func reachesFar(step *schedule.Step) bool {
	for i := range step.From {
		if f := &step.From[i]; f.Kind == schedule.Message && f.Peer.Class != schedule.FIFO {
			return true
		}
	}
	for i := range step.Send {
		if step.Send[i].Peer.Class != schedule.FIFO {
			return true
		}
	}
	return step.Launch != nil || reachesOut(step)
}

// begin resets the state for a new walk.
func (l *roleCounts) begin(v *verifier) {
	*l = roleCounts{classes: l.classes, ranks: l.ranks, tracks: make([][]cellTrack, len(v.memory.all))}
	for class := range l.classes.Len() {
		l.first = append(l.first, int32(len(l.knows)))
		lanes := l.classes.Lanes(class)
		for range lanes {
			l.knows, l.posts = append(l.knows, make([]int32, lanes)), append(l.posts, nil)
		}
	}
	for i := range v.memory.all {
		m := &v.memory.all[i]
		m.cut(m.size) // divided now, so that cells need not be divided during the walk
		l.tracks[i] = make([]cellTrack, len(m.starts))
	}
}

// isComplete reports whether a value has the inputs of all ranks.
func (l *roleCounts) isComplete(v *value) bool {
	return v != nil && len(v.runs) == 1 && v.runs[0].to == l.ranks
}

// plus returns the sum of two values. It is spoilt if an operand is spent or if some input would
// count twice.
func (l *roleCounts) plus(x, y *value) *value {
	n := int64(x.runs[0].to) + int64(y.runs[0].to)
	if isSpent(x) || isSpent(y) || n > int64(l.ranks) {
		return spoilt
	}
	return &value{tree: scramble(x.tree + y.tree), scaled: x.scaled, runs: []run{{0, int32(n), 1}}}
}

// stepCounts executes one sub-step on values that are used once.
func (v *verifier) stepCounts(at *schedule.Visit) error {
	l, s := v.roleCounts, at.Step
	l.await(at)
	sum := l.operands(v, at)
	if s.Scale {
		v.scale(at, v.a)
	}
	for i, g := range v.a {
		if l.isComplete(g.v) {
			continue
		}
		if g.v == nil || g.v == spoilt || isSpent(g.v) || len(s.To)+len(s.Send) > 1 {
			return errGaveUp
		}
		own := *g.v // no other cell has this copy
		own.own = sum
		v.a[i].v = &own
	}
	if err := v.deliver(at); err != nil {
		return err
	}
	for i := range s.To {
		if err := v.put(at, int(at.Rank), &s.To[i], writing); err != nil {
			return err
		}
	}
	l.ends(at)
	if l.races {
		return errGaveUp
	}
	return nil
}

// operands combines the sources of a step in v.a. It reports whether the result is known to include
// the input of the step's own rank. It also sets unequal once two operands have inputs of ranks
// that are known to be out of order.
func (l *roleCounts) operands(v *verifier, at *schedule.Visit) (own bool) {
	s, me := at.Step, l.classes.Rank(at.Rank)
	highest := int32(-1)
	v.a = v.a[:0]
	for i := range s.From {
		f, into := &s.From[i], &v.a
		if i > 0 {
			into, v.b = &v.b, v.b[:0]
		}
		v.operand(at, i, into)
		if f.Kind == schedule.Local {
			l.spend(v, at, &f.Region)
		}
		if !slices.ContainsFunc(*into, func(g seg) bool { return g.v == nil || !g.v.own }) {
			rank := me
			if f.Kind == schedule.Message {
				rank = f.Peer.Rank
			}
			l.unequal = l.unequal || highest > rank
			highest, own = max(highest, rank), own || rank == me
		}
		if i > 0 {
			v.a = v.combine(at, v.a, v.b)
		}
	}
	return own
}

// spend marks the partial sums that a region holds as used.
func (l *roleCounts) spend(v *verifier, at *schedule.Visit, r *schedule.Region) {
	m, _, base := v.memory.at(at.Spot(), r.Buffer)
	for _, span := range v.s.Spans(nil, at.Spot(), r) {
		first, last := m.cover(schedule.Span{Off: base + span.Off, Len: span.Len})
		for i := first; i < last; i++ {
			if !l.isComplete(m.cells[i].v) {
				m.cells[i].v = spent
			}
		}
	}
}

// await merges the clocks of the lanes whose events a lane awaits into that lane's clock.
func (l *roleCounts) await(at *schedule.Visit) {
	for _, e := range at.Step.Await {
		if at.Slice > 0 || e.Value <= 0 {
			continue
		}
		for i, n := range l.posts[l.first[at.Rank]+e.Lane][e.Value-1] {
			l.knows[at.Index][i] = max(l.knows[at.Index][i], n)
		}
	}
}

// ends advances a lane's clock past its sub-step, and records the clock if the step posts.
func (l *roleCounts) ends(at *schedule.Visit) {
	l.knows[at.Index][at.Lane]++
	if at.Step.Post && at.Last {
		l.posts[at.Index] = append(l.posts[at.Index], slices.Clone(l.knows[at.Index]))
	}
}

// now returns an access by the current sub-step of a lane.
func (l *roleCounts) now(of memory, lane int32) cellAccess {
	own := lane - l.first[of.rank]
	return cellAccess{own, l.knows[lane][own] + 1, -1}
}

// isAfter reports whether a lane knows that an access has ended.
func (l *roleCounts) isAfter(then cellAccess, lane int32, own int32) bool {
	return then.at == 0 || then.lane == own || l.knows[lane][then.lane] >= then.at
}

// read records that a lane reads cells, and checks the read against the last write.
func (l *roleCounts) read(m *store, of memory, first, last int, lane int32) {
	tracks := l.tracksOf(m, of)
	for i := first; i < last && !l.races; i++ {
		now, c := l.now(of, lane), &m.cells[i]
		if !l.isComplete(c.v) {
			now.part = c.off
		}
		l.races = !l.isAfter(tracks[i].write, lane, now.lane)
		tracks[i].reads = append(tracks[i].reads, now)
	}
}

// wrote records that a sub-step has written cells, and checks it against the last accesses. A write
// of the complete value of the same element is ordered after reads of its parts.
func (l *roleCounts) wrote(m *store, of memory, s schedule.Span, at *schedule.Visit) {
	first, last := m.cover(s)
	tracks := l.tracksOf(m, of)
	for i := first; i < last && !l.races; i++ {
		now, c := l.now(of, at.Index), &m.cells[i]
		l.races = !l.isAfter(tracks[i].write, at.Index, now.lane)
		for _, then := range tracks[i].reads {
			if !l.isAfter(then, at.Index, now.lane) && !(then.part == c.off && l.isComplete(c.v)) {
				l.races = true
			}
		}
		tracks[i] = cellTrack{write: now}
	}
}

// tracksOf returns the records of a memory's cells. If cells have been divided since, the walk
// gives up.
func (l *roleCounts) tracksOf(m *store, of memory) []cellTrack {
	tracks := l.tracks[of.rank*len(l.tracks)/l.classes.Len()+int(of.home)]
	if len(tracks) != len(m.starts) {
		l.races = true
	}
	return tracks
}

// isRight reports whether each rank's parts have together written all of its output, correctly. It
// also checks that no two parts of a rank access the same cell.
func (l *roleCounts) isRight(v *verifier) bool {
	// of each class: cells accessed, written, in the output
	marks := make([][]bool, l.classes.Len())
	for class := range marks {
		if marks[class] = l.marksOf(v, class); marks[class] == nil {
			return false
		}
	}
	parts, reported := l.classes.Parts, map[string]bool{}
	var key []byte
	for rank := range int(l.ranks) {
		of := l.classes.Of[rank*parts:][:parts]
		key = key[:0]
		for _, class := range of {
			key = binary.LittleEndian.AppendUint32(key, uint32(class))
		}
		if !reported[string(key)] {
			if !fitTogether(marks, of) {
				return false
			}
			reported[string(key)] = true
		}
	}
	return true
}

// fitTogether reports whether the parts of a rank access no cell twice and write all of the output.
func fitTogether(marks [][]bool, of []int32) bool {
	half := len(marks[0]) / 3
	touched, wrote := make([]bool, half), make([]bool, half)
	for _, class := range of {
		for i := range half {
			if touched[i] && marks[class][i] {
				return false
			}
			touched[i] = touched[i] || marks[class][i]
			wrote[i] = wrote[i] || marks[class][half+i]
		}
	}
	for i, isOutput := range marks[0][2*half:] {
		if isOutput && !wrote[i] {
			return false
		}
	}
	return true
}

// marksOf returns three flags for the cells of a class's memories, one list after the other:
// accessed, written, and in the output. It is nil if the class has written anything wrong to the
// output.
func (l *roleCounts) marksOf(v *verifier, class int) []bool {
	memories := len(v.memory.all) / l.classes.Len()
	home, base := v.s.Home(schedule.Output, class)
	scaled := int32(0)
	if v.s.Spec.ScalesBefore() || v.s.Spec.ScalesAfter() {
		scaled = 1
	}
	var touched, wrote, output []bool
	for b := range memories {
		m, tracks := &v.memory.all[class*memories+b], l.tracks[class*memories+b]
		for i := range tracks {
			off := m.starts[i] - base
			isOutput := schedule.Buffer(b) == home && off >= 0 && off < v.s.Len(schedule.Output, class)
			written := tracks[i].write.at > 0
			if kind, _ := v.wrong(&m.cells[i], off, 0, l.ranks, scaled); isOutput && written &&
				(kind != 0 || m.cells[i].v == spoilt) {
				return nil
			}
			touched = append(touched, written || len(tracks[i].reads) > 0)
			wrote, output = append(wrote, written), append(output, isOutput)
		}
	}
	return slices.Concat(touched, wrote, output)
}
