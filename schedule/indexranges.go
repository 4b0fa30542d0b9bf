package schedule

import "fmt"

// A form is a variable of a step as a linear function: of the lane of a bundle (stride 0) and of
// the iterations of the loops around it.
type form struct {
	base    int64
	strides [maxLoops + 1]int64
}

// minus returns the difference of two forms.
func (f form) minus(g form) form {
	f.base -= g.base
	for d := range f.strides {
		f.strides[d] -= g.strides[d]
	}
	return f
}

// A checker checks steps of a lane, or of a bundle of lanes, against the rules of schedules
// (wellformed.go).
type checker struct {
	s        *Schedule
	rank     int32
	lane     int32                  // number of the first lane
	channels int64                  // 1 + the highest channel of the lanes
	lanes    func(rank int32) int32 // number of lanes of a rank
	foreign  bool                   // operators are checked by Execute, not here

	times [maxLoops + 1]int32 // number of executions: lanes, then each loop's iterations
	// of the step's variables, in variables' order; nil if it executes once
	strides [][]int32
	at      int   // index of the next variable
	ends    []end // message ends of the step
	buffer  Step
	values  [2]int64
}

// An end is one end of a connection that a step uses, for every lane and iteration.
type end struct {
	rank, lane form
	class      Class
	tag        int32
	out        bool
}

// step returns the rule that a step breaks if it executes once.
func (k *checker) step(s *Step) error {
	k.times = [maxLoops + 1]int32{1, 1, 1, 1, 1}
	return k.check(s, nil)
}

// bundle returns the rule that a step breaks in the lanes of a bundle. It executes in times[0]
// lanes, and times[d] times in the d-th loop around it.
func (k *checker) bundle(u *bundle, c *code, n *node, times []int32) error {
	last := u.channel + (u.count-1)*u.channelStride
	k.lane, k.channels = u.first, int64(max(u.channel, last))+1
	k.times = [maxLoops + 1]int32{1, 1, 1, 1, 1}
	copy(k.times[:], times)
	return k.check(c.stepOf(n, &k.buffer), c.leaves[n.leaf].strides)
}

// check returns the rule that a step breaks in any of its executions.
func (k *checker) check(s *Step, strides [][]int32) error {
	if err := k.s.shaped(s); err != nil {
		return err
	}
	if err := k.s.computes(s); err != nil && !k.foreign {
		return err
	}
	k.strides, k.ends, k.at = strides, k.ends[:0], 0
	return k.inRange(s)
}

// next returns the next variable of the step; x is its first value.
func (k *checker) next(x int32) form {
	f := form{base: int64(x)}
	for d, by := range k.strides {
		if by != nil {
			f.strides[d] = int64(by[k.at])
		}
	}
	k.at++
	return f
}

// extremes returns the least and the greatest value of a form. They occur where every iteration is
// its first or its last.
func (k *checker) extremes(f form) (low, high int64) {
	if low, high = f.base, f.base; k.strides == nil {
		return low, high
	}
	for d, stride := range f.strides {
		reach := stride * int64(k.times[d]-1)
		low, high = low+min(reach, 0), high+max(reach, 0)
	}
	return low, high
}

// some reports whether forms together take values that pass a test. It enumerates the iterations in
// which one of them may differ, at most as many as the step has executions.
func (k *checker) some(test func(x []int64) bool, forms ...form) bool {
	x := k.values[:len(forms)]
	for i, f := range forms {
		x[i] = f.base
	}
	var walk func(d int) bool
	walk = func(d int) bool {
		if d == len(k.times) {
			return test(x)
		}
		times, moves := k.times[d], false
		for _, f := range forms {
			moves = moves || f.strides[d] != 0
		}
		if !moves {
			return walk(d + 1)
		}
		for n := range times {
			if walk(d + 1) {
				return true
			}
			for i, f := range forms {
				if x[i] += f.strides[d]; n == times-1 {
					x[i] -= int64(times) * f.strides[d]
				}
			}
		}
		return false
	}
	return walk(0)
}

// inRange checks the variables of a step.
func (k *checker) inRange(s *Step) error {
	if low, _ := k.extremes(k.next(s.Round)); low < 0 {
		return fmt.Errorf("round %d is negative", low)
	}
	for i := range s.From {
		f := &s.From[i]
		if err := k.source(f); err != nil {
			return err
		}
	}
	for i := range s.To {
		if err := k.region(&s.To[i]); err != nil {
			return err
		}
	}
	for i := range s.Send {
		if err := k.dest(&s.Send[i]); err != nil {
			return err
		}
	}
	if k.twice() {
		return fmt.Errorf("a connection is used twice in one step")
	}
	for i := range s.Await {
		if err := k.event(&s.Await[i]); err != nil {
			return err
		}
	}
	return nil
}

// source checks the variables of a source.
func (k *checker) source(f *Source) error {
	if f.Kind != Message && f.Kind != Get {
		k.at += 2
	} else if err := k.peer(&f.Peer, f.Kind == Message, false); err != nil {
		return err
	}
	if f.Kind == Message {
		k.at += 2
		return nil
	}
	return k.region(&f.Region)
}

// dest checks the variables of a destination.
func (k *checker) dest(d *Dest) error {
	if d.Team != nil {
		k.at += 2
	} else if err := k.peer(&d.Peer, d.Message(), true); err != nil {
		return err
	}
	if !d.Lands() {
		k.at += 2
		return nil
	}
	return k.region(&d.Region)
}

// outside returns the one of two bounds that is not in 0 … n−1.
func outside(low, high, n int64) int64 {
	if low < 0 {
		return low
	}
	return high
}

