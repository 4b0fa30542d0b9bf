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
	// Walked is how many ranks were carried out: 1 where one stands for all, since the schedule's
	// group has been found to hold (Folds); where ranks have roles, one part of a rank of each class.
	Walked          int
	Rounds          int
	Steps, Messages int64     // of one iteration, slices and signals counted one by one
	BytesSent       int64     // by sends, puts, gets and multimem operations, each counted once
	Traffic         []Traffic // of which BytesSent is the sum, by From and To, if asked for
	MinSlots        int       // the least of what connections must hold that do not declare their own
	InFlight        int       // the most messages that any connection held with that many slots
	KeepsRankOrder  bool      // every sum is in rank order: the operator need not commute
	SameTree        bool      // all ranks evaluate the same tree for each element, so their bits agree
	// Undefined are the tensors of a program that are results, but that nothing says what they are to
	// be: they are written, and no more is proven of them. In which order a program adds is not asked:
	// KeepsRankOrder and SameTree are false.
	Undefined  []string
	Iterations int // run one after another without a barrier between the ranks
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
	// Traffic has the proof tell who sends how much to whom: of all pairs of ranks.
	Traffic bool
	// Unfolded has all ranks walked even where one stands for all, and all parts of a program even
	// where one stands for those that do the same: the result is the same.
	Unfolded bool
	// Causal, if not nil, is what a schedule without data is held to.
	Causal *schedule.Causal
}

// errComputes is what values without formulas end with where a kernel computes something known.
var errComputes = errors.New("proof: it computes with kernels, whose results are no sums of inputs")

// maxViolations bounds how many are reported.
const maxViolations = 20

// Verify proves that a schedule computes its collective: that every output is the reduction of
// exactly the right inputs, each once; that nothing deadlocks; that no two accesses race. It
// walks all ranks, or one that stands for all (Folds). Violations, if any, come without a proof.
// A composed schedule that has a meaning (schedule.Meaning) is held to that as well.
func Verify(s *schedule.Schedule, o Options) (*Proof, []*schedule.Violation) {
	if s.Beside() != nil {
		return verifyTeams(s, o)
	}
	return verify(s, o, nil)
}

// verify proves a schedule, but for parts beside each other, whose ranks violations call by their
// names.
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

// verifyWhole proves a schedule by its steps, whatever parts it has.
func verifyWhole(s *schedule.Schedule, o Options, names names) (*Proof, []*schedule.Violation) {
	if o.Unfolded {
		return newVerifier(s).prove(o, names)
	}
	for _, verify := range byRoles(s) {
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
	v.scratches, v.wantsTraffic = max(o.Scratches, 1), o.Traffic
	slots, counts := v.findSlots(o.Slots)
	if slots > 0 {
		v.taintCallers()
	}
	if slots > 0 && len(v.tainted) > 0 && v.fold != nil && v.manyLanes() {
		return newVerifier(s).prove(o, names)
	}
	if v.fold != nil && !v.keepsApart && !v.onlyStalls() &&
		len(v.tainted)+len(v.found) > 0 { // of single cells
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
		return nil, nil // whoever has set the bounds asks
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

// onlyStalls reports whether all that is wrong is a deadlock, which names the ranks that it is of.
func (v *verifier) onlyStalls() bool {
	return len(v.found) > 0 && !slices.ContainsFunc(v.found, func(x *schedule.Violation) bool {
		return x.Kind != schedule.Deadlock
	})
}

// distinct is the violations by rank, each once however many iterations have shown it.
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

// carry counts the elements that go from one rank to another in the first iteration, as many as
// there can be; of a program, whose elements are of several types, their bytes. by is the rank
// whose step it is.
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
		n = unit.MultiplyCapped(n, int64(v.roleCounts.classes.Size[by]))
	}
	if v.treeClasses != nil {
		n = unit.MultiplyCapped(n, int64(v.treeClasses.classes.Size[v.treeClasses.classes.Of[by]]))
	}
	v.sent = unit.AddCapped(v.sent, n)
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

// width is the bytes of what carry counts.
func (v *verifier) width() int64 {
	if v.formulas != nil {
		return 1
	}
	return int64(v.s.Spec.Type.Width())
}

// bytesSent is what has been carried in one iteration by the ranks that were walked.
func (v *verifier) bytesSent() int64 { return unit.MultiplyCapped(v.sent, v.width()) }

// flows is who has carried what in one iteration, of all ranks.
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

func sortFlows(flows []Traffic) {
	slices.SortFunc(flows, func(a, b Traffic) int { return cmp.Or(a.From-b.From, a.To-b.To) })
}

// verifier carries a schedule out on values.
type verifier struct {
	s            *schedule.Schedule
	names        names             // of the ranks, in violations
	given        []schedule.Buffer // that callers write before a call
	results      []schedule.Buffer // that they read after it
	iterations   int
	rendezvous   bool
	scratches    int   // of each rank, which iterations take turns at
	ended        []int // iterations of each rank
	memory       *stores
	inputs       []*value // of each rank, in its present iteration
	payload      [][]seg  // of messages, by handle
	spans        []schedule.Span
	a, b, sum    []seg        // operands, and what they make
	roleCounts   *roleCounts  // a rank of each class stands for it; nil: all are walked
	treeClasses  *treeClasses // the same, of classes by place
	fold         *folding     // one rank stands for all; nil: all are walked
	keepsApart   bool         // cells are not joined where they could be
	isAlone      bool         // one rank is walked, of one lane
	effort                    // of all walks so far
	bounds       bool         // effort is bounded
	sent         int64        // elements, of programs bytes
	traffic      []Traffic    // of the same, if asked for
	flowOf       map[[2]int32]int
	lastFlow     int
	searches     bool // for slots: stalls are not told
	wantsTraffic bool
	ordered      bool
	tainted      map[memory]bool // where two lanes have accessed the same cell, one writing
	found        []*schedule.Violation
	labels       []int                     // of the ranks' inputs in trees; nil: their ranks
	terms        map[*value]*schedule.Term // where values come from, if that is asked for
	formulas     *formulas                 // of a program's values; nil of any other schedule
	defined      []*definition             // of each call of a program
	blames       []blame
}

// newVerifier is one for a single call.
func newVerifier(s *schedule.Schedule) *verifier {
	v := &verifier{s: s, iterations: 1, given: []schedule.Buffer{schedule.Input},
		results: []schedule.Buffer{schedule.Output}}
	for i := range s.Tensors {
		switch b := schedule.FirstTensor + schedule.Buffer(i); s.Tensors[i].Role {
		case schedule.Given:
			v.given = append(v.given, b)
		case schedule.Result:
			v.results = append(v.results, b)
		}
	}
	if len(s.Tensors) > 0 { // values are more than sums of inputs
		v.formulas = newFormulas(s)
	}
	return v
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
