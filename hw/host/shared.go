package host

// shared is the network of ranks in one process, which access each other's memory.
type shared struct{ ranks []*participant }

// newShared joins both ends of every connection. REQUIRES: every connection has both.
func newShared(ranks []*participant) *shared {
	for _, p := range ranks {
		for _, out := range p.outs {
			out.far = ranks[out.To].byIn[out.Connection]
			out.far.far = out
		}
	}
	return &shared{ranks}
}

// send implements network.
func (w *shared) send(_ *lane, out *outbound, p *parcel) error {
	out.far.arrive(p)
	return nil
}

// put implements network.
func (w *shared) put(_ *lane, to target, value []byte, out *outbound) error {
	w.ranks[to.rank].Scatter(to.home, to.spans, value)
	if out != nil {
		out.far.arrive(nil)
	}
	return nil
}

// landed implements network: every put has landed when it returns.
func (w *shared) landed(*lane, int32) error { return nil }

// get implements network.
func (w *shared) get(_ *lane, from target, dst []byte) error {
	w.ranks[from.rank].Gather(dst, from.home, from.spans)
	return nil
}

// free implements network.
func (w *shared) free(_ *lane, in *inbound) error {
	if in.slots > 0 {
		in.far.freed()
	}
	return nil
}
