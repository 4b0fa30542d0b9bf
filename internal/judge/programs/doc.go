// Package programs is a second opinion on programs: it reads a scenario, evaluates its program op
// by op as written, and gives the results of all ranks and their digest. It exists to be compared
// with what packages program, proof and reference make of the same text, and so shares no code with
// them: its reader, its shapes, its arithmetic and its gradients are its own, written from the
// documents (docs/programs.md, docs/scenario.md) and as plain as they can be.
//
//   - Read reads a scenario and says which tensors it has given.
//   - Program.Evaluate carries the program out on bytes of those.
//   - Results.Digest is a hash of all that comes out.
//
// Ops are evaluated in the order of the file, each on all its ranks at once; an op reads the newest
// version of every operand. Streams, async, after, algorithms, memory, the order of stages and all
// of [lowering] change when something is done and not what, and mean nothing here. What the package
// does not know it refuses; it guesses nothing.
//
// # Arithmetic
//
// Floats are computed in float64 and rounded once to the type of the result; integers wrap.
// Results.Exact says that nothing was rounded and that no sum could have been rounded in any order:
// the results are then what every right execution gives, bit for bit.
package programs
