// Package arrays reads and writes arrays in files, by the ends of their names: NumPy's .npy and
// .npz (package npy), and .safetensors (package safetensors).
//
// An Array is a name, a type, a shape and its elements as little-endian bytes in C order, whatever
// the file's byte order and layout were. What is in a file is read first (Open), and everything it
// says about itself is checked against its length before memory is taken for it; elements are read
// when they are asked for.
//
// A collective's data are one array per rank: tensors rank0, rank1, … of one file, one array whose
// first axis is the rank, or one file per rank with {rank} in its name. ReadRanks and WriteRanks
// know the three; nothing else in the package has heard of ranks. It moves elements and never
// computes with them: their values are the business of package dtype.
//
// The type that a caller wants wins over a void or an integer of its width (Array.As), and over
// nothing else: NumPy has no bfloat16 and no float8, and ml_dtypes and others save their bits so.
package arrays
