// Package judge is a second opinion on schedules: it reads the text form, and says whether what it
// reads computes its collective, comes to its end and has no race. It exists to be compared with
// the proof (proof.Verify), and so shares no code with it: its reader, its unrolling, its values
// and its order of things are its own, written from docs/schedule.md and the design, and as plain
// as they can be. It is slow, and made for schedules of some dozens of steps.
//
//   - Read unrolls a text: loops, bundles of lanes and groups are written out.
//   - Judge carries the steps out on single elements in some order, draws the graph of what
//     happens before what, and looks for accesses to an element that it does not order.
//   - Explore knows nothing of that graph: it tries every interleaving of steps, landings of
//     puts and callers, and looks at what comes out.
//
// The caller of a rank is a lane of its own in every call: it writes the inputs before the rank's
// lanes begin, and reads the outputs after they have ended, after the last call too. There is no
// barrier between the calls of different ranks.
//
// The package must not know package schedule.
package judge
