package judge

import (
	"fmt"
	"math/rand/v2"
)

// A deed is one executed event: a work, or one of the two actions of a rank's caller in a call.
type deed struct {
	work   *work // nil: the caller
	rank   int
	call   int
	reads  bool    // of a caller: it reads the outputs; else it writes the inputs
	heard  []heard // by source: the message received
	events []int   // deeds whose posts it has awaited
}

// heard identifies a message: the deed that sent it, −1 for none, and the index of its target.
type heard struct{ from, target int }

// A parcel is a message in flight.
type parcel struct {
	heard
	values []int
	put    bool
}

// conditions are the parameters of a run.
type conditions struct {
	calls      int
	slots      int // of FIFO connections; 0 is any number
	rendezvous bool
	luck       *rand.Rand // chooses the next lane; nil: the first that can proceed
}

// A run executes a model, one work at a time, on symbolic terms.
type run struct {
	*model
	conditions
	terms    *terms
	memory   []int // cell → term
	inFlight map[connection][]parcel
	at       []int   // lane → works done in this call
	posts    [][]int // lane → deeds that have posted
	base     []int   // lane → posts at the start of this call
	present  []int   // lane → the current deed
	unmet    []int   // lane → its unreceived messages, in rendezvous
	call     []int   // rank → calls ended
	busy     []int   // rank → lanes that have not ended

	deeds     []deed
	messages  int
	stalled   bool
	unmatched bool
	malformed string
	complaint []string // wrong values
}

// carryOut runs a model to its end, or until no lane can proceed.
func carryOut(m *model, c conditions) *run {
	lanes, ranks := len(m.lanes), m.plan.Problem.Ranks
	r := &run{model: m, conditions: c, terms: newTerms(&m.plan.Problem),
		memory: make([]int, m.cells), inFlight: map[connection][]parcel{},
		at: make([]int, lanes), posts: make([][]int, lanes), base: make([]int, lanes),
		present: make([]int, lanes), unmet: make([]int, lanes),
		call: make([]int, ranks), busy: make([]int, ranks)}
	for rank := range ranks {
		r.begin(rank)
	}
	var ready []int
	for r.malformed == "" {
		ready = ready[:0]
		for lane := range m.lanes {
			if r.can(lane) {
				ready = append(ready, lane)
			}
		}
		if len(ready) == 0 {
			break
		}
		next := ready[0]
		if c.luck != nil {
			next = ready[c.luck.IntN(len(ready))]
		}
		r.do(next)
	}
	for _, done := range r.call {
		r.stalled = r.stalled || done < c.calls
	}
	for _, list := range r.inFlight {
		r.unmatched = r.unmatched || len(list) > 0
	}
	return r
}

// begin begins the next call of a rank: its caller writes the inputs.
func (r *run) begin(rank int) {
	r.deeds = append(r.deeds, deed{rank: rank, call: r.call[rank]})
	from, to := r.buffer(Input, rank)
	for cell := from; cell < to; cell++ {
		r.memory[cell] = r.terms.input(rank, r.call[rank], cell-from)
	}
	r.busy[rank] = 0
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		r.at[lane], r.base[lane] = 0, len(r.posts[lane])
		if len(r.lanes[lane].works) > 0 {
			r.busy[rank]++
		}
	}
	if r.busy[rank] == 0 {
		r.end(rank)
	}
}

// end ends a call of a rank: its caller reads the outputs.
func (r *run) end(rank int) {
	r.deeds = append(r.deeds, deed{rank: rank, call: r.call[rank], reads: true})
	from, to := r.buffer(Output, rank)
	for cell := from; cell < to && r.plan.Problem.defined(); cell++ {
		if why := r.terms.wrong(r.memory[cell], rank, r.call[rank], cell-from); why != "" {
			r.complain("rank %d call %d: output element %d %s", rank, r.call[rank], cell-from, why)
		}
	}
	if r.call[rank]++; r.call[rank] < r.calls {
		r.begin(rank)
	}
}

// complain records a wrong value; at most eight.
func (r *run) complain(format string, args ...any) {
	if len(r.complaint) < 8 {
		r.complaint = append(r.complaint, fmt.Sprintf(format, args...))
	}
}

