// Package schedule describes the solution of a collective: what each rank does, in order.
//
// An author writes what one rank does, in plain Go (Plan, Lane). Build rolls it up into loops, so
// that a ring lane is five items at any rank count. It stores the result as a role: one program,
// and the ranks that run it, translated by a Group. A Cursor walks a Program. A Schedule prints as
// text and is read back (Schedule.String, Parse). It can be compared (Equal) and executed without
// time (Execute). Package proof proves it.
//
// The vocabulary:
//
//   - A rank has lanes; a lane does its steps in order. Lanes of a channel share one SM.
//   - A step takes sources (local regions, messages, gets) and combines them left to right. It
//     stores the value in local regions and sends it to peers.
//   - Messages match in order per connection. A connection is identified by two lanes, a class and
//     a tag.
//   - Events order the lanes of a rank: a step posts, another awaits the number of posts.
//   - A cut divides a buffer into channels, tiles and blocks; a region names blocks. Every step
//     that moves data is one sub-step for each slice.
//
// The package knows nothing of time, networks, devices or number formats: proof, reference, sim and
// hw give the steps their meanings, each its own.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	steps: cut.go step.go term.go meaning.go compute.go protocol.go textclass.go
//	programs: vars.go affine.go group.go program.go numbers.go programcache.go fold.go composed.go
//	schedules: schedule.go tensor.go roles.go contents.go violation.go parts.go components.go
//	  compose.go teams.go epochs.go wellformed.go indexranges.go evensizes.go evened.go timing.go
//	authors: lane.go laneadd.go lanepads.go lanerepeat.go looprolling.go incremental.go
//	  bundling.go plan.go places.go turn.go rescale.go cachedparts.go
//	text: text.go tensortext.go composetext.go parse.go parsecheck.go parseparts.go
//	  parseregion.go parsestep.go assemble.go
//	execution: hooks.go connection.go exec.go stall.go causal.go
//	classes: classes.go classexec.go classplaces.go contiguous.go invariants.go folded.go
//	  iterations.go
//	transposes: transpose.go transposeround.go transposeroles.go
package schedule
