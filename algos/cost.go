package algos

// Cost is what the literature says that an algorithm takes, in the α-β-γ model (Hockney, Parallel
// Computing 20(3), 1994; Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, §3): in lock-step
// rounds, each with α for a message and β for each of its bytes, γ for each byte that is added.
// Every pair of ranks has a wire each way, so a rank may send to several at once, and receiving
// is free. Where a lane sends several messages that wait for nothing, only the last one's α
// counts: as in LogGP without overhead and gap (Alexandrov et al., SPAA 1995), where such are
// flat trees and pipelines (Pješivac-Grbović et al., Cluster Computing 10(2), 2007).
type Cost struct {
	Alpha  int     // latencies, one after the other
	Rounds []Round // transfers, one after the other
	AtMost bool    // an upper bound: for this number of ranks, some rounds overlap
	// PerConnection says that the cost holds only on wires of this kind: lanes that meet on others do
	// so at the same time.
	PerConnection bool
}

// Round is a number of equal transfers, one after the other.
type Round struct {
	Times  int // of them
	Blocks int // of the largest size that each transfers; of its largest tile, where there are tiles
	Sums   int // operands that each first adds, of the size of what it transfers
	// Fan is the largest number of messages that a rank sends at once, or receives at once: on a
	// switch they share the rank's port, and each transfer takes Fan times as long. 0 is 1.
	Fan int
	// Handed says that who sends does not keep what it sends: there is nothing to add it to when the
	// round is run backwards.
	Handed bool
}

// rounds is a cost in lock step: each transfer has its latency.
func rounds(r ...Round) Cost {
	c := Cost{Rounds: r}
	c.Alpha = c.Steps()
	return c
}

// atMost is the cost, as an upper bound if bound holds.
func (c Cost) atMost(bound bool) Cost {
	c.AtMost = bound
	return c
}

// Steps is the number of transfers, one after the other: the rounds in lock step.
func (c Cost) Steps() int {
	n := 0
	for _, r := range c.Rounds {
		n += r.Times
	}
	return n
}

// Blocks is the sum of all transfers: β counts so many of the largest block (or tile).
func (c Cost) Blocks() int {
	n := 0
	for _, r := range c.Rounds {
		n += r.Times * r.Blocks
	}
	return n
}

// Sums is the sum of all additions: γ counts so many of the largest block (or tile).
func (c Cost) Sums() int {
	n := 0
	for _, r := range c.Rounds {
		n += r.Times * r.Blocks * r.Sums
	}
	return n
}
