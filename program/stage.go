package program

import (
	"fmt"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// Private memory reaches other ranks through a communication buffer, which is known to them. A copy
// engine copies it there, chunk by chunk, and copies results to their places. Halves of the buffer
// alternate, so that one is filled and emptied while the other is in use by the call.
//
//	copies   in 0   in 1   out 0   in 2   out 1   …
//	call            0      1       2      …

// mostChunks bounds the chunks of a call.
const mostChunks = 1024

// chunks describes how a call goes through a communication buffer.
type chunks struct {
	spec    collective.Spec // of a team, for the whole call
	in, out int64           // blocks of its input and of its output
	size    int64           // elements of a block in a chunk
}

// count returns the number of chunks.
func (c *chunks) count() int64 { return (c.spec.Count + c.size - 1) / c.size }

// chunksOf returns how a call goes through the communication buffer; nil if it does not, and why.
func (x *plan) chunksOf(r *resolved) (c *chunks, why string, err error) {
	if r.call == nil || len(r.in) == 0 {
		return nil, "", nil
	}
	n := int64(x.teamSize(r.teams[0]))
	c = &chunks{in: 1, out: 1}
	switch r.call.Kind {
	case collective.AllReduce, collective.Broadcast, collective.SendRecv:
	case collective.AllGather:
		c.out = n
	case collective.ReduceScatter:
		c.in = n
	case collective.AllToAll:
		c.in, c.out = n, n
	default:
		return nil, fmt.Sprintf("ranks have other lengths of %v", r.call.Kind), nil
	}
	if x.memoryOf(r.in[0].Name) != Private && x.memoryOf(r.out.Name) != Private {
		return nil, "nothing of it is private", nil
	}
	if c.spec, err = r.call.Spec(int(n)); err != nil {
		return nil, "", &Error{r.number, -1, "call", r.Name + ": " + err.Error()}
	}
	c.spec.InPlace = false
	half := int64(x.passes.CommBuffer) / 2 / int64(r.call.Type.Width())
	c.size = max(1, min(half/max(c.in, c.out), c.spec.Count))
	switch {
	case n == 1 || c.spec.Count == 0:
		return nil, "nothing leaves its rank", nil
	case c.count() > mostChunks:
		return nil, fmt.Sprintf("it would be %d chunks; at most %d", c.count(), mostChunks), nil
	}
	for _, team := range r.teams {
		chosen, err := x.chosenFor(r, c.spec.WithCount(c.size), team, false)
		if err != nil {
			return nil, "", err
		}
		if chosen.Schedule.OneSided() {
			return nil, chosen.Name + " copies it to symmetric memory itself", nil
		}
	}
	return c, "", nil
}

// stage applies the pass that notes which calls go through the communication buffer. Lowering then
// does so in all plans of the program.
func stage(x *plan) (*plan, error) {
	y := x.fork()
	if x.guide.Decided != nil {
		return y, nil
	}
	done := 0
	for i := range y.ops {
		r := &y.ops[i]
		c, why, err := y.chunksOf(r)
		if err != nil {
			return nil, err
		}
		if c == nil {
			if why != "" {
				y.note("comm_buffer", r.names(), "left as it is", why)
			}
			continue
		}
		done++
		private := r.In[0]
		if y.memoryOf(r.in[0].Name) != Private {
			private = r.Out
		}
		y.note("comm_buffer", r.names(), fmt.Sprintf("copied in and out in %s of %v at most",
			prose.Plural(int(c.count()), "chunk"), unit.Bytes(c.size*max(c.in, c.out)*
				int64(c.spec.Type.Width()))), private+" is private")
	}
	if done == 0 {
		return y, nil
	}
	without := x.fork()
	without.passes.CommBuffer = 0
	return y.total("comm_buffer", without, fmt.Sprintf("%d copied", done)), nil
}

// staged lowers a call through the communication buffer, and returns its parts and the name of its
// schedule.
func (w *scheduler) staged(r *resolved, c *chunks, iteration int) (parts []int, name string,
	err error) {
	width := max(c.in, c.out) * c.size
	buffer := func(side string) (string, schedule.Place) {
		return w.own("comm_buffer_"+side+"_"+r.stream(), &schedule.Tensor{Type: c.spec.Type,
			Shape: collective.Shape{2 * width}}, false)
	}
	inName, in := buffer("in")
	outName, out := buffer("out")
	known := w.known(r.teams, r.stream(), iteration, []string{inName, outName})
	parts = known
	n := c.count()
	for i := range n {
		if i == 0 {
			parts = append(parts, w.copyIn(r, c, in, 0, known)...)
		}
		if i+1 < n {
			parts = append(parts, w.copyIn(r, c, in, i+1, nil)...)
		}
		var calls []schedule.Part
		for _, team := range r.teams {
			chosen, err := w.chosenFor(r, c.spec.WithCount(c.length(i)), team, false)
			if err != nil {
				return nil, "", err
			}
			if i == 0 {
				name = chosen.Name
			}
			call, _, err := w.callPart(r, team, chosen.Schedule, half(in, i, width),
				half(out, i, width))
			if err != nil {
				return nil, "", err
			}
			calls = append(calls, call)
		}
		parts = append(parts, w.add(calls, nil, nil)...)
		parts = append(parts, w.copyOut(r, c, out, i)...)
	}
	return parts, name, nil
}

// length returns the number of elements of a block in the i-th chunk.
func (c *chunks) length(i int64) int64 { return min(c.size, c.spec.Count-i*c.size) }

// half returns the half of a communication buffer that a chunk uses.
func half(at schedule.Place, i, width int64) schedule.Place {
	return schedule.Place{Tensor: at.Tensor, Offsets: []int64{at.Offset(0) + i%2*width}}
}

// copyIn adds the copy of a chunk to the communication buffer, after some parts. In a broadcast
// only the roots copy.
func (w *scheduler) copyIn(r *resolved, c *chunks, to schedule.Place, i int64, after []int) []int {
	ranks := w.ranksOf(r)
	if r.call.Kind == collective.Broadcast {
		ranks = r.roots()
	}
	width := max(c.in, c.out) * c.size
	p := w.copies(r, "copy in", ranks, c.in, c.length(i))
	for b := range c.in {
		from := w.tensors[r.In[0]]
		p.Memory = append(p.Memory, at(from, b*c.spec.Count+i*c.size),
			at(half(to, i, width), b*c.length(i)))
	}
	return w.add([]schedule.Part{p}, r.reads(), after)
}

// copyOut adds the copy of a chunk from the communication buffer.
func (w *scheduler) copyOut(r *resolved, c *chunks, from schedule.Place, i int64) []int {
	width := max(c.in, c.out) * c.size
	p := w.copies(r, "copy out", w.ranksOf(r), c.out, c.length(i))
	for b := range c.out {
		to := w.tensors[r.Out]
		p.Memory = append(p.Memory, at(half(from, i, width), b*c.length(i)),
			at(to, b*c.spec.Count+i*c.size))
	}
	return w.add([]schedule.Part{p}, r.writes(), nil)
}

// at returns a place so many elements behind another.
func at(p schedule.Place, off int64) schedule.Place {
	return schedule.Place{Tensor: p.Tensor, Offsets: []int64{p.Offset(0) + off}}
}

// ranksOf returns the ranks that do an op; nil is all.
func (w *scheduler) ranksOf(r *resolved) (ranks []int) {
	for _, team := range r.teams {
		ranks = append(ranks, team...)
	}
	return ranks
}

// copies returns a part in which a copy engine copies blocks of so many elements, on the second
// stream of a call. The caller sets the places of the blocks.
func (w *scheduler) copies(r *resolved, what string, ranks []int,
	blocks, count int64) schedule.Part {
	t := kernel.Tensor{Type: r.call.Type, Shape: collective.Shape{count}}
	same, err := kernel.NewCast(t, t.Type)
	if err != nil {
		panic(err) // of a type into itself
	}
	var tensors []schedule.Tensor
	var defs []schedule.Def
	for b := range blocks {
		from, to := fmt.Sprintf("from%d", b), fmt.Sprintf("to%d", b)
		tensors = append(tensors,
			schedule.Tensor{Name: from, Type: t.Type, Shape: t.Shape, Role: schedule.Given},
			schedule.Tensor{Name: to, Type: t.Type, Shape: t.Shape, Role: schedule.Result})
		first := schedule.FirstTensor + schedule.Buffer(2*b)
		defs = append(defs, schedule.Def{Kernel: &same, From: []schedule.Buffer{first}, To: first + 1})
	}
	none := make([]int64, w.teamSize(ranks))
	s, err := schedule.Build(schedule.Plan{Name: schedule.Word(what), Tensors: tensors, Defs: defs,
		Same: true, Spec: collective.Spec{Kind: collective.Custom, Type: t.Type, Ranks: len(none),
			Splits: [][]int64{none, none}},
		Lane: func(l *schedule.Lane) {
			l.Launch(schedule.Launch{Engine: schedule.CopyEngine, Name: schedule.Word(what)})
			for b := range blocks {
				l.Combine([]schedule.Region{l.Tensor(fmt.Sprintf("to%d", b), 0)}, nil,
					l.Local(l.Tensor(fmt.Sprintf("from%d", b), 0)))
			}
		}})
	if err != nil {
		panic(err) // the names are ours
	}
	return schedule.Part{Name: schedule.Word(r.Name + " " + what), Schedule: s, Ranks: ranks,
		Stream: w.stream(r.stream()) + 1, Memory: make([]schedule.Place, schedule.FirstTensor)}
}
