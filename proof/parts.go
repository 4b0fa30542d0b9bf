package proof

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// A program of many parts is proven of proofs of its parts; those that do the same have one.
// A part that is right alone makes of whatever it finds what it says, if nobody else touches its
// memory meanwhile: so the whole makes what the parts say, one after the other. To be held to are
//
//   - the parts, each alone;
//   - that parts which nothing orders on a rank do not meet in its memory, and that a part's own
//     buffers do not;
//   - that what a part reads has been written, and is not what another has left there by the way;
//   - that no part reaches into another rank's memory, which its order does not reach.
//
// Where one of these does not hold, all is walked: the walk tells what is wrong, if anything is.

// parted is a program of which the parts are proven one by one.
type partsProof struct {
	s      *schedule.Schedule
	parts  []schedule.Part
	alike  map[*schedule.Schedule]*provenPart
	byForm map[string]*provenPart
	list   []*provenPart // in order
	made   *definition   // what all parts make
}

// provenPart is a schedule of which parts are, and what was found true of it.
type provenPart struct {
	*Proof
	s       *schedule.Schedule
	written []bool // buffers that steps write
}

// verifyParts proves a schedule by its parts, or returns nil.
func verifyParts(s *schedule.Schedule, o Options) *Proof {
	parts := s.Parts()
	if len(parts) == 0 || len(s.Tensors) == 0 || o.Rendezvous || o.Traffic || o.Scratches > 1 ||
		o.Causal != nil || o.Iterations > 1 {
		return nil
	}
	p := &partsProof{s: s, parts: parts, alike: map[*schedule.Schedule]*provenPart{},
		byForm: map[string]*provenPart{}}
	if !p.known() || !p.prove(o) || !p.ordered() || !p.defined() ||
		s.Means != nil && len(verifyMeaning(s, p.made)) > 0 {
		return nil
	}
	return p.sum()
}

// known gathers the parts that do the same, and reports whether they are of a kind that is proven
// alone, and few enough for that to pay.
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
	return 2*len(p.list) <= len(p.parts)
}

// wholeInPlace reports whether a collective in place says what all of its memory is to be.
func wholeInPlace(spec *collective.Spec) bool {
	return spec.Kind == collective.AllReduce || spec.Kind == collective.Broadcast
}

// writtenBy tells of each buffer whether a step writes it.
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

// prove proves each of those that do not do the same.
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

// held is memory that a buffer of a part takes.
type held struct {
	tensor   schedule.Buffer
	from, to int64
	written  bool
}

// memory is what a part holds on one of its ranks.
func (p *partsProof) memory(part, place int) (list []held) {
	own := &p.parts[part]
	s, x := own.Schedule, p.alike[own.Schedule]
	for b := range schedule.Buffer(s.Buffers()) {
		n := s.Len(b, place)
		if t := s.Tensor(b); n == 0 || t != nil && t.Role == schedule.Defined {
			continue
		}
		home, off := s.Home(b, place)
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

// meets reports whether two have elements in common that one of them writes.
func (h held) meets(g held) bool {
	return h.tensor == g.tensor && h.from < g.to && g.from < h.to && (h.written || g.written)
}

// ordered reports whether no two parts meet that nothing orders, and no two buffers of one.
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
	apart := true
	p.s.Unordered(func(rank, earlier, part int) bool {
		there := p.memory(earlier, slices.Index(p.parts[earlier].Ranks, rank))
		for _, h := range p.memory(part, slices.Index(p.parts[part].Ranks, rank)) {
			apart = apart && !slices.ContainsFunc(there, h.meets)
		}
		return apart
	})
	return apart
}

// defined goes through what the parts say, and reports whether each finds all that it reads and
// nothing that is left open, and so do those who read the results.
func (p *partsProof) defined() bool {
	v := newVerifier(p.s)
	d := &definition{f: v.formulas, all: newStores(p.s, 1, p.s.Spec.Ranks)}
	for rank := range p.s.Spec.Ranks {
		for _, b := range v.given {
			v.give(d.all, b, rank, 0)
		}
	}
	for i := range p.parts {
		own := &p.parts[i]
		sc := scope{definition: d, of: own.Schedule, ranks: own.Ranks, part: i}
		if !sc.complete(reads(own.Schedule)) {
			return false
		}
		d.evaluate(sc)
		if !sc.leave(p.alike[own.Schedule].written) {
			return false
		}
	}
	for _, b := range v.results {
		if slices.ContainsFunc(v.everywhere(d.all, b), open) {
			return false
		}
	}
	p.made = d
	return true
}

// open is what nobody has written, or may be anything.
func open(g seg) bool { return g.v == nil || g.v == spoilt }

// reads are the buffers that a schedule is given.
func reads(s *schedule.Schedule) []schedule.Buffer {
	given := []schedule.Buffer{schedule.Input}
	for i := range s.Tensors {
		if s.Tensors[i].Role == schedule.Given {
			given = append(given, schedule.FirstTensor+schedule.Buffer(i))
		}
	}
	return given
}

// complete reports whether buffers hold something everywhere.
func (sc *scope) complete(buffers []schedule.Buffer) bool {
	for _, b := range buffers {
		for rank := range sc.of.Spec.Ranks {
			if slices.ContainsFunc(sc.read(b, rank), open) {
				return false
			}
		}
	}
	return true
}

// leave has all be anything that the steps of a part may have written and that it does not say. It
// reports false where a result is left open.
func (sc *scope) leave(written []bool) bool {
	for b := range schedule.Buffer(sc.of.Buffers()) {
		t := sc.of.Tensor(b)
		switch {
		case t != nil && t.Role == schedule.Result:
			if !sc.complete([]schedule.Buffer{b}) {
				return false
			}
		case !written[b] || b == schedule.Output || b == schedule.Input && sc.of.Spec.InPlace ||
			t != nil && t.Role == schedule.Defined:
		default:
			for rank := range sc.of.Spec.Ranks {
				if n := sc.of.Len(b, rank); n > 0 {
					sc.write(b, rank, 0, []seg{{n: n, v: spoilt}})
				}
			}
		}
	}
	return true
}

// sum is what is true of the whole.
func (p *partsProof) sum() *Proof {
	all := &Proof{Walked: p.s.Spec.Ranks, MinSlots: 1, Iterations: 1}
	for _, x := range p.list {
		all.Rounds, all.MinSlots = max(all.Rounds, x.Rounds), max(all.MinSlots, x.MinSlots)
	}
	edges := map[*provenPart]int64{} // a lane begins and ends
	for _, x := range p.list {
		ranks := x.s.Alike()
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
			v.fold, _ = foldingOf(x.s, Options{Iterations: 1})
			counts, _ := v.execute(all.MinSlots)
			most = counts.InFlight
		}
		all.InFlight = max(all.InFlight, most)
	}
	return all
}
