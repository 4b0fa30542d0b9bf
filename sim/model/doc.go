// Package model is what time means: the rules of docs/time.md as pure functions of plain data, each
// written down once, in integer picoseconds. An engine takes them by name and adds only what is its
// own: in which order it looks at lanes, and how it keeps what is under way. So two engines that
// are right give the same lane ends, bit for bit. TestSecondEngine is one, written from this table.
//
//	rule                                          here                      from
//	what runs where                               Env, Rules                docs/time.md
//	a time, and the wave within it                Moment, Later             ties, decision 9
//	S, the latest of all that a step awaits       Rules.Begin, Later        a step
//	n, what a step moves                          Rules.Size, .SizeOf       symbols
//	D − S, what it costs before it sends          Rules.Cost, .Additions    a step
//	the pace of a lane                            Rules.Pace, .PaceRate     a step
//	r = min(κ/k, b…), when bytes have left        Rules.Lead, Leaves        a step
//	start, free, tail and arrival of FIFO         Serve, PutOut, Forward    FIFO sharing
//	segments                                      Rules.SegmentEnd, Link.Part  segments
//	max-min fair rates in integers                MaxMin                    fluid, decision 10
//	what is left of a flow                        Work, Rest, Drain         fluid sharing
//	who is served first                           Request, LaneKey, PortKey ties
//	slots                                         Rules.Slots, .Freed       slots
//	the queue of a device that offloads           Rules.Outstanding         a step
//	messages behind silent puts                   FollowsPuts               decision 15
//	send buffer                                   Rules.Buffered            decision 15
//	rendezvous                                    Rules.Asks, AwaitsEvents  decision 15
//	figures by size                               OnLinks, MostOnLinks      decision 16
//	multimem                                      Network.Multimem, Join, Rules.OnSwitch  gets
//	brackets: launches, graphs, events            Rules.Launch, .Arrives, .Follows, .Observed  GPUs
//	places on SMs, and who gets them              Place, Room, First, BlockShare  GPUs, decision 18
//	copy engines, and other paces                 Pacer, Rules.PaceBy       decision 18
//	kernels: grids, arithmetic, bytes             Rules.GridOf, Grid, Peak  decision 18
//	what a matmul finds in the cache              Grid.Bytes                decision 18
//	memory                                        Network.AddMemory, CapOf  decision 18
//	what costs nothing                            IsFree                    decision 18
//	links and routes                              Network                   docs/time.md
//	what a run tells                              Totals, Log               docs/time.md
//
// The package knows no engine, keeps no queue of what is under way, and decides nothing by the
// order in which it is asked.
package model
