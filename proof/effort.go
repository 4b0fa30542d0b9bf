package proof

import "errors"

// A folded proof that fails is made again on all ranks, so that each rank's violations are told. A
// wrong schedule must not cost much more than a right one, so that this second proof is bounded: by
// what it does and by what it keeps, which are counted, so that the same is told on every machine.

// effort is what a proof has done: accesses to cells, steps, and entries of clocks and values, in
// accesses; and what it has made for them, in bytes.
type effort struct{ accesses, bytes int64 }

// spend adds to the effort.
func (e *effort) spend(accesses, bytes int64) {
	e.accesses, e.bytes = e.accesses+accesses, e.bytes+bytes
}

// The most effort of the second proof: some 2 seconds, and with what Go adds to it 256 MB.
const (
	mostAccesses = 24 << 20
	mostBytes    = 128 << 20
)

// What is kept of cells, values, clocks and accesses, in bytes.
const (
	cellBytes    = 32
	valueBytes   = 112
	runBytes     = 12
	clockBytes   = 8
	trackBytes   = 72
	accessBytes  = 32
	clocksAtOnce = 4 // entries of a clock that are as much work as an access
)

// errEffort ends a walk that exceeds its bounds.
var errEffort = errors.New("proof: more than is done to tell the violations of all ranks")

// exceeds reports whether a proof that is bounded has done more than it may.
func (v *verifier) exceeds() bool {
	return v.bounds && (v.accesses > mostAccesses || v.bytes > mostBytes)
}

// mayWalkAll reports whether the proof of all ranks is likely to keep within its bounds, where this
// one is of rank 0.
func (v *verifier) mayWalkAll() bool {
	ranks := int64(v.s.Spec.Ranks)
	return v.accesses <= mostAccesses/ranks && v.bytes <= mostBytes/ranks &&
		v.cells() <= mostBytes/cellBytes/ranks
}

// cells is how many cells the memories of a rank are divided into at most, where nothing is cut
// elsewhere than at the ends of blocks.
func (v *verifier) cells() (n int64) {
	for i := range v.memory.all {
		n += int64(len(v.memory.all[i].cells))
	}
	return n
}
