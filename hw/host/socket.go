package host

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
)

// piece is the number of bytes read from a socket at a time: every piece is progress.
const piece = 1 << 18

// A socket connects two ranks. Lanes write to it. A reader goroutine never waits for anything else,
// so that the peer's writes end. A third goroutine writes answers, so that two ranks that get from
// each other do not deadlock.
type socket struct {
	mesh *mesh
	peer int32
	conn net.Conn
	in   *bufio.Reader

	writing sync.Mutex
	small   []byte // buffer for a frame that is sent in one call

	asked   chan struct{} // at most one signal: there are requests
	mu      sync.Mutex
	queue   []request
	closing chan struct{}
	running sync.WaitGroup
}

// A request is a get of the peer, or a silent put to acknowledge.
type request struct {
	header frame
	rank   *participant
	spans  []schedule.Span
}

// newLink returns a socket that does not serve its peer yet.
func newLink(m *mesh, peer int32, conn net.Conn) *socket {
	return &socket{mesh: m, peer: peer, conn: conn, in: bufio.NewReaderSize(conn, 1<<16),
		asked: make(chan struct{}, 1), closing: make(chan struct{})}
}

// start starts to serve the peer.
func (k *socket) start() {
	k.running.Go(func() {
		k.mesh.lost(k.peer, "read", k.read())
	})
	k.running.Go(func() {
		for {
			select {
			case <-k.closing:
				return
			case <-k.asked:
			}
			if err := k.answer(); err != nil {
				k.mesh.lost(k.peer, "write", err)
				return
			}
		}
	})
}

// close closes the socket, and returns when none of its goroutines runs.
func (k *socket) close() {
	close(k.closing)
	k.conn.Close()
	k.running.Wait()
}

// write sends a header, runs and bytes.
func (k *socket) write(f frame, spans []schedule.Span, value []byte) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	f.runs = uint32(len(spans))
	n := headerSize + len(spans)*runSize
	k.small = slices.Grow(k.small[:0], n)[:n]
	f.put(k.small)
	putRuns(k.small[headerSize:], spans)
	if len(value) <= piece { // one call instead of two
		k.small, value = append(k.small, value...), nil
	}
	if _, err := k.conn.Write(k.small); err != nil || len(value) == 0 {
		return err
	}
	_, err := k.conn.Write(value)
	return err
}

// post sends a parcel, in whose memory it writes the header.
func (k *socket) post(f frame, p *parcel) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	f.put(p.memory)
	_, err := k.conn.Write(p.memory)
	return err
}

// read receives frames until the socket ends.
func (k *socket) read() error {
	var f frame
	head := make([]byte, headerSize)
	for {
		if _, err := io.ReadFull(k.in, head); err != nil {
			return err
		}
		f.get(head)
		p := k.mesh.executing(f.epoch)
		if p == nil { // a repetition that has ended
			if err := k.skip(&f); err != nil {
				return err
			}
			continue
		}
		if err := p.bounds(&f); err != nil {
			return err
		}
		runs := make([]byte, int(f.runs)*runSize)
		if _, err := io.ReadFull(k.in, runs); err != nil {
			return err
		}
		if err := k.take(p, &f, runs); err != nil {
			return err
		}
		p.moved.Add(1)
	}
}

// skip discards the rest of a frame.
func (k *socket) skip(f *frame) error {
	_, err := io.CopyN(io.Discard, k.in, int64(f.runs)*runSize)
	if err == nil && f.kind != frameGet {
		_, err = io.CopyN(io.Discard, k.in, max(f.size, 0))
	}
	return err
}

// bounds checks a header against the schedule. No value is longer than the memory of a rank, and no
// run is shorter than an element.
func (p *participant) bounds(f *frame) error {
	n, width := p.largest, int64(max(p.Math.Width, 1))
	switch {
	case f.kind < frameMessage || f.kind > frameCredit:
		return fmt.Errorf("frame %d is none", f.kind)
	case int(f.home) >= len(p.Buffers):
		return fmt.Errorf("buffer %d is none", f.home)
	case f.size < -1 || f.size > n || int64(f.runs) > n/width:
		return fmt.Errorf("a frame of %d bytes in %d runs: of a rank that has %d", f.size, f.runs, n)
	}
	return nil
}

