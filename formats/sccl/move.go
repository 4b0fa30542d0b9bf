package sccl

import (
	"fmt"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// spot is an address of a rank.
type spot struct{ rank, addr int }

// holding is the content of a spot: the set of chunks that were summed, and its location.
type holding struct {
	chunks set
	at     transfers.Blocks // no blocks until something has arrived
}

// mover converts sends to moves and tracks the contents of every rank.
type mover struct {
	a       *algorithm
	l       *layout
	file    string
	divisor int           // number of addresses of each chunk of the collective
	at      map[int][]int // by address: chunks of the collective
	class   map[int]int   // by address: index in its block
	homes   map[spot]transfers.Blocks
	holds   map[spot]*holding
	used    map[spot]int // scratch chunks of a rank, by class instead of address
	slots   int          // the largest number of those
	words   int          // total size of all sets
	moves   []transfers.Move
	doubled []int // sends that add a chunk again
}

// maxWords bounds the sets of a file: those of an all-reduce of 1024 ranks with as many chunks.
const maxWords = 1 << 24

func newMover(a *algorithm, l *layout, file string) *mover {
	return &mover{a: a, l: l, file: file, divisor: 1, at: map[int][]int{}, class: map[int]int{},
		homes: map[spot]transfers.Blocks{}, holds: map[spot]*holding{}, used: map[spot]int{}}
}

// run makes all moves.
func (m *mover) run() error {
	if err := m.begin(); err != nil {
		return err
	}
	sends := m.a.sends
	for from := 0; from < len(sends); {
		var before []holding // contents of the sources before the step
		to := from
		for ; to < len(sends) && sends[to].step == sends[from].step; to++ {
			h, err := m.source(&sends[to])
			if err != nil {
				return err
			}
			before = append(before, h)
		}
		for i := from; i < to; i++ {
			m.send(i, &before[i-from])
		}
		if m.words > maxWords {
			return m.wrong(sends[from].line, "too many summands to follow")
		}
		from = to
	}
	m.moves = append(m.copies(), m.moves...)
	return nil
}

func (m *mover) wrong(line int, format string, args ...any) error {
	return &foreign.Error{File: m.file, Line: line, Text: fmt.Sprintf(format, args...)}
}

// source returns the content that a send reads; if there is none, the place where it would be.
func (m *mover) source(s *send) (holding, error) {
	if m.at[s.addr/m.divisor] == nil {
		return holding{}, m.wrong(s.line, "address %d: no chunk of the collective has it", s.addr)
	}
	h := m.hold(spot{s.src, s.addr})
	if h.at.Run == 0 {
		return holding{chunks: h.chunks, at: m.home(spot{s.src, s.addr})}, nil
	}
	return *h, nil
}

func (m *mover) hold(at spot) *holding {
	h := m.holds[at]
	if h == nil {
		h = &holding{}
		m.holds[at] = h
	}
	return h
}

// home returns the place where a rank stores what arrives: in its output, or else in scratch.
func (m *mover) home(at spot) transfers.Blocks {
	p, ok := m.homes[at]
	if !ok {
		class := m.class[at.addr]
		slot := m.used[spot{at.rank, class}]
		m.used[spot{at.rank, class}] = slot + 1
		m.slots = max(m.slots, slot+1)
		p = transfers.At(schedule.Scratch, slot*m.l.parts+class)
		m.homes[at] = p
	}
	return p
}

// memory returns the size of the scratch buffer, in elements.
func (m *mover) memory() int64 { return int64(m.slots) * m.l.count }

// send makes the move of a send that reads h.
func (m *mover) send(i int, h *holding) {
	s := &m.a.sends[i]
	to := spot{s.dst, s.addr}
	there := m.hold(to)
	summands := len(m.at[s.addr/m.divisor])
	op := s.op
	if op == derived {
		op = reducing
		if summands == 1 || h.chunks.holds(there.chunks) {
			op = copying
		}
	}
	move := transfers.Move{Stage: s.step, From: int32(s.src), To: int32(s.dst), Source: h.at,
		Target: m.home(to), Item: int32(i)}
	after := h.chunks
	if op == reducing {
		if move.Add = there.at; there.at.Run == 0 {
			move.Add = move.Target
		}
		if there.chunks.meets(h.chunks) {
			m.doubled = append(m.doubled, i)
		}
		after = there.chunks.with(h.chunks)
		move.AddFirst = there.chunks.first() < h.chunks.first()
		move.Completes = after.count() == summands
	}
	m.words += len(after) - len(there.chunks)
	there.chunks, there.at = after, move.Target
	m.moves = append(m.moves, move)
}
