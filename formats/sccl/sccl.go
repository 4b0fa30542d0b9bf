// Package sccl reads the algorithms of SCCL and msccl-tools ("msccl_type") and of TACCL
// ("sccl_type"), both JSON. An algorithm has steps, each a list of sends [address, source,
// destination]. They move chunks from ranks that hold them initially to ranks that need them in the
// end.
//
// A send reads the content of its source before the step and arrives after it. Chunks that share an
// address are summands. An arrival is added to the content, unless it already contains all of that:
// then it replaces it (the all-gather half of an all-reduce). TACCL's sends may name the operation:
// [address, source, destination, time, link, "rrc" or null]. The tools check that every chunk
// reaches its ranks, but with OR: adding a contribution twice escapes them, and does not escape
// proof.Verify. A chunk is stored in the input or the output, by its place among the sorted
// addresses of input_map or output_map, and elsewhere in scratch.
//
// The format has no thread blocks: package transfers makes the lanes. The package knows neither how
// the tools found the algorithm nor their later output (package msccl reads that).
//
// Sources: Cai et al., "Synthesizing Optimal Collective Algorithms", PPoPP 2021; Shah et al.,
// "TACCL: Guiding Collective Algorithm Synthesis using Communication Sketches", NSDI 2023;
// msccl/serialization.py, msccl/algorithm.py and msccl/ncclize.py of microsoft/msccl-tools;
// taccl/serialization.py of microsoft/taccl.
package sccl

import (
	"fmt"
	"io"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// maxScratch bounds the chunks of a scratch buffer, and its elements in units of 2²².
const maxScratch = 1 << 22

// Read reads an algorithm. Its kind is that of the collective's name (Allgather(n=8),
// Broadcast(n=4,root=0), …) or Options.As; any other name is collective.Custom. File.Found has the
// sends that add a chunk again; for Custom, chunks that are missing or misplaced by the file's own
// postcondition; and, unless Options.Runtime is "none", steps that exceed a link of the file's
// topology, which msccl-tools refuses.
func Read(r io.Reader, o foreign.Options) (*foreign.File, error) {
	a, err := decode(r, o.File)
	if err != nil {
		return nil, err
	}
	wrong := func(format string, args ...any) error {
		return &foreign.Error{File: o.File, Text: fmt.Sprintf(format, args...)}
	}
	if err := a.check(); err != nil {
		return nil, wrong("%v", err)
	}
	l, err := a.layout(o)
	if err != nil {
		return nil, wrong("%v", err)
	}
	m := newMover(a, l, o.File)
	if err := m.run(); err != nil {
		return nil, err
	}
	if n := int64(m.slots); n*int64(l.parts) > maxScratch || n*(l.count>>22) > maxScratch {
		return nil, wrong("scratch of %d times %d chunks is too large", m.slots, l.parts)
	}
	low, err := transfers.Lower(transfers.Plan{Name: "sccl", Spec: l.spec, Memory: m.memory(),
		Cuts:  [3]schedule.Cut{l.cut(l.blocks[0]), l.cut(l.blocks[1]), l.cut(m.slots * l.parts)},
		Moves: m.moves})
	if err != nil {
		return nil, wrong("%v", err)
	}
	f := &foreign.File{Format: "sccl", Name: a.name, Schedule: low.Schedule, Notes: a.notes(),
		Sizes: fmt.Sprintf("every size: a block is cut into %d chunks, the first ones larger; MSCCL "+
			"itself takes only sizes that divide", l.parts)}
	if a.taccl {
		f.Format = "taccl"
	}
	f.Where = func(rank, lane, step int) foreign.Place { return a.place(low, rank, lane, step) }
	if l.spec.Empty() {
		return f, nil
	}
	f.Found = m.repeated(low)
	if l.spec.Kind == collective.Custom {
		f.Found = append(f.Found, m.unmet()...)
	}
	if o.Runtime != "none" && !a.taccl {
		f.Found = append(f.Found, a.overloads(low, m)...)
	}
	return f, nil
}

// place returns the send that a step of the schedule belongs to.
func (a *algorithm) place(low *transfers.Lowered, rank, lane, step int) foreign.Place {
	p := foreign.Place{Block: -1, Step: -1}
	m, _ := low.Move(rank, lane, step)
	switch {
	case m == nil:
		return p
	case m.Item < 0:
		p.Text = fmt.Sprintf("the copy of rank %d's input to its output", rank)
		return p
	}
	s := &a.sends[m.Item]
	p.Line, p.Step = s.line, int(s.step)
	p.Text = fmt.Sprintf("step %d: address %d from rank %d to rank %d", s.step, s.addr, s.src, s.dst)
	return p
}

// notes lists remarks on the file.
func (a *algorithm) notes() []string {
	rounds := int64(0)
	for _, n := range a.rounds {
		rounds += n
	}
	notes := []string{fmt.Sprintf("synthesised for %s: %d steps, %d rounds", a.topology.name,
		len(a.rounds), rounds)}
	if a.steps != int64(len(a.rounds)) {
		notes = append(notes, fmt.Sprintf("its instance was for %d steps", a.steps))
	}
	if a.pipeline > 0 {
		notes = append(notes, fmt.Sprintf("made to begin again every %d steps; it is run once",
			a.pipeline))
	}
	return notes
}
