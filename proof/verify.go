package proof

import (
	"cmp"
	"errors"
	"slices"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// A Proof holds what Verify has found true of a schedule, for every input.
type Proof struct {
	// Walked counts the ranks that were executed: 1 where one stands for all, since the schedule's
	// group has been found to hold (Folds). Where ranks have roles, it counts one part of a rank of
	// each class.
	Walked          int
	Rounds          int
	Steps, Messages int64     // of one iteration, slices and signals counted one by one
	BytesSent       int64     // by sends, puts, gets and multimem operations, each counted once
	Traffic         []Traffic // by From and To, if asked for; its sum is BytesSent
	MinSlots        int       // the least slots that suffice for connections without their own
	InFlight        int       // the most messages that any connection held with that many slots
	KeepsRankOrder  bool      // every sum is in rank order: the operator need not commute
	// all ranks evaluate the same tree for each element, so their bits agree
	SameTree bool
	// Undefined lists the results of a program that nothing defines. They are written; no more is
	// proven of them. The order in which a program adds is not checked: KeepsRankOrder and SameTree
	// are false.
	Undefined  []string
	Iterations int // run one after another without a barrier between the ranks
}

// Traffic is the bytes from one rank to another, whatever their route. From is −1 for sums made in
// a switch (multimem load-reduce), To for what a switch sends to several ranks (multimem store).
// Both are for sums that switches send straight to several ranks (fused).
type Traffic struct {
	From, To int
	Bytes    int64
}

// Options choose what is verified and how; the zero value is the usual choice.
type Options struct {
	// Slots is the number of slots of connections that do not declare their own. A schedule that
	// needs more deadlocks. 0 means as many as it needs.
	Slots int
	// Iterations is the number of calls, one after another. 0 means two if the program accesses
	// other ranks' buffers, since the next call may then meet the last one, and one otherwise.
	Iterations int
	// Rendezvous makes every send wait for its receive, as large messages do in MPI.
	Rendezvous bool
	// Scratches is the number of scratch buffers of a rank, which its calls use in turn. 0 means
	// one.
	Scratches int
	// Traffic asks for Proof.Traffic, the bytes between all pairs of ranks.
	Traffic bool
	// Unfolded walks all ranks even where one stands for all, and all parts of a program even where
	// one stands for those that do the same. The result is the same.
	Unfolded bool
	// Causal, if not nil, says which ranks must have begun before others end, in a schedule without
	// data.
	Causal *schedule.Causal
	// Progress is called now and then with the number of sub-steps that have been executed, of one
	// iteration of all ranks for which those that are walked stand; nil is not called. A walk that
	// begins anew counts anew.
	Progress func(steps int64)
}

// errComputes ends a walk without formulas at a kernel whose result has a meaning.
var errComputes = errors.New("it computes with kernels, whose results are no sums of inputs")

// maxViolations bounds how many violations are reported.
const maxViolations = 20

// Verify proves that a schedule computes its collective. Every output must be the reduction of
// exactly the right inputs, each once; nothing may deadlock; no two accesses may race. It walks all
// ranks, or one that stands for all (Folds). It returns either a proof or violations. A composed
// schedule with a meaning (schedule.Meaning) must also compute that.
func Verify(s *schedule.Schedule, o Options) (*Proof, []*schedule.Violation) {
	if s.Teams() != nil {
		return verifyTeams(s, o)
	}
	return verify(s, o, nil)
}

// verify proves a schedule that has no teams. Violations call its ranks by names.
func verify(s *schedule.Schedule, o Options, names names) (*Proof, []*schedule.Violation) {
	if o.Iterations == 0 {
		o.Iterations = 1
		if s.OneSided() {
			o.Iterations = 2
		}
	}
	if !o.Unfolded {
		if p := verifyParts(s, o); p != nil {
			return p, nil
		}
	}
	p, found := verifyWhole(s, o, names)
	if p != nil && s.Means != nil {
		if found = verifyMeaning(s, nil); len(found) > 0 {
			return nil, found
		}
	}
	return p, found
}

// verifyWhole proves a schedule by its steps, whatever parts it has. It tries folded walks first.
func verifyWhole(s *schedule.Schedule, o Options, names names) (*Proof, []*schedule.Violation) {
	if o.Unfolded {
		return newVerifier(s).prove(o, names)
	}
	for _, verify := range byFewRanks(s) {
		if p := verify(s, o); p != nil {
			return p, nil
		}
	}
	v := newVerifier(s)
	if v.fold, _ = foldingOf(s, o); v.fold == nil {
		return v.prove(o, names)
	}
	p, found := v.prove(o, names)
	if v.fold.misaligned {
		return newVerifier(s).prove(o, names)
	}
	if p == nil && !v.onlyStalls() && v.mayWalkAll() {
		all := newVerifier(s)
		all.bounds = true
		if p, again := all.prove(o, names); !all.exceeds() {
			return p, again
		}
	}
	return p, found
}

// prove proves the schedule in a new verifier.
func (v *verifier) prove(o Options, names names) (*Proof, []*schedule.Violation) {
	s := v.s
	v.names, v.iterations, v.rendezvous = names, o.Iterations, o.Rendezvous
	v.scratches, v.wantsTraffic, v.progress = max(o.Scratches, 1), o.Traffic, o.Progress
	slots, counts := v.findSlots(o.Slots)
	if slots > 0 {
		v.taintCallers()
	}
	if slots > 0 && len(v.tainted) > 0 && v.fold != nil && v.manyLanes() {
		return newVerifier(s).prove(o, names)
	}
	if v.fold != nil && !v.keepsApart && !v.onlyStalls() &&
		len(v.tainted)+len(v.found) > 0 { // repeat with single cells
		v.keepsApart = true
		return v.prove(o, names)
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
	if v.exceeds() {
		return nil, nil // the caller that set the bounds checks them
	}
	if len(v.found) > 0 {
		v.assignBlame(slots)
		return nil, distinct(v.found)
	}
	n, times := int64(o.Iterations), int64(s.Spec.Ranks/v.walked())
	return &Proof{Walked: v.walked(), Rounds: counts.Rounds, Steps: counts.Steps / n * times,
		Messages:  counts.Messages / n * times,
		BytesSent: unit.MultiplyCapped(v.bytesSent(), times), Traffic: v.flows(), MinSlots: slots,
		InFlight: counts.InFlight, KeepsRankOrder: v.ordered && v.formulas == nil,
		SameTree: v.sameTree(), Undefined: v.leftOpen(), Iterations: o.Iterations}, nil
}

// onlyStalls reports whether all violations are deadlocks. These name their ranks even in a folded
// walk.
func (v *verifier) onlyStalls() bool {
	return len(v.found) > 0 && !slices.ContainsFunc(v.found, func(x *schedule.Violation) bool {
		return x.Kind != schedule.Deadlock
	})
}

// distinct sorts violations by rank and drops duplicates from several iterations.
func distinct(found []*schedule.Violation) []*schedule.Violation {
	slices.SortStableFunc(found, func(a, b *schedule.Violation) int { return a.Rank - b.Rank })
	reported := map[string]bool{}
	return slices.DeleteFunc(found, func(v *schedule.Violation) bool {
		text := v.Error()
		again := reported[text]
		reported[text] = true
		return again
	})
}

// carry counts the elements that go from one rank to another in the first iteration, up to the
// range of int64. In a program, whose tensors have several types, it counts bytes. by is the rank
// that executes the step.
func (v *verifier) carry(by, from, to int32, segs []seg) {
	if v.ended[by] > 0 {
		return
	}
	n := int64(0)
	for _, g := range segs {
		width := int64(1)
		if v.formulas != nil {
			width = v.formulas.width(g.v)
		}
		n = unit.AddCapped(n, unit.MultiplyCapped(g.n, width))
	}
	if v.roleCounts != nil {
		n = unit.MultiplyCapped(n, int64(v.roleCounts.classes.Size(by)))
	}
	if v.treeClasses != nil {
		n = unit.MultiplyCapped(n, int64(v.treeClasses.classes.Size(v.treeClasses.classes.Of[by])))
	}
	v.sent = unit.AddCapped(v.sent, n)
	if v.places != nil {
		v.places.sends(v.fold.strips, segs)
	}
	if !v.wantsTraffic || n == 0 {
		return
	}
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
	v.traffic[i].Bytes = unit.AddCapped(v.traffic[i].Bytes, n)
}

// width returns the bytes of one unit that carry counts.
func (v *verifier) width() int64 {
	if v.formulas != nil {
		return 1
	}
	return int64(v.s.Spec.Type.Width())
}

// bytesSent returns the bytes sent in one iteration by the ranks that were walked.
func (v *verifier) bytesSent() int64 { return unit.MultiplyCapped(v.sent, v.width()) }

// flows returns the traffic of all ranks in one iteration, if it was asked for.
func (v *verifier) flows() []Traffic {
	if !v.wantsTraffic {
		return nil
	}
	flows := make([]Traffic, 0, len(v.traffic))
	for _, f := range v.traffic {
		f.Bytes = unit.MultiplyCapped(f.Bytes, v.width())
		flows = append(flows, f)
	}
	if v.fold != nil {
		flows = v.fold.flows(flows)
	}
	sortFlows(flows)
	return flows
}

// sortFlows sorts traffic by From and To.
func sortFlows(flows []Traffic) {
	slices.SortFunc(flows, func(a, b Traffic) int { return cmp.Or(a.From-b.From, a.To-b.To) })
}

// A verifier executes a schedule on values.
type verifier struct {
	s            *schedule.Schedule
	names        names             // of the ranks, in violations
	given        []schedule.Buffer // written by callers before a call
	results      []schedule.Buffer // read by callers after a call
	iterations   int
	rendezvous   bool
	scratches    int   // of each rank, used by its iterations in turn
	ended        []int // of each rank: iterations that have ended
	memory       *stores
	inputs       []*value // of each rank: value of its input in its present iteration
	payload      [][]seg  // of messages, by handle
	spans        []schedule.Span
	a, b, sum    []seg        // operands, and their combination
	roleCounts   *roleCounts  // one rank of each class is walked; nil: all are
	treeClasses  *treeClasses // the same, with classes of trees
	fold         *folding     // one rank is walked for all; nil: all are
	places       *places      // of a folded walk on blocks of one size in place of uneven ones
	keepsApart   bool         // equal neighbouring cells are not joined
	isAlone      bool         // one rank is walked, and it has one lane
	effort                    // of all walks so far
	bounds       bool         // effort is bounded
	sent         int64        // elements; in programs bytes
	traffic      []Traffic    // in the same units, if asked for
	flowOf       map[[2]int32]int
	lastFlow     int
	searches     bool // for slots: stalls are not described
	wantsTraffic bool
	progress     func(steps int64) // Options.Progress
	ordered      bool
	tainted      map[memory]bool // memories with a cell that several lanes accessed, one writing
	found        []*schedule.Violation
	labels       []int                     // of the ranks' inputs in trees; nil: the ranks
	terms        map[*value]*schedule.Term // trees of values, if asked for
	formulas     *formulas                 // values of a program; nil for other schedules
	defined      []*definition             // of each call: its definition
	blames       []blame
}

// newVerifier returns a verifier of a single call.
func newVerifier(s *schedule.Schedule) *verifier {
	v := &verifier{s: s, iterations: 1, given: []schedule.Buffer{schedule.Input},
		results: []schedule.Buffer{schedule.Output}}
	for i := range s.Tensors {
		b := schedule.FirstTensor + schedule.Buffer(i)
		if s.Tensors[i].Role.IsGiven() {
			v.given = append(v.given, b)
		}
		if s.Tensors[i].Role.IsResult() {
			v.results = append(v.results, b)
		}
	}
	if len(s.Tensors) > 0 { // values are formulas
		v.formulas = newFormulas(s)
	}
	return v
}

// A memory names a buffer of a rank that has storage of its own.
type memory struct {
	rank int
	home schedule.Buffer
}

// turn returns the offset of the scratch buffer that a rank's present iteration uses.
func (v *verifier) turn(b schedule.Buffer, rank int32) int64 {
	if b != schedule.Scratch || v.scratches < 2 {
		return 0
	}
	return int64(v.ended[rank]%v.scratches) * v.s.Memory
}
