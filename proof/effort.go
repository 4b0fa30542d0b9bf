package proof

import "errors"

// A folded proof that fails is repeated on all ranks, so that each rank's violations are reported.
// A wrong schedule must not cost much more than a right one, so the second proof is bounded. The
// bounds are counts of work and memory, not times, so that every machine reports the same.

// effort counts what a proof has done. Accesses to cells, steps, and entries of clocks and values
// count as accesses; memory made for them counts in bytes.
type effort struct{ accesses, bytes int64 }

// spend adds to the effort.
func (e *effort) spend(accesses, bytes int64) {
	e.accesses, e.bytes = e.accesses+accesses, e.bytes+bytes
}

// The bounds of the second proof: about 2 seconds, and 256 MB with what Go's allocator adds.
const (
	mostAccesses = 24 << 20
	mostBytes    = 128 << 20
)

// The sizes of cells, values, clocks and accesses, in bytes.
const (
	cellBytes    = 32
	valueBytes   = 112
	runBytes     = 12
	clockBytes   = 8
	trackBytes   = 72
	accessBytes  = 32
	clocksAtOnce = 4 // entries of a clock that cost as much as one access
)

// errEffort ends a walk that exceeds its bounds.
var errEffort = errors.New("more than is done to tell the violations of all ranks")

// exceeds reports whether a bounded proof has done more than it may.
func (v *verifier) exceeds() bool {
	return v.bounds && (v.accesses > mostAccesses || v.bytes > mostBytes)
}

// mayWalkAll reports whether a proof of all ranks is likely to keep within the bounds. It
// extrapolates from the effort of rank 0's walk.
func (v *verifier) mayWalkAll() bool {
	ranks := int64(v.s.Spec.Ranks)
	return v.accesses <= mostAccesses/ranks && v.bytes <= mostBytes/ranks &&
		v.cells() <= mostBytes/cellBytes/ranks
}

// cells returns the number of cells of the memories of the walked rank: an upper bound of a rank's,
// as long as nothing is cut inside a block.
func (v *verifier) cells() (n int64) {
	for i := range v.memory.all {
		n += int64(len(v.memory.all[i].cells))
	}
	return n
}
