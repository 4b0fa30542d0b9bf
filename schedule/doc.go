// Package schedule is the solution of a collective: who does what, in order.
//
// An author writes what one rank does, in plain Go (Plan, Lane). Build rolls it up into loops, so
// that a ring lane is five items at any rank count, and stores it as a role: one program, and
// the ranks that run it, translated by a Group. A Program is walked by a Cursor. A Schedule prints
// as text and is read back (Schedule.String, Parse), is compared (Equal), and is carried out
// without time (Execute). Package proof proves it.
//
// The parts of the vocabulary:
//
//   - A rank has lanes; a lane does its steps in order. Lanes of a channel share one SM.
//   - A step takes sources (local regions, messages, gets), combines them left to right, stores the
//     value in local regions and sends it to peers.
//   - Messages match in order per connection, which is a key: two lanes and a class.
//   - Events order the lanes of a rank: a step posts, another awaits the number of posts.
//   - A cut divides a buffer into channels, tiles and blocks; a region names blocks. Every step
//     that moves data is one sub-step a slice.
//
// The package knows nothing of time, networks, devices or number formats: proof, reference, sim
// and hw give the steps their meanings, each its own.
package schedule
