// Package npy reads and writes NumPy's files of arrays: .npy, which has one, and .npz, a zip
// archive of .npy files. What a file says of itself is held against its length before memory is
// taken for elements.
//
// NumPy has no bfloat16 and no float8. ml_dtypes lends it both and saves them as void elements of
// the same width; so does this package. It knows no other format, and no ranks: package arrays
// does.
package npy
