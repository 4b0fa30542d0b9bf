// Package lab builds a network on one Linux machine and executes schedules in it. Every node of a
// topology is a network namespace, every wire a veth pair, and tc's token bucket limits each
// direction. So the simulator can be compared with a network that is real, slow and contended.
//
//	gpu0 ─w0─┐                            root namespace: the coordinator, and
//	gpu1 ─w1─┤ switch ─w3─ …              nothing of the lab but names
//	gpu2 ─w2─┘                            control: a wire to every rank, without a rate
//
// Nodes are IP routers with the topology's routes. Any topology can be built, including one with
// cycles, and ranks forward traffic of others. All addresses are in the lab's namespaces. Neighbour
// entries are static, so no ARP traffic occurs. A rank's process has one address: its peers reach
// it over the shaped wires, the coordinator over the control network.
//
// A wire's rate is the rate of message bytes in each direction. Of a frame of 4014 bytes, tc counts
// 3948 bytes of payload and not the 66 bytes of headers (stab). So the reverse traffic does not
// matter, and a link of that bandwidth is simulated without a correction. Packets below 256 bytes
// bypass the bucket: acknowledgements, and what executors exchange about messages. (Queued behind
// data, acknowledgements would let a slow direction slow down the other.) A rank's traffic leaves
// it in the order of its writes, as a lane's messages do. Inside the network, each pair of ranks
// has a queue of its own. Queues are served in turn, so their shares of a wire are max-min fair, as
// the simulator's default is. The bucket holds two frames, and segments are never larger than a
// frame, so an idle wire does not burst further. Nothing is dropped. A socket buffers what its wire
// carries in 10 ms; that much of a message may be in the socket when a lane continues. A lab adds
// no latency (many kernels lack netem): it ignores the topology's latencies, and its own must be
// measured.
//
// Ranks are processes of package host, or Open MPI's (Lab.MPI), one job at a time.
//
// It needs root, iproute2 (ip, tc) and a kernel with namespaces, veth, HTB and u32; a missing one
// is an *hw.Missing. The package knows how ranks are wired and started. Packages host and mpi know
// how they communicate.
package lab
