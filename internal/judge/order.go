package judge

// The happens-before order. A deed has three moments. It starts. It is done when everything is read
// and stored, and its messages are sent. It ends. The last two differ only in rendezvous, where a
// deed ends when its FIFO messages have been received.
//
// Order comes from the lane (a work starts after the end of the previous one), from a post to its
// awaits, from a message to its receive, and from the callers. A relaxed message only shows that
// its rank has begun the call. A freed slot shows nothing.

// The moments of deed e are 3e plus these.
const (
	starts = iota
	done
	ends
	moments
)

// never is the end of an access that no moment is known to follow.
const never = -1

// An order is the happens-before graph of all moments of a run.
type order struct {
	*run
	after   [][]int // moment → its direct successors
	reached []set   // moment → itself and all later moments; nil until computed
	flushed []int   // deed → the flush that completed its puts, −1 for none
	met     [][]int // deed → by target, the deed that received the message, −1 for none
}

// A set is a set of moments as a bit map.
type set []uint64

// has reports whether the set contains a moment.
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

// newOrder builds the graph of a completed run.
func newOrder(r *run) *order {
	n := len(r.deeds)
	o := &order{run: r, after: make([][]int, moments*n), reached: make([]set, moments*n),
		flushed: make([]int, n), met: make([][]int, n)}
	last := make([]int, len(r.lanes)) // lane → its last deed, or its caller's
	begun := make([]int, len(r.call)) // rank → its caller's last deed
	open := make([][]int, len(r.lanes))
	calls := make([][]int, len(r.call)) // rank → call → its caller's first deed
	for e := range r.deeds {
		d := &r.deeds[e]
		o.edge(moments*e+starts, moments*e+done)
		o.edge(moments*e+done, moments*e+ends)
		o.flushed[e] = never
		if d.work == nil {
			if !d.reads {
				calls[d.rank] = append(calls[d.rank], e)
			}
			o.caller(e, last, begun)
			continue
		}
		lane := d.work.lane
		o.edge(moments*last[lane]+ends, moments*e+starts)
		last[lane] = e
		o.met[e] = make([]int, len(d.work.step.To))
		for i := range o.met[e] {
			o.met[e][i] = never
		}
		for _, h := range d.heard {
			o.hears(e, h, calls)
		}
		for _, post := range d.events {
			o.edge(moments*post+ends, moments*e+starts)
		}
		if d.work.step.Flush {
			for _, put := range open[lane] {
				o.flushed[put] = e
			}
			open[lane] = nil
		}
		if d.work.step.lasts() {
			open[lane] = append(open[lane], e)
		}
	}
	return o
}

// edge adds an edge.
func (o *order) edge(before, after int) { o.after[before] = append(o.after[before], after) }

// caller orders a deed of a rank's caller after all earlier works of its lanes, and before their
// next ones.
func (o *order) caller(e int, last, begun []int) {
	d := &o.deeds[e]
	if d.call > 0 || d.reads {
		o.edge(moments*begun[d.rank]+ends, moments*e+starts)
	}
	for lane := o.first[d.rank]; lane < o.first[d.rank+1]; lane++ {
		if d.call > 0 || d.reads {
			o.edge(moments*last[lane]+ends, moments*e+starts)
		}
		last[lane] = e
	}
	begun[d.rank] = e
}

// hears orders a deed after the message that it has received.
func (o *order) hears(e int, h heard, calls [][]int) {
	if h.from < 0 {
		return
	}
	sender := &o.deeds[h.from]
	t := &sender.work.step.To[h.target]
	o.met[h.from][h.target] = e
	if t.Relaxed {
		o.edge(moments*calls[sender.rank][sender.call]+ends, moments*e+starts)
	} else {
		o.edge(moments*h.from+done, moments*e+starts)
	}
	if o.rendezvous && t.Peer.Class == FIFO {
		o.edge(moments*e+done, moments*h.from+ends)
	}
}

// reach returns a moment and all later ones.
func (o *order) reach(moment int) set {
	if o.reached[moment] == nil {
		all := make(set, len(o.after)/64+1)
		all[moment/64] |= 1 << (moment % 64)
		for _, next := range o.after[moment] {
			for i, bits := range o.reach(next) {
				all[i] |= bits
			}
		}
		o.reached[moment] = all
	}
	return o.reached[moment]
}

// leavesEarly returns, for a barrier, a rank that may leave before another has come.
func (o *order) leavesEarly() (rank, absent int, early bool) {
	comes, leaves := make([]int, len(o.call)), make([]int, len(o.call))
	for e := range o.deeds {
		if d := &o.deeds[e]; d.work == nil && d.call == 0 {
			if d.reads {
				leaves[d.rank] = e
			} else {
				comes[d.rank] = e
			}
		}
	}
	for absent := range comes {
		all := o.reach(moments*comes[absent] + starts)
		for rank := range leaves {
			if !all.has(moments*leaves[rank] + starts) {
				return rank, absent, true
			}
		}
	}
	return 0, 0, false
}
