package event

import (
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// leftLast returns which of the first messages of a list has left last, and when. If several left
// at that time, it returns the first of them. It keeps the results in the list.
//
// REQUIRES: messages > 0.
func (r *reader) leftLast(list *latest, messages int32) (last int32, left unit.Time) {
	for i := int32(len(list.last)); i < messages; i++ {
		last = list.ways[i]
		j := r.journeyOf(&r.ways[last])
		left = j.last().left
		if i > 0 && list.left[i-1] >= left {
			last, left = list.last[i-1], list.left[i-1]
		}
		list.last, list.left = append(list.last, last), append(list.left, left)
	}
	return list.last[messages-1], list.left[messages-1]
}

// leftBefore returns the message that a step's start had to wait for, until it had left its lane's
// queue or send buffer; −1 for none.
func (r *reader) leftBefore(number int32, start unit.Time) (by int32) {
	if r.popped == nil {
		return -1
	}
	f, popped := r.form(r.steps[number].form), r.popped[number]
	posts := &r.queues[f.lane]
	if !r.e.rules.Device.Offload {
		if f.waits && popped[1] > 0 {
			if way, left := r.leftLast(posts, popped[1]); left == start {
				return r.ways[way].last
			}
		}
		return -1
	}
	for _, way := range posts.ways[popped[0]:popped[1]] {
		j := r.journeyOf(&r.ways[way])
		if j.last().left == start {
			return r.ways[way].last
		}
	}
	return -1
}

// explain says what the records of a message had to wait for.
func (r *reader) explain(j *journey) {
	f := r.form(r.steps[j.w.step].form)
	for i := range j.records[:j.n] {
		switch m := &j.records[i]; m.after {
		case afterStream:
			m.By = r.ways[r.streams[j.x.stream].ways[j.w.turn-1]].last
		case afterPuts:
			puts := &r.puts[f.lane]
			before, _ := slices.BinarySearch(puts.ways, r.wayOf[j.w.record])
			way, _ := r.leftLast(puts, int32(before))
			m.By = r.ways[way].last
		case afterReceive:
			m.Step = r.postedAfter(r.conns[j.x.conn].received[j.w.turn])
		}
	}
}

// postedAfter returns the step whose end let the receives of another step be posted. That is the
// step before the one to which the lane had come then, or one that posted an awaited event later
// than that.
func (r *reader) postedAfter(receives int32) (by int32) {
	at := r.posters[receives]
	f := r.form(r.steps[at].form)
	lane := &r.log.Lanes[f.lane]
	end := lane.Begin
	if by = at - 1; by >= r.firsts[f.lane] {
		end = r.end(by)
	} else {
		by = model.NoStep(f.lane)
	}
	end = max(end, f.begun)
	for _, v := range f.await {
		if v.Value <= 0 {
			continue
		}
		post := r.posts[r.e.first[lane.Rank]+v.Lane][v.Value-1]
		if t := r.end(post); t > end {
			by, end = post, t
		}
	}
	return by
}
