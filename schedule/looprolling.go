package schedule

// maxBody bounds the nodes of a loop body that roll looks for, and maxTile does in programs that
// are written out (Assemble). A loop over tiles there repeats everything that a lane does.
const (
	maxBody = 64
	maxTile = 512
)

// A roll is a lane under construction, in which repeated steps become loops. Three equal groups of
// nodes whose variables rise by a constant stride become a loop. A group that continues the loop
// before it becomes another iteration. So the memory is that of the result.
type roll struct {
	knots []knot
	mods  *moduli
	long  bool // bodies go up to maxTile

	// Nodes that have become another iteration of a loop, whose memory is reused. Most steps of
	// most lanes end so.
	spare []knot
	empty []Step  // slices of their steps
	over  []*Step // the steps themselves
}

// mostSpare bounds the nodes kept for reuse.
const mostSpare = 8

// blank returns an empty step with reused slices.
func (r *roll) blank() (s Step) {
	if last := len(r.empty) - 1; last >= 0 {
		s, r.empty = r.empty[last], r.empty[:last]
	}
	return s
}

// keep returns a step in reused memory.
func (r *roll) keep(s Step) *Step {
	var kept *Step
	if last := len(r.over) - 1; last >= 0 {
		kept, r.over = r.over[last], r.over[:last]
	} else {
		kept = new(Step)
	}
	*kept = s
	return kept
}

// restart begins another lane. It reuses nodes of those before it that are not used any more.
func (r *roll) restart(unused []knot) {
	for i := range unused {
		if unused[i].step != nil {
			r.spare = append(r.spare, unused[i])
		}
	}
	r.knots = unused[:0]
}

// body returns the largest length of a loop's body.
func (r *roll) body() int {
	if r.long {
		return maxTile
	}
	return maxBody
}

// A knot is a step, or a loop over body.
type knot struct {
	step    *Step     // with its variables set to 0
	moduli  []modulus // of each variable
	values  []int32   // of the step's variables in iteration 0
	strides [][]int32 // of the loops around the step, outermost first
	shape   uint64
	count   int32 // of a loop
	body    []knot
	depth   int8 // nesting of loops inside
}

// maxReach bounds how far a variable changes within one loop.
const maxReach = 1 << 28

// sameForm reports whether two nodes are equal steps up to variables, or loops of equal counts.
func sameForm(x, y *knot) bool {
	return x.shape == y.shape && x.count == y.count && (x.step == nil) == (y.step == nil) &&
		(x.step == nil || x.step.equal(y.step))
}

// moduli are the numbers that variables count modulo. Without a group they do not wrap: no loop
// leads from the last rank, or block, to the first.
type moduli struct {
	wraps  bool
	ranks  int32
	blocks []int32
}

// moduli returns the moduli of a schedule.
func (s *Schedule) moduli() *moduli {
	return &moduli{wraps: s.Group != nil, ranks: int32(s.Spec.Ranks), blocks: s.blocks}
}

// of returns a modulus as a number, 0 for none.
func (m *moduli) of(x modulus) int32 {
	switch {
	case x == plain || !m.wraps:
		return 0
	case x == byPeer:
		return m.ranks
	}
	return m.blocks[x-byBlock]
}

// add appends a step and rolls up what it repeats.
func (r *roll) add(s *Step) {
	k := knot{step: s, shape: s.shape()}
	if last := len(r.spare) - 1; last >= 0 {
		over := &r.spare[last]
		k.values, k.moduli = over.values[:0], over.moduli[:0]
		if t := over.step; len(r.empty) < mostSpare {
			r.empty = append(r.empty, Step{From: t.From[:0], To: t.To[:0], Send: t.Send[:0],
				Await: t.Await[:0]})
			r.over = append(r.over, t)
		}
		r.spare = r.spare[:last]
	} else {
		n := 1 + 4*len(s.From) + 2*len(s.To) + 4*len(s.Send) + 2*len(s.Await)
		k.values, k.moduli = make([]int32, 0, n), make([]modulus, 0, n)
	}
	s.variables(func(x *int32, m modulus) {
		n := r.mods.of(m)
		if n > 0 {
			*x = mod(*x, n)
		}
		k.values = append(k.values, *x)
		k.moduli = append(k.moduli, m)
		*x = 0
	})
	r.knots = append(r.knots, k)
	for r.extend() || r.form() {
	}
}

