// Package arrays reads and writes arrays in files, by the extension: NumPy's .npy and .npz (package
// npy), and .safetensors (package safetensors).
//
// An Array has a name, a type, a shape and its elements as little-endian bytes in C order, whatever
// the file's byte order and layout. Open reads the headers and checks them against the length of
// the file before it allocates memory. Elements are read on demand.
//
// A collective's data are one array for each rank. They are tensors rank0, rank1, … of one file, or
// one array whose first axis is the rank, or one file for each rank. The name of such a file has
// {rank} in it. ReadRanks and WriteRanks know the three; the rest of the package knows no ranks.
// The package moves elements and never computes with them; package dtype does.
//
// A caller's type replaces void or an integer of the same width (Array.As), and no other type.
// NumPy has no bfloat16 and no float8, and ml_dtypes and others save their bits that way.
package arrays
