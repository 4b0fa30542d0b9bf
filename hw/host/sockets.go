package host

import (
	"fmt"

	"collsim/hw"
)

// sockets is the network of a rank whose peers are other processes.
type sockets struct{ mesh *mesh }

// to returns the socket to a rank.
func (n *sockets) to(rank int32) (*socket, error) {
	if k := n.mesh.sockets[rank]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("there is no socket to rank %d", rank)
}

// write writes a frame to a peer. An error names the peer.
func (n *sockets) write(l *lane, rank int32, do func(k *socket) error) error {
	k, err := n.to(rank)
	if err != nil {
		return err
	}
	l.waits("a receive", rank, int32(l.index))
	err = do(k)
	l.goesOn()
	if err != nil {
		return n.mesh.lost(rank, "write", err)
	}
	return nil
}

// send implements network: it writes a frame with the parcel's bytes. Without a parcel the message
// has no bytes, and its size is −1.
func (n *sockets) send(l *lane, out *outbound, p *parcel) error {
	f := frame{kind: frameMessage, epoch: n.mesh.epoch.Load(), size: -1}.of(out.Connection)
	return n.write(l, out.To, func(k *socket) error {
		if p == nil {
			return k.write(f, nil, nil)
		}
		f.size = int64(len(p.bytes()))
		err := k.post(f, p)
		l.rank.stock.put(p)
		return err
	})
}

// put implements network: it writes a frame with the bytes, and their places in the home buffer.
// With out, the frame also delivers the message. Without, the peer acknowledges it, and landed
// waits for as many acknowledgements as unlanded counts.
func (n *sockets) put(l *lane, to target, value []byte, out *outbound) error {
	f := frame{kind: frameSilent, fromLane: int32(l.index)}
	if out != nil {
		f = frame{kind: framePut}.of(out.Connection)
	} else {
		l.unlanded[to.rank]++
	}
	f.home, f.epoch, f.size = to.home, n.mesh.epoch.Load(), int64(len(value))
	return n.write(l, to.rank, func(k *socket) error { return k.write(f, to.spans, value) })
}

// landed implements network: it waits for the acknowledgements of silent puts.
func (n *sockets) landed(l *lane, except int32) error {
	for rank, puts := range l.unlanded {
		if rank == except {
			continue
		}
		all := func() bool {
			l.reply.mu.Lock()
			defer l.reply.mu.Unlock()
			if l.reply.acks[rank] < puts {
				return false
			}
			delete(l.reply.acks, rank)
			return true
		}
		if err := l.await(all, "a put to land", rank, 0); err != nil {
			return err
		}
		delete(l.unlanded, rank)
	}
	return nil
}

// get implements network: it writes a request, and waits for the bytes (answered).
func (n *sockets) get(l *lane, from target, dst []byte) error {
	l.reply.mu.Lock()
	l.reply.into, l.reply.came = dst, false
	l.reply.mu.Unlock()
	f := frame{kind: frameGet, home: from.home, epoch: n.mesh.epoch.Load(),
		fromLane: int32(l.index), size: int64(len(dst))}
	err := n.write(l, from.rank, func(k *socket) error { return k.write(f, from.spans, nil) })
	if err != nil {
		return err
	}
	return l.await(func() bool {
		l.reply.mu.Lock()
		defer l.reply.mu.Unlock()
		return l.reply.came
	}, "what it gets", from.rank, 0)
}

// free implements network: it writes a credit. A connection with any number of slots needs none.
func (n *sockets) free(l *lane, in *inbound) error {
	if in.slots == 0 {
		return nil
	}
	f := frame{kind: frameCredit, epoch: n.mesh.epoch.Load()}.of(in.Connection)
	return n.write(l, in.From, func(k *socket) error { return k.write(f, nil, nil) })
}

// answered handles a reply, on the goroutine that reads the socket: an acknowledgement of a silent
// put, or the bytes of a get.
func (l *lane) answered(k *socket, f *frame) error {
	l.reply.mu.Lock()
	defer l.reply.mu.Unlock()
	switch {
	case f.kind == frameLanded:
		l.reply.acks[k.peer]++
	case f.kind != frameData || l.reply.came || int64(len(l.reply.into)) != f.size:
		return &hw.Error{Call: "read", Code: "malformed", Rank: int(k.peer), Lane: int(f.fromLane),
			Step: -1, Text: fmt.Sprintf("frame %d of %d bytes, which nobody awaits", f.kind, f.size)}
	default:
		if err := k.fill(l.rank, l.reply.into); err != nil {
			return err
		}
		l.reply.came, l.reply.into = true, nil
	}
	l.rouse()
	return nil
}
