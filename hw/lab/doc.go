// Package lab builds a network on one Linux machine, and executes schedules in it: a namespace for
// every node of a topology, a veth pair for every wire, and tc's token bucket for every direction's
// rate. So the simulator can be held against a network that is real, slow and contended.
//
//	gpu0 ─w0─┐                            root namespace: the coordinator, and
//	gpu1 ─w1─┤ switch ─w3─ …              nothing of the lab but names
//	gpu2 ─w2─┘                            control: a wire to every rank, without a rate
//
// Nodes are IP routers whose tables are the topology's routes, so that any topology can be built,
// also one with circles, and ranks forward what is not for them. All addresses lie in the lab's
// namespaces; neighbours are written down, so that nobody ever asks for one. A rank's process has
// one address, by which its peers reach it over the shaped wires and the coordinator over the
// control network.
//
// A wire's rate is what messages get, in each direction: of a frame of 4014 bytes, tc counts the
// 3948 of a message and not the 66 of headers (stab); so what goes the other way does not matter,
// and a link of that bandwidth is simulated without a correction. Packets of less than 256 bytes
// pass by: acknowledgements, and what executors say to each other about messages. (Behind data, an
// acknowledgement would hold the other direction up: a slow direction would make both slow.) What a
// rank sends leaves it in the order in which it was written, as a lane's messages do. Inside of the
// network, what goes from one rank to another has a queue of its own, and queues take turns: their
// shares of a wire are max-min fair, as the simulator's are by default. The bucket holds two
// frames, and segments are never larger than a frame, so a wire that was idle bursts no further.
// Nothing is dropped. A socket keeps what its wire carries in 10 ms; that much of a message may be
// left behind when a lane goes on. A lab adds no latency (netem is missing in many kernels): that
// of a topology is not built, and what a lab has is to be measured.
//
// Ranks are processes of package host's, or Open MPI's (Lab.MPI), one at a time.
//
// It needs root, iproute2 (ip, tc) and a kernel with namespaces, veth, HTB and u32; what is missing
// is an *hw.Missing. The package knows how ranks are wired and started, and not how they talk:
// that is for packages host and mpi.
package lab
