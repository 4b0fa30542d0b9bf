package program

import (
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// Lowering is which passes a program goes through.
type Lowering struct {
	// OneShot has sums of at most so many bytes done in one shot; 0 is none. It takes
	// SymmetricMemory, for which buffers that kernels of the program write are made symmetric.
	OneShot         unit.Bytes
	SymmetricMemory bool
	// Bucket joins calls that do the same until they have so many bytes; 0 is none. Coalesce joins
	// those that stand next to each other.
	Bucket   unit.Bytes
	Coalesce bool
	// InPlace has all_reduce and broadcast work in place: on a copy, or, where what they read is dead
	// afterwards, on that.
	InPlace bool
	// Pipeline fuses an all_gather with the matmuls behind it, and a matmul with the reduce_scatter
	// behind it.
	Pipeline Pipeline
	// CommBuffer is how large the buffer is through which calls on private memory are copied; 0 has
	// them go as what is registered does.
	CommBuffer unit.Bytes
	// Register has what calls read and write be registered. Registering is what that costs a buffer,
	// and symmetric ones: once for what is given, in every iteration for what the program writes,
	// unless Persistent.
	Register, Persistent bool
	Registering          unit.Time
	// Reorder issues calls early and waits for them late, if that is faster.
	Reorder bool
	// Reuse lets tensors lie where others lay that are dead.
	Reuse bool
	// Time is how long a lowered program takes. Passes that choose what is faster need it; where it
	// is nil, nothing is faster, and notes say of no time what was saved.
	Time func(*schedule.Schedule) (unit.Time, error)
	// Decided, unless nil, is what has been decided for this program at other sizes, which is done
	// here as well; nothing is decided anew.
	Decided *Decisions
}

// any reports whether a pass is on that may be left out.
func (l *Lowering) any() bool {
	return slices.ContainsFunc(passTable(), func(p pass) bool {
		return p.name != "layout" && p.name != "lowering" && p.on(l)
	})
}

// Pipeline is whether matmuls are fused with the collectives beside them, and how.
type Pipeline uint8

// The ways. PipelineIfFaster is the repaired one where it takes less time.
const (
	NoPipeline Pipeline = iota
	SeedPipeline
	RepairedPipeline
	PipelineIfFaster
)

var pipelineNames = [...]string{"off", "seed", "repaired", "if faster"}

// Pipelines lists the names of the ways, in their order.
func Pipelines() []string { return pipelineNames[:] }
