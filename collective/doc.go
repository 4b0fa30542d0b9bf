// Package collective defines collectives: the problem to be computed, never its solution.
//
// A Spec names a kind (all_reduce, all_gather, …), an operator, a number format, the ranks and the
// number of elements. These determine the sizes of every rank's input and output, and the input
// elements of each output element (Spec.Want). They also determine nccl-tests' size and bus
// bandwidth, and the meaning of "in place". Names are those of torch.distributed; counts are those
// of the NCCL call.
//
// The package knows nothing of algorithms, schedules, networks or time.
package collective
