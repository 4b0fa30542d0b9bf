// Package golden compares this project's numbers with bits that real libraries computed: Open MPI,
// MPICH, Intel MPI, oneCCL, and the gloo of PyTorch and JAX, called without any code of ours. Their
// outputs are in testdata/recorded; record/README.md describes how they were made. Tests generate
// the inputs again, execute the algorithm that a library reports, and compare all bits, without the
// libraries. testdata/summary.txt lists our algorithm for each, and the differences.
package golden
