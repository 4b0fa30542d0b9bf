package rank

import "fmt"

// A phase is the state of a worker in a job. It decides which order may follow.
type phase int32

const (
	idle     phase = iota // there is no job
	prepared              // for a repetition
	executed
	working // has an order to carry out
	failed  // has met an error, and awaits the end
)

// takes reports an order that a phase does not allow; ranks: the worker has ranks of the job.
func (p phase) takes(kind orderKind, ranks bool) error {
	good := false
	switch kind {
	case orderJob:
		good = p == idle
	case orderGo:
		good = p == prepared && ranks
	case orderReset:
		good = p == executed
	case orderFinish:
		good = p == executed || p == prepared && !ranks
	}
	if !good {
		return fmt.Errorf("order %d, which nobody awaits", kind)
	}
	return nil
}

// after returns the phase that follows an order.
func after(kind orderKind) phase {
	switch kind {
	case orderFinish:
		return idle
	case orderGo:
		return executed
	}
	return prepared
}
