// Package collective says what is to be computed: the problem, never its solution.
//
// A Spec names a kind (all_reduce, all_gather, …), an operator, a number format, the ranks and the
// number of elements. From it follow the sizes of every rank's input and output, which input
// elements each output element is made of (Spec.Want), nccl-tests' size and bus bandwidth, and
// what "in place" means. Names are those of torch.distributed; counts are those of the NCCL call.
//
// The package knows nothing of algorithms, schedules, networks or time.
package collective
