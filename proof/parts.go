package proof

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// A program of many parts is proven by proofs of its parts, one for all parts that do the same. A
// part that is right alone turns whatever it reads into what it defines, if nothing else accesses
// its memory meanwhile. So the whole computes what the parts define, one after the other, if
//
//   - each part is proven alone;
//   - parts that are unordered on a rank share no memory there, nor do a part's own buffers;
//   - a part reads only elements that are written, and no leftovers of another part;
//   - no part accesses another rank's memory, since its order does not extend there.
//
// Where one of these fails, the whole is walked: the walk finds the violation, if there is one.

// partsProof is a proof of a program by its parts.
type partsProof struct {
	s      *schedule.Schedule
	parts  []schedule.Part
	alike  map[*schedule.Schedule]*provenPart
	byForm map[string]*provenPart
	list   []*provenPart // of all distinct parts, in order
	made   *definition   // what all parts define
	// isPartly lets ranks lack results: those of other stages of a pipeline. Which have them is
	// what the whole means (schedule.Meaning).
	isPartly bool
}

// A provenPart is the schedule of one or more equal parts, with its proof.
type provenPart struct {
	*Proof
	s       *schedule.Schedule
	written []bool // buffers that steps write
}

// verifyParts proves a schedule by its parts. It returns nil where that does not apply or fails.
func verifyParts(s *schedule.Schedule, o Options) *Proof {
	parts := s.Parts()
	if len(parts) == 0 || len(s.Tensors) == 0 || o.Rendezvous || o.Traffic || o.Scratches > 1 ||
		o.Causal != nil || o.Iterations > 1 {
		return nil
	}
	p := newPartsProof(s, parts)
	if !p.known() || 2*len(p.list) > len(p.parts) || !p.holds(o) {
		return nil
	}
	return p.sum()
}

func newPartsProof(s *schedule.Schedule, parts []schedule.Part) *partsProof {
	return &partsProof{s: s, parts: parts, alike: map[*schedule.Schedule]*provenPart{},
		byForm: map[string]*provenPart{}}
}

// holds reports whether the whole is proven by its parts.
func (p *partsProof) holds(o Options) bool {
	return p.prove(o) && p.ordered() && p.defined() &&
		(p.s.Means == nil || len(verifyMeaning(p.s, p.made)) == 0)
}

// VerifyFolded reports whether a folded schedule is proven. If not, there may be nothing wrong with
// it: the program has to be proven on all of its ranks.
func VerifyFolded(s *schedule.Schedule, slots int) bool {
	p := newPartsProof(s, s.Parts())
	p.isPartly = s.Means != nil
	return p.known() && p.holds(Options{Slots: slots})
}

// known groups the parts that do the same. It reports whether all are of a kind that can be proven
// alone.
func (p *partsProof) known() bool {
	for i := range p.parts {
		s := p.parts[i].Schedule
		if p.alike[s] != nil {
			continue
		}
		form := s.Form()
		if p.byForm[form] == nil {
			if s.Slots > 0 || s.OneSided() || s.Spec.InPlace && !wholeInPlace(&s.Spec) {
				return false
			}
			p.byForm[form] = &provenPart{s: s, written: writtenBy(s)}
			p.list = append(p.list, p.byForm[form])
		}
		p.alike[s] = p.byForm[form]
	}
	return true
}

// wholeInPlace reports whether an in-place collective defines all of its memory.
func wholeInPlace(spec *collective.Spec) bool {
	return spec.Kind == collective.AllReduce || spec.Kind == collective.Broadcast
}

// writtenBy reports, for each buffer, whether a step writes it.
func writtenBy(s *schedule.Schedule) []bool {
	written := make([]bool, s.Buffers())
	s.AnyStep(func(step *schedule.Step) bool {
		for i := range step.To {
			written[step.To[i].Buffer] = true
		}
		return false
	})
	return written
}

// prove proves each distinct part alone.
func (p *partsProof) prove(o Options) bool {
	for _, x := range p.list {
		var found []*schedule.Violation
		x.Proof, found = verify(x.s, Options{Slots: o.Slots}, nil)
		if len(found) > 0 || len(x.Undefined) > 0 {
			return false
		}
	}
	return true
}

// held is the memory that a buffer of a part occupies: a range of a tensor.
type held struct {
	tensor   schedule.Buffer
	from, to int64
	written  bool
}

// memory lists what a part occupies on one of its ranks.
func (p *partsProof) memory(part, place int) (list []held) {
	own := &p.parts[part]
	s, x, rank := own.Schedule, p.alike[own.Schedule], place
	if own.Fold != nil {
		rank = own.Fold.Seats[place]
	}
	for b := range schedule.Buffer(s.Buffers()) {
		n := s.Len(b, rank)
		if t := s.Tensor(b); n == 0 || t != nil && t.Role == schedule.Defined {
			continue
		}
		home, off := s.Home(b, rank)
		at := own.Memory[home]
		off += at.Offset(place)
		h := held{at.Tensor, off, off + n, x.written[b]}
		if same := slices.IndexFunc(list, func(g held) bool {
			return s.Spec.InPlace && g.tensor == h.tensor && g.from == h.from && g.to == h.to
		}); same >= 0 {
			list[same].written = list[same].written || h.written
			continue
		}
		list = append(list, h)
	}
	return list
}

// meets reports whether two ranges overlap and one of them is written.
func (h held) meets(g held) bool {
	return h.tensor == g.tensor && h.from < g.to && g.from < h.to && (h.written || g.written)
}

// ordered reports whether all overlapping memory belongs to ordered parts, and no two buffers of a
// part overlap.
func (p *partsProof) ordered() bool {
	for part := range p.parts {
		for place := range p.parts[part].Ranks {
			list := p.memory(part, place)
			for i := range list {
				if slices.ContainsFunc(list[:i], list[i].meets) {
					return false
				}
			}
		}
	}
	for rank := range p.s.Spec.Ranks {
		if !p.orderedOn(rank) {
			return false
		}
	}
	return true
}

