// Package npy reads and writes NumPy's files of arrays: .npy, which has one, and .npz, a zip
// archive of .npy files. Headers are checked against the length of the file before elements are
// allocated.
//
// NumPy has no bfloat16 and no float8. ml_dtypes adds both and saves them as void elements of the
// same width; so does this package. It knows no other format, and no ranks: package arrays does.
package npy
