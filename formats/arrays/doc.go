// Package arrays reads and writes arrays in files: NumPy's .npy and .npz, and .safetensors.
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
// NumPy has no bfloat16 and no float8. ml_dtypes lends it both and saves them as void elements of
// the same width; others save such bits as integers. So the type that a caller wants wins over a
// void or an integer of its width (Array.As), and over nothing else. This package writes such types
// as ml_dtypes does; .safetensors has a name for every type.
package arrays
