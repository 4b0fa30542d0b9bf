// Package netns builds a network on one Linux machine, and plays schedules in it: a namespace for
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
// A wire's rate counts frames as Ethernet has them, without preamble, checksum and gap. A frame
// holds 3948 bytes of a message and 66 of headers, and is answered by one of 66 the other way. The
// bucket holds two frames, and segments are never larger than a frame, so a wire that was idle
// bursts no further. Queues are longer than all that TCP lets be on its way: nothing is dropped. A
// lab adds no latency (netem is missing in many kernels): that of a topology is not built, and what
// a lab has is to be measured.
//
// It needs root, iproute2 (ip, tc) and a kernel with namespaces, veth and TBF; what is missing is
// an *Unavailable. The package knows how ranks are wired and started, and not how they talk: that
// is package host's.
package netns
