package schedule

import "fmt"

// Assemble makes a schedule of steps that are written out, as readers of other formats have them.
// head gives everything but the programs, with no group. lanes is the number of lanes of each rank;
// write adds the steps of one lane in order, and is asked once for each. Repeated steps are
// rolled up while they are added, so a loop over tiles costs the memory of one. A step that names a
// rank, lane, block or team that does not exist is an error that says where.
func Assemble(
	head Schedule, lanes []int, write func(rank, lane int, add func(Step)),
) (*Schedule, error) {
	s := &head
	s.Slices = max(s.Slices, 1)
	if err := s.settle(); err != nil {
		return nil, err
	}
	if s.Group != nil || len(lanes) != s.Spec.Ranks {
		return nil, fmt.Errorf("schedule: programs of %d ranks for %d, or a group", len(lanes),
			s.Spec.Ranks)
	}
	codes := make([]*code, s.Spec.Ranks)
	mods := &moduli{ranks: int32(s.Spec.Ranks), blocks: s.blocks}
	for rank := range codes {
		var b bundler
		for lane := range lanes[rank] {
			r := roll{mods: mods, long: true}
			number := 0
			var wrong error
			write(rank, lane, func(step Step) {
				if err := s.admit(&step, lanes); err != nil && wrong == nil {
					wrong = fmt.Errorf("schedule: rank %d lane %d step %d: %w", rank, lane, number,
						err)
				}
				if wrong == nil {
					r.add(step)
				}
				number++
			})
			if wrong != nil {
				return nil, wrong
			}
			b.add(0, r.knots, mods)
		}
		codes[rank] = b.code()
	}
	s.role = func(rank int32) *code { return codes[rank] }
	return s, nil
}

// admit says what a step names that does not exist.
func (s *Schedule) admit(step *Step, lanes []int) (err error) {
	peer := func(p *Peer) {
		switch {
		case p.Rank < 0 || int(p.Rank) >= s.Spec.Ranks:
			err = fmt.Errorf("rank %d is none of the %d", p.Rank, s.Spec.Ranks)
		case p.Lane < 0 || int(p.Lane) >= lanes[p.Rank]:
			err = fmt.Errorf("rank %d has no lane %d", p.Rank, p.Lane)
		}
	}
	team := func(ranks []int32) {
		for _, r := range ranks {
			if r < 0 || int(r) >= s.Spec.Ranks {
				err = fmt.Errorf("rank %d is none of the %d", r, s.Spec.Ranks)
			}
		}
	}
	for i := range step.From {
		if f := &step.From[i]; f.Kind == Message || f.Kind == Get {
			peer(&f.Peer)
		}
		if team(step.From[i].Team); step.From[i].Kind == Multimem && len(step.From[i].Team) == 0 {
			err = fmt.Errorf("multimem without ranks")
		}
	}
	for i := range step.Send {
		d := &step.Send[i]
		if team(d.Team); d.Team == nil && !d.Silent {
			peer(&d.Peer)
		}
	}
	step.regions(func(r *Region) {
		if r.Buffer >= numBuffers || r.Run < 0 || r.Times < 0 || r.Tile < 0 {
			err = fmt.Errorf("a region of no buffer, or of negative size")
			return
		}
		for i := range r.count() {
			if b := r.block(i); b < 0 || b >= s.blocks[r.Buffer] {
				err = fmt.Errorf("block %d of %v, which has %d", b, r.Buffer, s.blocks[r.Buffer])
			}
		}
	})
	return err
}
