package algos

// A Cost is an algorithm's published cost in the α-β-γ model (Hockney, Parallel Computing 20(3),
// 1994; Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, §3). Rounds are in lock step. Each has
// α for a message, β for each of its bytes, and γ for each byte that is added. Every pair of ranks
// has a wire in each direction, so a rank may send to several at once; receiving is free. Where a
// lane sends several independent messages, only the last one's α counts. That is LogGP without
// overhead and gap (Alexandrov et al., SPAA 1995). Such are flat trees and pipelines
// (Pješivac-Grbović et al., Cluster Computing 10(2), 2007).
type Cost struct {
	Alpha  int     // latencies, one after the other
	Rounds []Round // transfers, one after the other
	AtMost bool    // an upper bound: for this number of ranks, some rounds overlap
	// PerConnection says that the cost holds only with a wire for each connection, since several
	// lanes of a rank send to one peer at the same time.
	PerConnection bool
}

// A Round is a number of equal transfers, one after the other.
type Round struct {
	Times  int // number of transfers
	Blocks int // largest blocks (or tiles) in each transfer
	Sums   int // operands that each first adds, of the transfer's size
	// Fan is the largest number of messages that a rank sends at once, or receives at once. On a
	// switch they share the rank's port, so each transfer takes Fan times as long. 0 means 1.
	Fan int
	// Burst is the number of messages that a rank sends to several, one behind the other, in each
	// transfer; all have their latency at once. Backwards they come at once, on wires of their own.
	// 0 means 1.
	Burst int
	// Handed says that the sender does not keep what it sends. When the round runs backwards, there
	// is nothing to add it to.
	Handed bool
}

// rounds returns a cost in lock step: each transfer has its latency.
func rounds(r ...Round) Cost {
	c := Cost{Rounds: r}
	c.Alpha = c.Steps()
	return c
}

// atMost returns the cost, marked as an upper bound if bound is true.
func (c Cost) atMost(bound bool) Cost {
	c.AtMost = bound
	return c
}

// Steps returns the number of transfers one after the other.
func (c Cost) Steps() int {
	n := 0
	for _, r := range c.Rounds {
		n += r.Times
	}
	return n
}
