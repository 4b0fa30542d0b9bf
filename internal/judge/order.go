package judge

// What happens before what. A deed has three moments: it starts; it is done, when all is read and
// stored and its messages are on their way; and it ends. The last two are one but in rendezvous,
// where a deed ends when its messages of class FIFO have been received.
//
// Order comes from the lane (a work starts when the one before has ended), from a post to who
// awaits it, from a message to who receives it, and from the callers. A relaxed message reports no
// more than that its rank has begun the call. A slot that is freed reports nothing.

// The moments of a deed e are 3e + these.
const (
	starts = iota
	done
	ends
	moments
)

// never is the moment at which what is still on its way comes to rest.
const never = -1

// order is the graph of all moments of a run.
type order struct {
	*run
	after   [][]int // moment → moments that come after it
	reached []set   // moment → itself and all that come after it; nil until asked for
	flushed []int   // deed → the flush that has completed its puts, −1 for none
	met     [][]int // deed → by target, who has received the message, −1 for nobody
}

// set is a set of moments, a bit each.
type set []uint64

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

// newOrder draws the graph of a run that has come to its end.
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

func (o *order) edge(before, after int) { o.after[before] = append(o.after[before], after) }

// caller puts a deed of a rank's caller after all that its lanes have done, and before what they do
// next.
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

// hears puts a deed after the message that it has received.
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

// reach is a moment and all that come after it.
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

// leavesEarly is, of a barrier, a rank that leaves and one that need not have come by then.
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
