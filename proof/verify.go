package proof

import (
	"cmp"
	"errors"
	"slices"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// Proof is what Verify has found true of a schedule, for every input.
type Proof struct {
	Rounds          int
	Steps, Messages int64     // of one iteration, slices and signals counted one by one
	BytesSent       int64     // by sends, puts, gets and multimem operations, each counted once
	Traffic         []Traffic // of which BytesSent is the sum, by From and To
	MinSlots        int       // the least of what connections must hold that do not declare their own
	InFlight        int       // the most messages that any connection held with that many slots
	KeepsRankOrder  bool      // every sum is in rank order: the operator need not commute
	SameTree        bool      // all ranks evaluate the same tree for each element, so their bits agree
	Iterations      int       // run one after another without a barrier between the ranks
}

// Traffic is the bytes that go from one rank to another, wherever the network takes them. From is
// −1 for what a switch has added up, To for what it hands to several (multimem).
type Traffic struct {
	From, To int
	Bytes    int64
}

// Options say how to verify; the zero value is the usual way.
type Options struct {
	// Slots is what connections hold that do not declare their own: a schedule that needs more
	// deadlocks. 0 is as many as it needs.
	Slots int
	// Iterations is how often the program is run; 0 is twice if it reaches into other ranks'
	// buffers, since the next call may then meet the last one, and once otherwise.
	Iterations int
	// Rendezvous has every send wait for its receive, as large messages do in MPI.
	Rendezvous bool
	// Scratches is how many scratch buffers a rank has, which its calls take turns at; 0 is one.
	Scratches int
	// Causal, if not nil, is what a schedule without data is held to.
	Causal *schedule.Causal
}

// maxViolations bounds how many are reported.
const maxViolations = 20

// Verify proves that a schedule computes its collective: that every output is the reduction of
// exactly the right inputs, each once; that nothing deadlocks; that no two accesses race. It
// walks all ranks. Violations, if any, come without a proof.
func Verify(s *schedule.Schedule, o Options) (*Proof, []*schedule.Violation) {
	if s.Teams() != nil {
		return verifyTeams(s, o)
	}
	return verify(s, o, nil)
}

// verify proves a schedule without teams, whose ranks violations call by their names.
func verify(s *schedule.Schedule, o Options, names names) (*Proof, []*schedule.Violation) {
	if o.Iterations == 0 {
		o.Iterations = 1
		if s.OneSided() {
			o.Iterations = 2
		}
	}
	v := &verifier{s: s, names: names, iterations: o.Iterations, rendezvous: o.Rendezvous,
		scratches: max(o.Scratches, 1)}
	slots, counts := v.findSlots(o.Slots)
	if slots > 0 {
		v.callers()
	}
	if slots > 0 && len(v.tainted) > 0 {
		v.races(slots)
	}
	if s.Spec.Kind == collective.Barrier {
		o.Causal = &schedule.Causal{Kind: collective.Barrier}
	}
	if slots > 0 && o.Causal != nil {
		v.verifyCausal(slots, o.Causal)
	}
	if len(v.found) > 0 {
		return nil, distinct(v.found)
	}
	n := int64(o.Iterations)
	flows, sent := v.flows(n)
	return &Proof{Rounds: counts.Rounds, Steps: counts.Steps / n, Messages: counts.Messages / n,
		BytesSent: sent, Traffic: flows, MinSlots: slots,
		InFlight: counts.InFlight, KeepsRankOrder: v.ordered, SameTree: v.sameTree(),
		Iterations: o.Iterations}, nil
}

// distinct is the violations by rank, each once however many iterations have shown it.
func distinct(found []*schedule.Violation) []*schedule.Violation {
	slices.SortStableFunc(found, func(a, b *schedule.Violation) int { return a.Rank - b.Rank })
	told := map[string]bool{}
	return slices.DeleteFunc(found, func(v *schedule.Violation) bool {
		text := v.Error()
		again := told[text]
		told[text] = true
		return again
	})
}

// carry counts the elements that go from one rank to another, as many as there can be.
func (v *verifier) carry(from, to int32, segs []seg) {
	i := v.lastFlow
	if i >= len(v.traffic) || v.traffic[i].From != int(from) || v.traffic[i].To != int(to) {
		known := false
		if i, known = v.flowOf[[2]int32{from, to}]; !known {
			i = len(v.traffic)
			v.flowOf[[2]int32{from, to}] = i
			v.traffic = append(v.traffic, Traffic{From: int(from), To: int(to)})
		}
		v.lastFlow = i
	}
	for _, g := range segs {
		v.traffic[i].Bytes = unit.AddCapped(v.traffic[i].Bytes, g.n)
	}
}

// flows is what has been carried in one of n iterations, in bytes, and the sum.
func (v *verifier) flows(n int64) ([]Traffic, int64) {
	flows, total := make([]Traffic, 0, len(v.traffic)), int64(0)
	for _, f := range v.traffic {
		f.Bytes = unit.MultiplyCapped(f.Bytes/n, int64(v.s.Spec.Type.Width()))
		if total = unit.AddCapped(total, f.Bytes); f.Bytes > 0 {
			flows = append(flows, f)
		}
	}
	sortFlows(flows)
	return flows, total
}

func sortFlows(flows []Traffic) {
	slices.SortFunc(flows, func(a, b Traffic) int { return cmp.Or(a.From-b.From, a.To-b.To) })
}

// verifier carries a schedule out on values.
type verifier struct {
	s          *schedule.Schedule
	names      names // of the ranks, in violations
	iterations int
	rendezvous bool
	scratches  int   // of each rank, which iterations take turns at
	ended      []int // iterations of each rank
	memory     *stores
	inputs     []*value // of each rank, in its present iteration
	payload    [][]seg  // of messages, by handle
	spans      []schedule.Span
	a, b       []seg     // operands
	traffic    []Traffic // in elements
	flowOf     map[[2]int32]int
	lastFlow   int
	ordered    bool
	tainted    map[memory]bool // where two lanes have accessed the same cell, one writing
	found      []*schedule.Violation
	labels     []int                     // of the ranks' inputs in trees; nil: their ranks
	terms      map[*value]*schedule.Term // where values come from, if that is asked for
}

// memory names a memory of a rank.
type memory struct {
	rank int
	home schedule.Buffer
}

// turn is where the scratch buffer of the iteration begins that a rank is in.
func (v *verifier) turn(b schedule.Buffer, rank int32) int64 {
	if b != schedule.Scratch || v.scratches < 2 {
		return 0
	}
	return int64(v.ended[rank]%v.scratches) * v.s.Memory
}

// findSlots verifies values with 1, 2, 4, … slots until the schedule does not stall, then looks for
// the least number that does. It returns that number and what the execution has seen.
func (v *verifier) findSlots(limit int) (int, schedule.Counts) {
	declared := v.s.Slots
	if declared > 0 {
		limit = declared
	}
	failed := 0 // the most slots that were too few
	var stalled *schedule.StallError
	for slots := 1; ; slots *= 2 {
		counts, err := v.walk(slots)
		if !errors.As(err, &stalled) {
			if err != nil {
				v.reportError(err)
				return 0, counts
			}
			least := slots
			if failed+1 < slots {
				least, counts = v.least(failed+1, slots)
			}
			if limit > 0 && least > limit {
				v.tooFew(limit, least)
			}
			return least, counts
		}
		failed = slots
		if _, still := v.execute(0); still != nil { // any number of slots is too few
			v.reportStall(still)
			return 0, counts
		}
	}
}

// least is the least number of slots, from … to, with which the schedule comes to its end, and what
// the execution with it has seen. REQUIRES: it comes to its end with to.
func (v *verifier) least(from, to int) (int, schedule.Counts) {
	for from < to {
		slots := (from + to) / 2
		if _, err := v.execute(slots); err != nil {
			from = slots + 1
		} else {
			to = slots
		}
	}
	counts, _ := v.execute(to)
	return to, counts
}

// execute carries the schedule out without values, with so many slots whatever it declares.
func (v *verifier) execute(slots int) (schedule.Counts, *schedule.StallError) {
	counts, err := v.run(slots, schedule.Hooks{})
	var stalled *schedule.StallError
	errors.As(err, &stalled)
	return counts, stalled
}

// run carries the schedule out with so many slots, whatever it declares.
func (v *verifier) run(slots int, hooks schedule.Hooks) (schedule.Counts, error) {
	s := *v.s
	s.Slots = slots
	return schedule.Execute(&s, schedule.Limits{Iterations: v.iterations, Rendezvous: v.rendezvous},
		hooks)
}

// tooFew reports the deadlock of a schedule that has fewer slots than it needs.
func (v *verifier) tooFew(slots, least int) {
	if _, stalled := v.execute(slots); stalled != nil {
		stalled.MinSlots = least
		v.reportStall(stalled)
	}
}

func (v *verifier) reportStall(e *schedule.StallError) {
	for i := range e.Waits {
		w := &e.Waits[i]
		w.Rank, w.OnRank = v.names.of(w.Rank), v.names.of(w.OnRank)
	}
	w := e.Waits[0]
	v.found = append(v.found,
		&schedule.Violation{Kind: schedule.Deadlock, Rank: w.Rank, Lane: w.Lane, Step: w.Step,
			Chunk: w.Chunk, Text: e.Error(), Steps: e.Steps(), Stall: e})
}

func (v *verifier) reportError(err error) {
	var violation *schedule.Violation
	if errors.As(err, &violation) {
		v.found = append(v.found, violation.Renamed(v.names.of))
	}
}
