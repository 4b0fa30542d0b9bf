// Package golden holds the numbers of this project to bits that real libraries made: Open MPI,
// MPICH, Intel MPI, oneCCL, PyTorch's and JAX's gloo, each called without any code of ours. Their
// outputs are in testdata/recorded, and who made them how is in record/README.md; tests make the
// inputs again, carry out what a library says that it plays, and compare all bits, without any of
// the libraries. testdata/summary.txt has which algorithm of ours that is, and what differs.
package golden