// limit returns how many messages a connection buffers; 0 is any number.
func (r *run) limit(c connection) int {
	return [...]int{FIFO: r.slots, Pad: 1, Free: 0, Puts: 0}[c.class]
}

// can reports whether the next work of a lane can be executed.
func (r *run) can(lane int) bool {
	if r.at[lane] == len(r.lanes[lane].works) || r.unmet[lane] > 0 {
		return false
	}
	w := r.lanes[lane].works[r.at[lane]]
	for i := range w.step.From {
		f := &w.step.From[i]
		if f.Kind == Message && len(r.inFlight[r.from(lane, &f.Peer)]) == 0 {
			return false
		}
	}
	for i := range w.step.To {
		t := &w.step.To[i]
		if !t.Message() {
			continue
		}
		c := r.to(lane, &t.Peer)
		if most := r.limit(c); most > 0 && len(r.inFlight[c]) >= most {
			return false
		}
	}
	for _, e := range w.step.After {
		on := r.first[w.rank] + e.Lane
		if w.slice == 0 && len(r.posts[on])-r.base[on] < e.Posts {
			return false
		}
	}
	return true
}

// do executes the next work of a lane.
func (r *run) do(lane int) {
	w := r.lanes[lane].works[r.at[lane]]
	d := deed{work: w, rank: w.rank, call: r.call[w.rank]}
	r.present[lane] = len(r.deeds)
	var taken []connection
	value, err := reckoner{r.terms, r.complain}.value(w, r.memory, func(i int) []int {
		c := r.from(lane, &w.step.From[i].Peer)
		taken = append(taken, c)
		return r.inFlight[c][0].values
	})
	if err != nil {
		r.malformed = err.Error()
		return
	}
	d.heard = r.hear(w)
	for _, e := range w.step.After {
		on := r.first[w.rank] + e.Lane
		if n := r.base[on] + e.Posts; n > 0 && w.slice == 0 {
			d.events = append(d.events, r.posts[on][n-1])
		}
	}
	r.deeds = append(r.deeds, d)
	r.deliver(lane, w, value)
	for _, cells := range w.stores {
		r.store(w, cells, value)
	}
	for _, c := range taken {
		r.inFlight[c] = r.inFlight[c][1:]
		if r.rendezvous && c.class == FIFO {
			if r.unmet[c.from]--; r.unmet[c.from] == 0 {
				r.leave(c.from)
			}
		}
	}
	if r.unmet[lane] == 0 {
		r.leave(lane)
	}
}

// leave ends the current work of a lane.
func (r *run) leave(lane int) {
	w := r.lanes[lane].works[r.at[lane]]
	if w.step.Post && w.last {
		r.posts[lane] = append(r.posts[lane], r.present[lane])
	}
	if r.at[lane]++; r.at[lane] == len(r.lanes[lane].works) {
		if r.busy[w.rank]--; r.busy[w.rank] == 0 {
			r.end(w.rank)
		}
	}
}

// hear lists the messages that a work receives, by source.
func (r *run) hear(w *work) (list []heard) {
	for i := range w.step.From {
		got := heard{from: -1}
		if f := &w.step.From[i]; f.Kind == Message {
			p := r.inFlight[r.from(w.lane, &f.Peer)][0]
			if got = p.heard; p.put && !w.step.waits() {
				r.malformed = fmt.Sprint(w, ": the message of a put can only be awaited")
			}
		}
		list = append(list, got)
	}
	return list
}

// deliver sends a value to the targets of a work, and stores what lands.
func (r *run) deliver(lane int, w *work, value []int) {
	for i := range w.step.To {
		t := &w.step.To[i]
		for _, cells := range w.lands[i] {
			r.store(w, cells, value)
		}
		if !t.Message() {
			continue
		}
		c := r.to(lane, &t.Peer)
		r.inFlight[c] = append(r.inFlight[c], parcel{heard{r.present[lane], i}, value, t.At})
		r.messages++
		if r.rendezvous && c.class == FIFO {
			r.unmet[lane]++
		}
	}
}

// store writes a value to cells.
func (r *run) store(w *work, cells, value []int) {
	if cells == nil {
		return
	}
	if len(cells) != len(value) {
		r.malformed = fmt.Sprintf("%v: %d elements into %d", w, len(value), len(cells))
		return
	}
	for i, cell := range cells {
		r.memory[cell] = value[i]
	}
}