// region checks the tile, channel and blocks of a region.
func (k *checker) region(g *Region) error {
	tile, first := k.next(g.Tile), k.next(g.First)
	if int(g.Buffer) >= k.s.Buffers() || g.List == nil && (g.Run < 1 || g.Times < 1) ||
		g.List != nil && len(g.List) == 0 {
		return fmt.Errorf("a region of no buffer, or of no blocks")
	}
	if low, high := k.extremes(tile); low < 0 || high >= k.s.tiles[g.Buffer] {
		n := k.s.tiles[g.Buffer]
		return fmt.Errorf("tile %d of %v, which has %d", outside(low, high, n), g.Buffer, n)
	}
	if l := (*k.s.cut(g.Buffer)).level(Channel); l != nil && k.channels > l.parts(0) {
		return fmt.Errorf("channel %d of %v, which has %d", k.channels-1, g.Buffer, l.parts(0))
	}
	blocks := int64(k.s.blocks[g.Buffer])
	low, high := k.extremes(first)
	if g.List == nil {
		if n := int64(g.Run) * int64(g.Times); n > blocks {
			return fmt.Errorf("%d blocks of %v, which has %d", n, g.Buffer, blocks)
		}
		reach := int64(g.Period) * int64(g.Times-1)
		low, high = low+min(reach, 0), high+max(reach, 0)+int64(g.Run)-1
	} else {
		low, high = int64(g.List[0]), int64(g.List[0])
		for _, b := range g.List {
			low, high = min(low, int64(b)), max(high, int64(b))
		}
	}
	if k.s.Group == nil && (low < 0 || high >= blocks) {
		return fmt.Errorf("block %d of %v, which has %d", outside(low, high, blocks), g.Buffer, blocks)
	}
	return nil
}

// peer checks that a peer is another rank, and that it has the lane of a message.
func (k *checker) peer(p *Peer, message, out bool) error {
	rank, lane := k.next(p.Rank), k.next(p.Lane)
	low, high := k.extremes(rank)
	ranks, own := int64(k.s.Spec.Ranks), int64(k.rank)
	if k.s.Group == nil && (low < 0 || high >= ranks) {
		return fmt.Errorf("rank %d is none of the %d", outside(low, high, ranks), ranks)
	}
	if (k.s.Group != nil || low <= own && own <= high) &&
		k.some(func(x []int64) bool { return (x[0]-own)%ranks == 0 }, rank) {
		return fmt.Errorf("rank %d is its own peer", own)
	}
	if !message {
		return nil
	}
	if p.Class > Puts || p.Tag < 0 {
		return fmt.Errorf("a connection of no class, or of tag %d", p.Tag)
	}
	var absent [2]int64
	if k.lacks(rank, lane) && k.some(func(x []int64) bool {
		absent = [2]int64{((x[0] % ranks) + ranks) % ranks, x[1]}
		return x[1] < 0 || x[1] >= int64(k.lanes(int32(absent[0])))
	}, rank, lane) {
		return fmt.Errorf("lane %d of rank %d, which has %d", absent[1], absent[0],
			k.lanes(int32(absent[0])))
	}
	k.ends = append(k.ends, end{rank, lane, p.Class, p.Tag, out})
	return nil
}

// lacks reports whether one of the ranks may lack one of the lanes. It looks only at the extremes.
func (k *checker) lacks(rank, lane form) bool {
	low, high := k.extremes(rank)
	least, most := k.extremes(lane)
	if k.s.Group != nil { // all ranks have equally many
		low, high = 0, 0
	}
	for r := low; r <= high; r++ {
		if least < 0 || most >= int64(k.lanes(int32(r))) {
			return true
		}
	}
	return false
}

// twice reports whether two messages of the step share a connection and a direction.
func (k *checker) twice() bool {
	if n := len(k.ends); n < 2 || n == 2 && k.ends[0].out != k.ends[1].out {
		return false
	}
	ranks := int64(k.s.Spec.Ranks)
	shared := func() bool {
		seen := make(map[end]bool, len(k.ends))
		for _, e := range k.ends {
			e.rank, e.lane = form{base: ((e.rank.base % ranks) + ranks) % ranks}, form{base: e.lane.base}
			if seen[e] {
				return true
			}
			seen[e] = true
		}
		return false
	}
	return k.atEvery(shared, 0)
}

// atEvery calls f with the step's ends as they are in each iteration in which they may coincide,
// until f reports true.
func (k *checker) atEvery(f func() bool, d int) bool {
	if d == len(k.times) {
		return f()
	}
	differ := false // where all have one stride, none approaches another
	for _, e := range k.ends {
		differ = differ || e.rank.strides[d] != k.ends[0].rank.strides[d] ||
			e.lane.strides[d] != k.ends[0].lane.strides[d]
	}
	if !differ {
		return k.atEvery(f, d+1)
	}
	for n := range k.times[d] {
		if k.atEvery(f, d+1) {
			return true
		}
		for i := range k.ends {
			e, times := &k.ends[i], int64(1)
			if n == k.times[d]-1 { // back to the first
				times -= int64(k.times[d])
			}
			e.rank.base += times * e.rank.strides[d]
			e.lane.base += times * e.lane.strides[d]
		}
	}
	return false
}

// event checks that an awaited event is of another lane of the rank.
func (k *checker) event(e *Event) error {
	lane := k.next(e.Lane)
	k.at++ // any value will do
	n := int64(k.lanes(k.rank))
	if low, high := k.extremes(lane); low < 0 || high >= n {
		return fmt.Errorf("awaits lane %d, which is none of the %d", outside(low, high, n), n)
	}
	own := form{base: int64(k.lane)}
	if k.times[0] > 1 {
		own.strides[0] = 1
	}
	if k.some(func(x []int64) bool { return x[0] == 0 }, lane.minus(own)) {
		return fmt.Errorf("awaits its own lane")
	}
	return nil
}
