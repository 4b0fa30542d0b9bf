// Package judge is a second opinion on schedules. It reads the text form and reports whether the
// schedule computes its collective, ends, and has no race. It is compared with the proof
// (proof.Verify), and so shares no code with it. Its reader, unrolling, values and order are its
// own, written from docs/schedule.md, and as plain as possible. It is slow, and made for schedules
// of some dozens of steps.
//
// - Read unrolls a text: it expands loops, bundles of lanes and groups. - Judge executes the steps
// on single elements in some order, builds the happens-before graph, and looks for unordered
// accesses to an element. - Explore does not use that graph: it tries every interleaving of steps,
// landings of puts and callers, and compares the results.
//
// A rank's caller acts as a lane of its own in every call. It writes the inputs before the rank's
// lanes begin, and reads the outputs after they have ended, also after the last call. There is no
// barrier between the calls of different ranks.
//
// The package must not know package schedule.
package judge
