package rank

import "fmt"

// phase is how far a worker is with a job: what it may be posted next follows from that, whoever
// says it.
type phase int32

const (
	idle     phase = iota // there is no job
	prepared              // for a repetition
	executed
	working // it has been posted what to do, and has not answered
	failed  // it has met an error, and waits to be posted the end
)

// takes says what is wrong with an order that is to be carried out in a phase, nil if nothing;
// ranks says whether the worker has any of the job.
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

// after is the phase when an order has been carried out.
func after(kind orderKind) phase {
	switch kind {
	case orderFinish:
		return idle
	case orderGo:
		return executed
	}
	return prepared
}
