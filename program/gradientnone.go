package program

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// without notes what the backward pass leaves out. These are tensors without a gradient on any rank
// that are not marked NoGradient, and contributions of opaque kernels to other gradients. A rank on
// which nothing depends on a tensor has gradient 0, which needs no note.
func (b *backward) without() (notes []Note) {
	names := map[string][]string{} // by the reason
	for _, t := range b.tensors {
		why := b.whyNone(t)
		names[why] = append(names[why], t.Name)
	}
	for _, why := range []string{notFloat, unread, readBehind, readOpaque, leadsNowhere} {
		if of := names[why]; of != nil {
			notes = append(notes, Note{Pass: "gradient", Tensors: of, Did: "none", Why: why})
		}
	}
	for i := range b.ops {
		r := &b.ops[i]
		if did, why := b.ofOpaque(r); did != "" {
			notes = append(notes, Note{Pass: "gradient", Ops: []string{r.Name}, Did: did, Why: why})
		}
		if rank, rows := b.unsent(r); rank >= 0 && b.sent[r.In[0]] && b.hasGradient(r.In[0]) {
			notes = append(notes, Note{Pass: "gradient", Tensors: r.In[:1],
				Did: fmt.Sprintf("no row but those that %s sends has one, %d of %d on rank %d", r.Name,
					rows, r.in[0].Shape[r.call.Axis], rank), Why: "its splits say so"})
		}
	}
	return notes
}

// ofOpaque returns what is noted of an opaque kernel's backward pass, and why; empty if nothing is.
func (b *backward) ofOpaque(r *resolved) (did, why string) {
	switch {
	case r.isOpaque() && slices.ContainsFunc(r.In, b.hasGradient):
		return "what it reads has a gradient without its share", "opaque: nothing but the time is known"
	case r.isStandIn() && r.Backward == "" && b.hasGradient(r.Out):
		return "backward it takes twice what it takes forward", "nothing else is stated"
	}
	return "", ""
}

// unsent returns the first rank that has more rows of a tensor than a call with splits sends of it,
// and how many it sends; −1 if there is none.
func (b *backward) unsent(r *resolved) (rank int, rows int64) {
	if r.call == nil || r.call.Kind != collective.AllGatherV && r.call.Kind != collective.AllToAllV ||
		r.in[0].rows != nil {
		return -1, 0
	}
	for at, shape := range r.call.Inputs(b.teamSize(r.teams[0])) {
		if n := shape[r.call.Axis]; n < r.in[0].Shape[r.call.Axis] {
			if team := r.teams[0]; team != nil {
				at = team[at]
			}
			return at, n
		}
	}
	return -1, 0
}

// sentAlone reports whether a given tensor stands for what one call sends of it: no other op reads
// it, and none its gradient. That then has the rows that are sent.
func (b *backward) sentAlone(name string) bool {
	readers := 0
	for _, o := range slices.Concat(b.Ops, b.behind.ops) {
		for _, in := range o.In {
			if in == name {
				readers++
			}
		}
	}
	return readers == 1 && len(b.writtenBy(name)) == 0 && b.wanted[name] == nil
}

// rowsSent returns how many rows of its tensor each rank sends by a call with splits.
func (b *backward) rowsSent(r *resolved) []int64 {
	rows := make([]int64, b.Ranks)
	shapes := r.call.Inputs(b.teamSize(r.teams[0]))
	for _, team := range r.teams {
		for place, rank := range b.ranksOf([][]int{nil}) {
			if team != nil && place < len(team) {
				rank = team[place]
			}
			if place < len(shapes) {
				rows[rank] = shapes[place][r.call.Axis]
			}
		}
	}
	return rows
}

// Why a tensor has no gradient on any rank.
const (
	notFloat     = "no floating-point type"
	unread       = "read by no op"
	readBehind   = "read only by ops that wait for gradients"
	readOpaque   = "read only by opaque kernels that write nothing: with out they have a gradient"
	leadsNowhere = "read only by ops whose own result has none"
)

// whyNone returns why a tensor has no gradient. It is empty if it has one, or if none is expected:
// where NoGradient says so, or everything that it is computed from has none.
func (b *backward) whyNone(t Tensor) string {
	isGiven := len(b.writtenBy(t.Name)) == 0
	switch {
	case t.NoGradient || b.hasGradient(t.Name) || !isGiven && !b.need[t.Name] || b.isGradient(t.Name):
		return ""
	case !t.Type.IsFloat():
		return notFloat
	}
	reads := func(o Op) bool { return slices.Contains(o.In, t.Name) }
	forward, opaque := false, true
	for i := range b.ops {
		if r := &b.ops[i]; slices.Contains(r.In, t.Name) {
			forward, opaque = true, opaque && r.isOpaque()
		}
	}
	switch {
	case !forward && slices.ContainsFunc(b.behind.ops, reads):
		return readBehind
	case !forward:
		return unread
	case opaque:
		return readOpaque
	}
	return leadsNowhere
}

// isGradient reports whether a tensor is declared as the gradient of a result.
func (b *backward) isGradient(name string) bool {
	of, ok := strings.CutSuffix(name, gradientSuffix)
	return ok && b.need[of]
}

// hasGradient reports whether any rank has a gradient of a tensor.
func (b *backward) hasGradient(name string) bool {
	return slices.ContainsFunc(b.now[name], func(gradient string) bool { return gradient != "" })
}

// isOpaque reports whether an op is an opaque kernel without a result: only its cost is known.
func (r *resolved) isOpaque() bool { return r.call == nil && !r.kernel.HasResult() }
