// Package lowering selects the passes that a program goes through before it is a schedule. Scenario
// files and package program share the selection.
package lowering

import "collsim/unit"

// Passes selects passes and their sizes. The zero value selects none.
type Passes struct {
	// OneShot executes sums of at most so many bytes in one shot; 0 turns it off. It needs
	// SymmetricMemory, which makes buffers symmetric that kernels of the program write.
	OneShot         unit.Bytes
	SymmetricMemory bool
	// Bucket joins calls that do the same until they have so many bytes; 0 turns it off. Coalesce
	// joins adjacent ones.
	Bucket   unit.Bytes
	Coalesce bool
	// InPlace makes all_reduce and broadcast work in place: on a copy, or on the operand where that
	// is dead afterwards.
	InPlace bool
	// Pipeline fuses an all_gather with the matmuls after it, and a matmul with the reduce_scatter
	// after it.
	Pipeline Pipeline
	// CommBuffer is the size of the buffer through which calls on private memory are copied; 0
	// treats private memory like registered memory.
	CommBuffer unit.Bytes
	// Register makes the buffers of calls registered. Registering is the time that this takes for a
	// buffer, and for a symmetric one. It is spent once for given tensors, and in every iteration
	// for tensors that the program writes, unless Persistent.
	Register, Persistent bool
	Registering          unit.Time
	// Reorder issues calls early and waits for them late, if that is faster.
	Reorder bool
	// Reuse stores tensors in the memory of others that are dead.
	Reuse bool
}

// Pipeline says whether and how matmuls are fused with the collectives beside them.
type Pipeline uint8

// PipelineIfFaster uses the repaired pipeline where it takes less time.
const (
	NoPipeline Pipeline = iota
	SeedPipeline
	RepairedPipeline
	PipelineIfFaster
)

var pipelineNames = [...]string{"off", "seed", "repaired", "if faster"}

// Pipelines lists the names, in order.
func Pipelines() []string { return pipelineNames[:] }
