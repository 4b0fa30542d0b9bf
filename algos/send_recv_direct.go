package algos

import "collsim/collective"

// Direct send_recv. Every rank sends to the next one and receives from the one before it, as
// nccl-tests' sendrecv does (sendrecv.cu). The message is buffered, so in place it may be
// overwritten once it has left.
var directSendRecv = Algorithm{
	Name:    "direct",
	Kinds:   []collective.Kind{collective.SendRecv},
	About:   "every rank sends to the next one",
	When:    "pipelines and rings of one's own; it is what a wire can do",
	Source:  "nccl-tests sendrecv",
	Formula: "α + n·β",
	Group:   rotations,
	Lane: func(l *Lane) {
		l.Send(l.Rank+1, l.In(0))
		l.Recv(l.Rank-1, l.Out(0))
	},
	Cost: func(_, _ int) Cost { return rounds(Round{Times: 1, Blocks: 1}) },
}
