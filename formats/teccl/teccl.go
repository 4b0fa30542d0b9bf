// Package teccl reads the schedules of TE-CCL: JSON whose flows are sentences, "Chunk 0 from 3
// traveled over 2->6 in epoch 4". Each moves a chunk of a source over one hop, and sends data that
// were there before the epoch. Switches ("via switches 17") are not ranks, and GPUs are ranks in
// the order of their numbers.
//
// The file does not name its collective. It is an all-gather, unless its demands need every chunk
// at one GPU only: then it is an all-to-all, whose chunks may be split ("with volume 0.2"). The
// paths of the demands then give the route of each part. Input and output are chunks in the order
// of their numbers; those of an all-to-all are numbered by destination.
//
// Package transfers makes the lanes. The package knows neither the solver nor its model of time.
//
// Sources: Liu et al., "Rethinking Machine Learning Collective Communication as a Multi-Commodity
// Flow Problem", SIGCOMM 2024; teccl/solvers/allgather.py and alltoall.py of microsoft/TE-CCL.
package teccl

import (
	"fmt"
	"io"
	"slices"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/transfers"
)

// Read reads a schedule. Options.As may be all_gather or all_to_all, which replaces the kind of the
// demands. It refuses an input file of the solver and names it as such.
func Read(r io.Reader, o foreign.Options) (*foreign.File, error) {
	s, err := decode(r, o.File)
	if err != nil {
		return nil, err
	}
	wrong := func(err error) error { return &foreign.Error{File: o.File, Text: err.Error()} }
	if err := s.findRanks(); err != nil {
		return nil, wrong(err)
	}
	kind := s.kind()
	if o.As != 0 {
		kind = o.As
	}
	var plan *transfers.Plan
	switch kind {
	case collective.AllGather:
		plan, err = s.gather(o)
	case collective.AllToAll:
		plan, err = s.exchange(o)
	default:
		err = fmt.Errorf("TE-CCL has no %v: all_gather or all_to_all is expected", kind)
	}
	if err != nil {
		return nil, wrong(err)
	}
	plan.Name = "te-ccl"
	slices.SortStableFunc(plan.Moves, func(a, b transfers.Move) int { return int(a.Stage - b.Stage) })
	low, err := transfers.Lower(*plan)
	if err != nil {
		return nil, wrong(err)
	}
	return &foreign.File{Format: "teccl", Schedule: low.Schedule, Notes: s.notes(),
		Sizes: fmt.Sprintf("every size: a block is cut into %d chunks, the first ones larger",
			s.chunks(kind)),
		Where: func(rank, lane, step int) foreign.Place { return s.place(low, rank, lane, step) },
	}, nil
}

// place returns the flow that a step of the schedule belongs to.
func (s *solution) place(low *transfers.Lowered, rank, lane, step int) foreign.Place {
	p := foreign.Place{Block: -1, Step: -1}
	m, _ := low.Move(rank, lane, step)
	switch {
	case m == nil:
		return p
	case m.Item < 0:
		p.Text = fmt.Sprintf("the copy of rank %d's input to its output", rank)
		return p
	}
	f := &s.flows[m.Item]
	p.Line, p.Step = f.line, f.epoch
	p.Text = fmt.Sprintf("chunk %d from %d over %d->%d in epoch %d", f.chunk, f.source, f.from, f.to,
		f.epoch)
	return p
}

// notes lists remarks on the file.
func (s *solution) notes() []string {
	return []string{
		fmt.Sprintf("%d flows in %d epochs of %g, which TE-CCL reckons to finish at %g with an algbw "+
			"of %g, in its units", s.hops, s.epochs, s.duration, s.finish, s.algbw),
		fmt.Sprintf("ranks 0…%d are GPUs %d…%d", len(s.gpus)-1, s.gpus[0], s.gpus[len(s.gpus)-1]),
	}
}

// findRanks numbers the GPUs: those of the demands or, without demands, all ends of flows.
func (s *solution) findRanks() error {
	for _, d := range s.demands {
		s.gpus = append(s.gpus, d.source, d.at)
	}
	if len(s.demands) == 0 {
		for i := range s.flows {
			s.gpus = append(s.gpus, s.flows[i].source, s.flows[i].from, s.flows[i].to)
		}
	}
	slices.Sort(s.gpus)
	s.gpus = slices.Compact(s.gpus)
	if len(s.gpus) == 0 {
		return fmt.Errorf("no flow and no demand names a GPU")
	}
	// Every chunk is in a flow or a demand: a number beyond their count is an error.
	if most, all := s.most(), len(s.flows)+len(s.demands)+len(s.gpus); most > all {
		return fmt.Errorf("chunk %d is named, among %d flows and demands", most,
			len(s.flows)+len(s.demands))
	}
	for i := range s.flows {
		f := &s.flows[i]
		for _, gpu := range [3]int{f.source, f.from, f.to} {
			if s.rank(gpu) < 0 {
				return fmt.Errorf("line %d: node %d is at the end of a flow, and no demand names it as a "+
					"GPU", f.line, gpu)
			}
		}
	}
	return nil
}

// rank returns the rank of a GPU, −1 if it is none.
func (s *solution) rank(gpu int) int {
	i, ok := slices.BinarySearch(s.gpus, gpu)
	if !ok {
		return -1
	}
	return i
}

// kind returns the collective of the demands: in an all-to-all every chunk is needed at one GPU.
func (s *solution) kind() collective.Kind {
	if len(s.gpus) < 3 || len(s.demands) == 0 {
		return collective.AllGather
	}
	asked := map[[2]int]int{}
	for _, d := range s.demands {
		key := [2]int{d.source, d.chunk}
		if at, ok := asked[key]; ok && at != d.at {
			return collective.AllGather
		}
		asked[key] = d.at
	}
	return collective.AllToAll
}

// chunks returns the number of chunks of a block.
func (s *solution) chunks(kind collective.Kind) int {
	if kind == collective.AllToAll {
		return s.most()/len(s.gpus) + 1
	}
	return s.most() + 1
}

// most returns the highest number of a chunk.
func (s *solution) most() (most int) {
	for i := range s.flows {
		most = max(most, s.flows[i].chunk)
	}
	for _, d := range s.demands {
		most = max(most, d.chunk)
	}
	return most
}
