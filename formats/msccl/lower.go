package msccl

import (
	"fmt"
	"sort"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/schedule"
)

// lowering converts a file to a schedule.
type lowering struct {
	*scanner
	program  *program
	options  *foreign.Options
	runtime  *runtime
	protocol protocol
	ranks    int
	spec     collective.Spec
	chunk    int64 // elements
	tile     int64 // elements of the largest tile
	tiles    int64 // of a chunk
	// the most chunks that are moved at once: more than one only where a tile holds them
	piece int32

	transfers [][][]transfer // by GPU and block
	awaits    [][][][]schedule.Event
	posts     [][]int32            // of each block, in one tile
	sender    map[connection]int32 // block at this end
	receiver  map[connection]int32
	wrong     []*schedule.Violation
	odd       string // something that Microsoft's parser refuses and this reader accepts
}

// connection is a FIFO from one GPU to another on a channel.
type connection struct {
	from, to int
	channel  int32
}

// build makes the transfers of all thread blocks and connects them.
func (l *lowering) build() error {
	l.sender, l.receiver = map[connection]int32{}, map[connection]int32{}
	for i := range l.program.gpus {
		g := &l.program.gpus[i]
		var all [][]transfer
		for j := range g.blocks {
			b := &g.blocks[j]
			if err := l.connect(g, b); err != nil {
				return err
			}
			for k := range b.steps {
				if err := l.check(g, &b.steps[k]); err != nil {
					return err
				}
			}
			made, err := transfers(l.scanner, g, b)
			if err != nil {
				return err
			}
			all = append(all, made)
		}
		l.transfers = append(l.transfers, all)
	}
	for i := range l.program.gpus {
		l.tie(i)
	}
	l.rounds()
	return nil
}

// connect records the thread block at the end of its connections. It must be the only one there.
func (l *lowering) connect(g *gpu, b *block) error {
	for _, end := range []struct {
		peer int32
		key  connection
		at   map[connection]int32
		name string
	}{{b.send, connection{int(g.id), int(b.send), b.channel}, l.sender, "send"},
		{b.receive, connection{int(b.receive), int(g.id), b.channel}, l.receiver, "recv"}} {
		if end.peer < 0 {
			continue
		}
		if other, taken := end.at[end.key]; taken {
			return l.fail(int(b.line), "tbs %d and %d of gpu %d both have %s=\"%d\" on chan %d: a "+
				"connection has one tb at each end", other, b.id, g.id, end.name, end.peer, b.channel)
		}
		end.at[end.key] = b.id
	}
	return nil
}

// tie turns the waits of a GPU's thread blocks into events. The event is the post that first sets
// the flag as high as the wait requires. If the thread block sets no such flag, the post is one of
// the next tile, and the last tile waits forever.
func (l *lowering) tie(g int) {
	posts := make([][]int32, len(l.transfers[g])) // by block: indices of transfers that post
	for b, list := range l.transfers[g] {
		for i := range list {
			if list[i].flag {
				posts[b] = append(posts[b], list[i].number)
			}
		}
	}
	all := make([][][]schedule.Event, len(l.transfers[g]))
	for b, list := range l.transfers[g] {
		all[b] = make([][]schedule.Event, len(list))
		for i := range list {
			for _, w := range list[i].waits {
				at := sort.Search(len(posts[w.block]), func(k int) bool {
					return posts[w.block][k] >= w.step
				})
				never := at == len(posts[w.block])
				if int(w.block) == b {
					if never || posts[b][at] >= list[i].number {
						l.stuck(g, b, i, w, "a thread block does not wait for itself to go on")
					}
					continue
				}
				if never {
					l.stuck(g, b, i, w, "it sets no flag there or later (hasdep=\"1\")")
				}
				all[b][i] = append(all[b][i], schedule.Event{Lane: w.block, Value: int32(at) + 1})
			}
		}
	}
	l.awaits = append(l.awaits, all)
	counts := make([]int32, len(posts))
	for b := range posts {
		counts[b] = int32(len(posts[b]))
	}
	l.posts = append(l.posts, counts)
}

// stuck reports a wait that never ends.
func (l *lowering) stuck(g, b, i int, w wait, why string) {
	t := &l.transfers[g][b][i]
	step := &l.program.gpus[g].blocks[b].steps[t.first]
	l.wrong = append(l.wrong, &schedule.Violation{Kind: schedule.Deadlock, Rank: g, Lane: b,
		Step: l.before(l.transfers[g][b][:i]), Chunk: -1,
		Text: fmt.Sprintf("tb %d step %d (%v) waits for step %d of tb %d forever: %s", b, step.number,
			t.kind, w.step, w.block, why)})
}

// pieces returns the number of steps that a transfer becomes in a tile.
func (l *lowering) pieces(t *transfer) int { return int((t.count + l.piece - 1) / l.piece) }

// before returns the number of steps that some transfers become.
func (l *lowering) before(list []transfer) int {
	n := 0
	for i := range list {
		n += l.pieces(&list[i])
	}
	return n
}

// locate returns the location of a chunk of the file in the schedule's buffers. In place, the file
// may use either name for shared memory, or for any part of it.
func (l *lowering) locate(rank int, p operand) (operand, bool) {
	at := int64(p.chunk) * l.chunk
	length := [...]int64{l.spec.In(rank), l.spec.Out(rank)}
	if p.buffer == scratch || at+l.chunk <= length[p.buffer] {
		return p, p.buffer != scratch || p.chunk < l.program.gpus[rank].chunks[scratch]
	}
	if !l.spec.InPlace {
		return p, false
	}
	var base [2]int64
	base[input], base[output] = l.spec.Place(rank)
	other := 1 - p.buffer
	at += base[p.buffer] - base[other]
	p = operand{other, int32(at / l.chunk)}
	return p, at >= 0 && at%l.chunk == 0 && at+l.chunk <= length[other]
}

// where returns a function that maps the schedule's steps to places in the file.
func (l *lowering) where() func(rank, lane, step int) foreign.Place {
	gpus, all := l.program.gpus, l.transfers
	return func(rank, lane, step int) foreign.Place {
		if rank < 0 || rank >= len(gpus) {
			return foreign.Place{Block: -1, Step: -1}
		}
		g := &gpus[rank]
		if lane < 0 || lane >= len(g.blocks) {
			return foreign.Place{Line: int(g.line), Block: -1, Step: -1,
				Text: fmt.Sprintf("gpu %d", rank)}
		}
		b, list := &g.blocks[lane], all[rank][lane]
		if length := l.before(list); step >= 0 && length > 0 && int64(step/length) < l.tiles {
			step %= length
			for i := range list {
				if step -= l.pieces(&list[i]); step < 0 {
					s := &b.steps[list[i].first]
					return foreign.Place{Line: int(s.line), Block: lane, Step: int(s.number),
						Text: fmt.Sprintf("gpu %d tb %d step %d: %v", rank, lane, s.number, s.kind)}
				}
			}
		}
		return foreign.Place{Line: int(b.line), Block: lane, Step: -1,
			Text: fmt.Sprintf("gpu %d tb %d", rank, lane)}
	}
}
