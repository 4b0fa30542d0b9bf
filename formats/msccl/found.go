package msccl

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
)

// found lists the violations that need no run: waits that never end, messages without the other
// end, limits of the runtime that are exceeded.
func (l *lowering) found() []*schedule.Violation {
	for i := range l.program.gpus {
		g := &l.program.gpus[i]
		for j := range g.blocks {
			l.alone(g, &g.blocks[j])
		}
		if l.runtime.name != "none" {
			l.limits(g)
		}
	}
	return l.wrong
}

// note adds a violation at a step of the schedule, −1 for the whole lane.
func (l *lowering) note(kind schedule.ViolationKind, at *block, rank, step int, text string) {
	l.wrong = append(l.wrong, &schedule.Violation{Kind: kind, Rank: rank, Lane: int(at.id),
		Step: step, Chunk: -1, Text: text})
}

// alone reports the first step of a thread block whose message no thread block receives, and the
// first that receives a message that none sends.
func (l *lowering) alone(g *gpu, b *block) {
	out := connection{int(g.id), int(b.send), b.channel}
	in := connection{int(b.receive), int(g.id), b.channel}
	_, taken := l.receiver[out]
	_, given := l.sender[in]
	list := l.transfers[g.id][b.id]
	for i := range list {
		number := b.steps[list[i].first].number
		if list[i].kind.sends() && !taken {
			l.note(schedule.Unmatched, b, int(g.id), l.before(list[:i]), fmt.Sprintf(
				"tb %d step %d (%v) sends to gpu %d on channel %d, where no tb has recv=\"%d\" "+
					"chan=\"%d\"", b.id, number, list[i].kind, b.send, b.channel, g.id, b.channel))
			taken = true
		}
		if list[i].kind.receives() && !given {
			l.note(schedule.Deadlock, b, int(g.id), l.before(list[:i]), fmt.Sprintf(
				"tb %d step %d (%v) receives from gpu %d on channel %d, where no tb has send=\"%d\" "+
					"chan=\"%d\"", b.id, number, list[i].kind, b.receive, b.channel, g.id, b.channel))
			given = true
		}
	}
}

// limits reports the limits of a runtime that a GPU's program exceeds.
func (l *lowering) limits(g *gpu) {
	rt, id := l.runtime, int(g.id)
	if len(g.blocks) > rt.blocks {
		l.note(schedule.Limit, &g.blocks[rt.blocks], id, -1, fmt.Sprintf(
			"gpu %d has %d thread blocks; %s holds %d", id, len(g.blocks), rt.name, rt.blocks))
	}
	if most := max(g.chunks[input], g.chunks[output], g.chunks[scratch]); most > maxOffset {
		l.note(schedule.Limit, &block{id: -1}, id, -1, fmt.Sprintf("gpu %d has a buffer of %d "+
			"chunks; the offsets of %s are numbers of 16 bits", id, most, rt.name))
	}
	ends := map[[2]int32]int{} // direction and channel → thread blocks
	for i := range g.blocks {
		b := &g.blocks[i]
		if b.channel >= maxChannels {
			l.note(schedule.Limit, b, id, -1, fmt.Sprintf("tb %d is on channel %d; %s has channels "+
				"0…%d", b.id, b.channel, rt.name, maxChannels-1))
		}
		for direction, peer := range [...]int32{b.send, b.receive} {
			key := [2]int32{int32(direction), b.channel}
			if peer < 0 {
				continue
			}
			if ends[key]++; ends[key] == blocksPerChannel+1 {
				l.note(schedule.Limit, b, id, -1, fmt.Sprintf("more than %d thread blocks %s on "+
					"channel %d of gpu %d, which %s does not hold", blocksPerChannel,
					[...]string{"send", "receive"}[direction], b.channel, id, rt.name))
			}
		}
		l.limitsOf(b, id)
	}
}

// limitsOf reports the first step of a thread block that exceeds each limit.
func (l *lowering) limitsOf(b *block, id int) {
	rt, list := l.runtime, l.transfers[id][b.id]
	for i := range b.steps {
		if int(b.steps[i].number) >= rt.steps {
			l.note(schedule.Limit, b, id, l.stepOf(list, i), fmt.Sprintf(
				"tb %d has a step %d; %s holds steps 0…%d", b.id, b.steps[i].number, rt.name,
				rt.steps-1))
			break
		}
	}
	for i := range b.steps {
		if s := &b.steps[i]; s.kind != nop && s.count >= maxCount {
			l.note(schedule.Limit, b, id, l.stepOf(list, i), fmt.Sprintf(
				"cnt=\"%d\" of tb %d step %d; %s takes less than %d", s.count, b.id, s.number, rt.name,
				maxCount))
			break
		}
	}
}

// stepOf returns the step of the schedule that contains a step of the file.
func (l *lowering) stepOf(list []transfer, step int) int {
	for i := range list {
		if i+1 == len(list) || int(list[i+1].first) > step {
			return l.before(list[:i])
		}
	}
	return -1
}

// notes lists remarks for the user.
func (l *lowering) notes() []string {
	g := l.program
	var notes []string
	if g.minBytes >= 0 || g.maxBytes >= 0 {
		notes = append(notes, l.selection())
	}
	if g.inPlace && g.modes && g.outOfPlace {
		notes = append(notes, "the file is for calls in place and out of place")
	}
	if g.inPlace && l.spec.Kind == collective.Custom && !l.spec.InPlace {
		notes = append(notes, "inplace=\"1\" of a custom collective: its buffers are what the caller "+
			"passes; input and output are taken as two")
	}
	if g.compact {
		notes = append(notes, "the compact dialect (<op>), which no runtime reads")
	}
	if g.copies > 0 {
		notes = append(notes, fmt.Sprintf("%d <copy> elements, which no runtime carries out",
			g.copies))
	}
	if l.odd != "" {
		notes = append(notes, l.odd)
	}
	for i := range g.gpus {
		for j := range g.gpus[i].blocks {
			b := &g.gpus[i].blocks[j]
			if n := len(b.steps); n > 0 && b.steps[n-1].kind == nop {
				return append(notes, fmt.Sprintf("line %d: a nop at the end of a tb waits for "+
					"nothing: the runtimes give its wait to the step that follows", b.steps[n-1].line))
			}
		}
	}
	return notes
}

// selection describes the sizes for which the runtimes select the file, and whether this size is
// one.
func (l *lowering) selection() string {
	g := l.program
	from, to := max(0, g.minBytes), g.maxBytes
	bytes := l.whole() * int64(l.spec.Type.Width())
	above := fmt.Sprintf("minBytes=%d maxBytes=%d", from, max(0, to))
	chosen := bytes >= from && (to <= 0 || bytes <= to)
	if l.runtime.name != "rccl" {
		if to < 0 {
			to = 1 << 27
			above = fmt.Sprintf("minBytes=%d and no maxBytes, which is %d", from, to)
		}
		chosen = bytes >= from && bytes < to
	}
	not := ""
	if !chosen && l.spec.Kind != collective.Custom {
		not = "not "
	}
	return fmt.Sprintf("%s: of itself the runtime does %schoose the file for %d bytes", above, not,
		bytes)
}
