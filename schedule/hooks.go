package schedule

// Hooks are called during an execution; nil ones are skipped. An error ends the execution.
type Hooks struct {
	Step     func(v *Visit) error            // every sub-step, in an order that respects all waits
	Finished func(rank, iteration int) error // a rank has ended an iteration

	// Also is called by ExecuteClasses only, before Step: a member of the visited class receives
	// another message as its i-th operand than the representative does.
	Also func(v *Visit, i int, member, handle int32) error
}

// Counts are statistics of an execution.
type Counts struct {
	Steps, Messages int64 // sub-steps, and messages with signals among them
	Rounds          int   // 1 + the highest round of a step that sends or gets data
	InFlight        int   // the most messages that a connection ever held
}