// take handles a frame.
func (k *socket) take(p *participant, f *frame, runs []byte) error {
	switch f.kind {
	case frameMessage, framePut:
		return k.message(p, f, runs)
	case frameSilent:
		if err := k.store(p, f, runs); err != nil {
			return err
		}
		k.ask(request{*f, p, nil})
		return nil
	case frameGet:
		spans, ok := getRuns(runs, int64(len(p.Buffers[f.home])))
		if !ok || rank.Size(spans) != f.size {
			return fmt.Errorf("asks for %d bytes of what is not in the %v", f.size, f.home)
		}
		k.ask(request{*f, p, spans})
		return nil
	case frameCredit:
		out := p.byOut[f.connection(p.number, k.peer)]
		if out == nil || !out.freedIn(f.epoch) {
			return fmt.Errorf("frees a slot that nothing is in")
		}
		return nil
	}
	if int(f.fromLane) >= len(p.lanes) || f.fromLane < 0 {
		return fmt.Errorf("answers lane %d, which is not there", f.fromLane)
	}
	return p.lanes[f.fromLane].answered(k, f)
}

// message receives a message, or a put and its message.
func (k *socket) message(p *participant, f *frame, runs []byte) error {
	in := p.byIn[f.connection(k.peer, p.number)]
	if in == nil {
		return hw.Malformed(int(k.peer), int(f.fromLane), -1,
			"messages to rank %d lane %d are never received", p.number, f.toLane)
	}
	if f.kind == framePut {
		if err := k.store(p, f, runs); err != nil {
			return err
		}
		return in.come(nil)
	}
	if f.size < 0 {
		return in.come(nil)
	}
	parcel := p.stock.get(f.size)
	if err := k.fill(p, parcel.bytes()); err != nil {
		return err
	}
	return in.come(parcel)
}

// store reads the bytes of a put into the memory of the rank.
func (k *socket) store(p *participant, f *frame, runs []byte) error {
	memory := p.Buffers[f.home]
	spans, ok := getRuns(runs, int64(len(memory)))
	if !ok || rank.Size(spans) != f.size {
		return fmt.Errorf("puts %d bytes into what is not in the %v", f.size, f.home)
	}
	for _, s := range spans {
		if err := k.fill(p, memory[s.Off:s.Off+s.Len]); err != nil {
			return err
		}
	}
	return nil
}

// fill reads bytes, a piece at a time.
func (k *socket) fill(p *participant, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), piece)
		if _, err := io.ReadFull(k.in, b[:n]); err != nil {
			return err
		}
		p.moved.Add(1)
		b = b[n:]
	}
	return nil
}

// ask queues a request for the answering goroutine.
func (k *socket) ask(q request) {
	k.mu.Lock()
	k.queue = append(k.queue, q)
	k.mu.Unlock()
	select {
	case k.asked <- struct{}{}:
	default:
	}
}

// answer answers all queued requests.
func (k *socket) answer() error {
	for {
		k.mu.Lock()
		if len(k.queue) == 0 {
			k.mu.Unlock()
			return nil
		}
		q := k.queue[0]
		k.queue = k.queue[1:]
		k.mu.Unlock()
		f := frame{kind: frameLanded, epoch: q.header.epoch, fromLane: q.header.fromLane}
		if q.header.kind == frameSilent {
			if err := k.write(f, nil, nil); err != nil {
				return err
			}
			continue
		}
		value := q.rank.stock.get(rank.Size(q.spans))
		q.rank.Gather(value.bytes(), q.header.home, q.spans)
		f.kind, f.size = frameData, int64(len(value.bytes()))
		if err := k.post(f, value); err != nil {
			return err
		}
		q.rank.stock.put(value)
	}
}
