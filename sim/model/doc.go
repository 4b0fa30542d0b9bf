// Package model is what time means: the rules of design §4 as pure functions of plain data, each
// written down once, in integer picoseconds. An engine takes them by name and adds only what is its
// own: in which order it looks at lanes, and how it keeps what is under way. So two engines that
// are right give the same lane ends, bit for bit. TestSecondEngine is one, written from this table.
//
//	rule                                          here                      from
//	what runs where                               Env, Rules                §4
//	a time, and the wave within it                Moment, Later             §4 tie key, decision 9
//	S, the latest of all that a step awaits       Rules.Begin, Later        §4 step
//	n, what a step moves                          Rules.Size, .SizeOf       §3 data
//	D − S, what it costs before it sends          Rules.Cost, .Additions    §4 step
//	the pace of a lane                            Rules.Pace, .PaceRate     §4 step
//	r = min(κ/k, b…), when bytes have left        Rules.Lead, Leaves        §4 step
//	start, free, tail and arrival of FIFO         Serve, PutOut, Forward    §4 FIFO sharing
//	segments                                      Rules.SegmentEnd, Link.Part  §4 segments
//	max-min fair rates in integers                MaxMin                    §4 fluid, decision 10
//	what is left of a flow                        Work, Rest, Drain         §4 fluid
//	who is served first                           Request, LaneKey, PortKey §4 tie key
//	slots                                         Rules.Slots, .Freed       §4 step
//	the queue of a device that offloads           Rules.Outstanding         §4 step
//	messages behind silent puts                   FollowsPuts               §5, decision 15
//	send buffer                                   Rules.Buffered            decision 15
//	rendezvous                                    Rules.Asks, AwaitsEvents  decision 15
//	figures by size                               OnLinks, MostOnLinks      decision 16
//	multimem                                      Network.Multimem, Join, Rules.OnSwitch  §4 get
//	brackets: launches, graphs, events            Rules.Launch, .Arrives, .Follows, .Observed  §11
//	places on SMs, and who gets them              Place, Room, First, BlockShare  §11, decision 18
//	copy engines, and other paces                 Pacer, Rules.PaceBy       decision 18
//	kernels: grids, arithmetic, bytes             Rules.GridOf, Grid, Peak  decision 18
//	what a matmul finds in the cache              Grid.Bytes                decision 18
//	memory                                        Network.AddMemory, CapOf  decision 18
//	what costs nothing                            IsFree                    decision 18
//	links and routes                              Network                   §4
//	what a run tells                              Totals, Log               §4
//
// The package knows no engine, keeps no queue of what is under way, and decides nothing by the
// order in which it is asked.
package model