// extend turns the last nodes into another iteration of the loop before them, if they continue it.
func (r *roll) extend() bool {
	n := len(r.knots)
	for k := 1; k <= r.body() && k < n; k++ {
		loop := &r.knots[n-k-1]
		if len(loop.body) != k || !r.continues(loop.body, r.knots[n-k:], loop.count) {
			continue
		}
		loop.count++
		for _, over := range r.knots[n-k:] {
			if over.step != nil && len(r.spare) < mostSpare {
				r.spare = append(r.spare, over)
			}
		}
		r.knots = r.knots[:n-k]
		return true
	}
	return false
}

// form turns the last nodes into a loop, if they are three iterations of one.
func (r *roll) form() bool {
	n := len(r.knots)
	for k := 1; k <= r.body() && 3*k <= n; k++ {
		first, second, third := r.knots[n-3*k:n-2*k], r.knots[n-2*k:n-k], r.knots[n-k:]
		if !r.even(&first[k-1], &second[k-1], &third[k-1]) ||
			!r.alike(first, second) || !r.alike(second, third) {
			continue
		}
		body := stride(first, second, r.mods)
		if !r.continues(body, third, 2) {
			continue
		}
		loop := knot{count: 3, body: body, shape: 1099511628211}
		for i := range body {
			loop.shape = loop.shape*31 + body[i].shape
			loop.depth = max(loop.depth, body[i].depth+1)
		}
		if loop.depth > maxLoops {
			return false
		}
		r.knots = append(r.knots[:n-3*k], loop)
		return true
	}
	return false
}

// even reports whether three nodes may be one node in three iterations. It is a quick check before
// whole bodies are compared.
func (r *roll) even(x, y, z *knot) bool {
	if x.shape != y.shape || y.shape != z.shape || len(x.values) != len(z.values) {
		return false
	}
	for j := range x.values {
		d := (int64(z.values[j]) - int64(y.values[j])) - (int64(y.values[j]) - int64(x.values[j]))
		if n := r.mods.of(x.moduli[j]); n > 0 {
			d %= int64(n)
		}
		if d != 0 {
			return false
		}
	}
	return true
}

// alike reports whether two lists of nodes are equal up to the variables of steps.
func (r *roll) alike(a, b []knot) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if !sameForm(x, y) || !sameStrides(x.strides, y.strides) || !r.alike(x.body, y.body) {
			return false
		}
	}
	return true
}

// stride returns the body of a new loop whose first two iterations are a and b. The body is a copy
// of a in which each step has one more stride, the outermost. That stride is the change of each
// variable of the step from a to b. REQUIRES: a and b are equal up to the variables of steps.
func stride(a, b []knot, mods *moduli) []knot {
	body := make([]knot, len(a))
	for i := range a {
		body[i] = a[i]
		if a[i].step == nil {
			body[i].body = stride(a[i].body, b[i].body, mods)
			continue
		}
		d := make([]int32, len(a[i].values))
		for j, v := range a[i].values {
			d[j] = b[i].values[j] - v
			if n := mods.of(a[i].moduli[j]); n > 0 {
				if d[j] = mod(d[j], n); d[j] > n/2 {
					d[j] -= n
				}
			}
		}
		body[i].strides = append([][]int32{d}, a[i].strides...)
	}
	return body
}

// continues reports whether next is the given iteration of body, by body's outermost strides.
func (r *roll) continues(body, next []knot, iteration int32) bool {
	if len(body) != len(next) {
		return false
	}
	for i := range body {
		x, y := &body[i], &next[i]
		if !sameForm(x, y) {
			return false
		}
		if x.step == nil {
			if !r.continues(x.body, y.body, iteration) {
				return false
			}
			continue
		}
		if !sameStrides(x.strides[1:], y.strides) || !r.reaches(x, y, iteration) {
			return false
		}
	}
	return true
}

// reaches reports whether x's variables, iteration strides further on, equal y's.
func (r *roll) reaches(x, y *knot, iteration int32) bool {
	for j, v := range x.values {
		reach := int64(iteration) * int64(x.strides[0][j])
		if reach > maxReach || reach < -maxReach { // a cursor counts in 32 bits
			return false
		}
		d := int64(y.values[j]) - int64(v) - reach
		if n := r.mods.of(x.moduli[j]); n > 0 {
			d %= int64(n)
		}
		if d != 0 {
			return false
		}
	}
	return true
}

// sameStrides reports whether two lists of strides are equal.
func sameStrides(a, b [][]int32) bool {
	if len(a) != len(b) {
		return false
	}
	for d := range a {
		for j := range a[d] {
			if a[d][j] != b[d][j] {
				return false
			}
		}
	}
	return true
}
