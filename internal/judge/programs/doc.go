// Package programs is a second opinion on programs. It reads a scenario, evaluates its program op
// by op as written, and returns the results of all ranks and their digest. It is compared with
// packages program, proof and reference on the same text, and so shares no code with them. Its
// reader, shapes, arithmetic and gradients are its own, written from the documents
// (docs/programs.md, docs/scenario.md), and as plain as possible.
//
//   - Read reads a scenario; Program.Given lists its given tensors.
//   - Program.Evaluate evaluates the program on bytes of those.
//   - Results.Digest hashes all results.
//
// Ops are evaluated in the order of the file, each on all its ranks at once; an op reads the newest
// version of every operand. Streams, async, after, algorithms, memory, the order of stages and all
// of [lowering] change the time of an operation and not its result; they are ignored. The package
// refuses everything that it does not know.
//
// # Arithmetic
//
// Floats are computed in float64 and rounded once to the type of the result; integers wrap. Layers
// are never exact: their gradients come of dual numbers, which carry derivatives along.
// Results.Exact reports that nothing was rounded, and that no sum could have been rounded in any
// order. Every correct execution then gives these results, bit for bit.
package programs
