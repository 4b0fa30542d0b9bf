package schedule

// Hooks are called during an execution; nil ones are not. An error ends it.
type Hooks struct {
	Step     func(v *Visit) error            // every sub-step, in an order that respects all waits
	Finished func(rank, iteration int) error // a rank has come to the end of an iteration

	// Also is called by ExecuteClasses alone, before Step: a member of the class that is visited
	// receives another message as the i-th operand than the representative.
	Also func(v *Visit, i int, member, handle int32) error
}

// Counts is what an execution has seen.
type Counts struct {
	Steps, Messages int64 // sub-steps, and messages with signals among them
	Rounds          int   // 1 + the highest round of a step that sends or gets data
	InFlight        int   // the most messages that a connection ever held
}