// orderedOn reports whether the parts of a rank that use the same memory, where one writes it, wait
// for each other.
func (p *partsProof) orderedOn(rank int) bool {
	type use struct {
		held
		part int // an index in the rank's parts
	}
	order := schedule.OrderingOn(p.s, rank)
	written, read := map[schedule.Buffer][]use{}, map[schedule.Buffer][]use{} // by tensor
	for i, part := range order.Parts() {
		meets := func(h held, list []use) bool {
			return slices.ContainsFunc(list, func(u use) bool {
				return u.part < i && h.meets(u.held) && !order.Waits(i, u.part)
			})
		}
		for _, h := range p.memory(part, slices.Index(p.parts[part].Ranks, rank)) {
			if meets(h, written[h.tensor]) || h.written && meets(h, read[h.tensor]) {
				return false
			}
			if !h.written {
				read[h.tensor] = append(read[h.tensor], use{h, i})
				continue
			}
			// What waits for a part that writes all of an earlier one's waits for that as well.
			within := func(u use) bool { return u.part < i && h.from <= u.from && u.to <= h.to }
			read[h.tensor] = slices.DeleteFunc(read[h.tensor], within)
			written[h.tensor] = append(slices.DeleteFunc(written[h.tensor], within), use{h, i})
		}
	}
	return true
}

// defined evaluates what the parts define, in order. It reports whether each part, and each result,
// finds all its elements defined.
func (p *partsProof) defined() bool {
	v := newVerifier(p.s)
	d := &definition{f: v.formulas, all: newFewStores(p.s)}
	for rank := range p.s.Spec.Ranks {
		for _, b := range v.given {
			v.give(d.all, b, rank, 0)
		}
	}
	for i := range p.parts {
		own := &p.parts[i]
		sc := scope{definition: d, of: own.Schedule, ranks: own.Ranks, part: i, fold: own.Fold}
		if !sc.complete(reads(own.Schedule)) {
			return false
		}
		d.evaluate(sc)
		if !sc.leave(p.alike[own.Schedule].written) {
			return false
		}
	}
	isOpen := open
	if p.isPartly {
		isOpen = func(g seg) bool { return g.v == spoilt }
	}
	for _, b := range v.results {
		if slices.ContainsFunc(v.everywhere(d.all, b), isOpen) {
			return false
		}
	}
	p.made = d
	return true
}

// open reports whether an element is unwritten or may have any value.
func open(g seg) bool { return g.v == nil || g.v == spoilt }

// reads lists the buffers that a schedule is given.
func reads(s *schedule.Schedule) []schedule.Buffer {
	given := []schedule.Buffer{schedule.Input}
	for i := range s.Tensors {
		if s.Tensors[i].Role.IsGiven() {
			given = append(given, schedule.FirstTensor+schedule.Buffer(i))
		}
	}
	return given
}

// complete reports whether buffers are defined everywhere.
func (sc *scope) complete(buffers []schedule.Buffer) bool {
	for _, b := range buffers {
		for _, rank := range sc.executing() {
			if slices.ContainsFunc(sc.read(b, rank), open) {
				return false
			}
		}
	}
	return true
}

// leave marks as arbitrary what the steps of a part may have written beyond what it defines. It
// reports false where a result is left open.
func (sc *scope) leave(written []bool) bool {
	for b := range schedule.Buffer(sc.of.Buffers()) {
		t := sc.of.Tensor(b)
		switch {
		case t != nil && t.Role.IsResult():
			if !sc.complete([]schedule.Buffer{b}) {
				return false
			}
		case !written[b] || b == schedule.Output || b == schedule.Input && sc.of.Spec.InPlace ||
			t != nil && t.Role == schedule.Defined:
		default:
			for _, rank := range sc.executing() {
				if n := sc.of.Len(b, rank); n > 0 {
					sc.write(b, rank, 0, []seg{{n: n, v: spoilt}})
				}
			}
		}
	}
	return true
}

// sum returns the proof of the whole: sums and maxima over the parts.
func (p *partsProof) sum() *Proof {
	all := &Proof{Walked: p.s.Spec.Ranks, MinSlots: 1, Iterations: 1}
	for _, x := range p.list {
		all.Rounds, all.MinSlots = max(all.Rounds, x.Rounds), max(all.MinSlots, x.MinSlots)
	}
	edges := map[*provenPart]int64{} // steps that begin and end the lanes of a part
	for _, x := range p.list {
		ranks := x.s.RepresentativeRanks()
		for rank := range ranks {
			edges[x] += 2 * int64(x.s.Program(rank).Lanes()) * int64(x.s.Spec.Ranks/ranks)
		}
	}
	for i := range p.parts {
		x := p.alike[p.parts[i].Schedule]
		all.Steps, all.Messages = all.Steps+x.Steps+edges[x], all.Messages+x.Messages
		all.BytesSent = unit.AddCapped(all.BytesSent, x.BytesSent)
	}
	for _, x := range p.list {
		most := x.InFlight
		if x.MinSlots != all.MinSlots {
			v := newVerifier(x.s)
			if even, f, _ := evenedOf(x.s, Options{}); even != nil {
				v.s, v.fold = even, f
			} else if straight, f, _ := straightOf(x.s, Options{}); f != nil {
				v.s, v.fold = straight, f
			} else {
				v.fold, _ = foldingOf(x.s, Options{Iterations: 1})
			}
			counts, _ := v.execute(all.MinSlots)
			most = counts.InFlight
		}
		all.InFlight = max(all.InFlight, most)
	}
	return all
}
