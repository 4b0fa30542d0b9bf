// Package model gives the rules of docs/time.md, by which a schedule takes time, as pure functions
// of plain data, in integer picoseconds. Each rule stands here once. An engine calls them and adds
// only the order in which it looks at lanes, and how it keeps messages in flight. So two engines
// that are right give the same end of every lane, bit for bit. TestSecondEngine builds one from
// this table.
//
// FairRates defines max-min fair sharing, in the textbook's way; MaxMin updates the same rates
// fast.
//
//	rule                                          here                      from
//	the schedule and where it runs                Env, Rules                docs/time.md
//	a time, and the wave within it                Moment, Later             ties, decision 9
//	S, the latest event that a step awaits        Rules.Begin, Later        a step
//	n, the bytes that a step moves                Rules.Size, .SizeOf       symbols
//	D − S, the cost of a step before it sends     Rules.Cost, .Additions    a step
//	the pace of a lane                            Rules.Pace, .PaceRate     a step
//	r = min(κ/k, b…), when bytes have left        Rules.Lead, Leaves        a step
//	start, free, tail and arrival of FIFO         Serve, PutOut, Forward    FIFO sharing
//	segments                                      Rules.SegmentEnd, Link.Part  segments
//	max-min fair rates in integers                FairRates, MaxMin         fluid, decision 10
//	the work left of a flow                       Work, Rest, Drain         fluid sharing
//	the order of service                          Request, LaneKey, PortKey ties
//	slots                                         Rules.Slots, .Freed       slots
//	the queue of a device that offloads           Rules.Outstanding         a step
//	messages after silent puts                    FollowsPuts               decision 15
//	send buffer                                   Rules.Buffered            decision 15
//	rendezvous                                    Rules.Asks, AwaitsEvents  decision 15
//	figures by size                               OnLinks, MostOnLinks      decision 16
//	multimem                                      Network.Multimem, Join, Rules.OnSwitch  gets
//	brackets: launches, graphs, events            Rules.Launch, .Arrives, .Follows, .Observed  GPUs
//	places on SMs, and their order                Place, Room, First, BlockShare  GPUs, decision 18
//	copy engines, and other paces                 Pacer, Rules.PaceBy       decision 18
//	kernels: grids, arithmetic, bytes             Rules.GridOf, Grid, Peak  decision 18
//	reuse of a matmul's operands in the cache     Grid.Bytes                decision 18
//	memory                                        Network.AddMemory, CapOf  decision 18
//	steps that take no time                       IsFree                    decision 18
//	faults                                        Fault, Hang               docs/faults.md
//	links and routes                              Network                   docs/time.md
//	the results of a run                          Totals, Log               docs/time.md
//
// The package depends on no engine, keeps no queue of messages in flight, and its results do not
// depend on the order of calls. eager.go has sends that a lane does not wait for. incremental.go
// and sortedshares.go are two ways of updating MaxMin; balance.go has the sums that both keep.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	time: moment.go tie.go
//	environment: network.go orbits.go fault.go env.go cutting.go
//	rules: rules.go eager.go gpu.go
//	kernels: grid.go grids.go tiling.go cache.go cut.go
//	links: fifo.go fluid.go multimem.go
//	rates: fairrates.go drain.go maxmin.go incremental.go sortedshares.go balance.go
//	results: totals.go parttimes.go log.go detail.go counter.go
package model
