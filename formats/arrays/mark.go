package arrays

import (
	"bytes"

	"collsim/formats/internal/tensor"
	"collsim/formats/npy"
	"collsim/formats/safetensors"
)

// software is the mark of what WriteRanks has written.
const software = "collsim"

// Marked reports whether a file with such an ending (".npz") that begins and ends so was written by
// WriteRanks: a .npy has the blanks of npy.WriteMarked, members of an .npz have a comment, and
// metadata of a .safetensors name the software. What NumPy or safetensors load and save again has
// it no more. At least 4096 bytes of either end are expected, or all of the file.
func Marked(ending string, head, tail []byte) bool {
	switch ending {
	case tensor.NPY:
		return npy.Marked(head)
	case tensor.NPZ: // the comment of the last member stands before the end of the list of them
		return bytes.HasPrefix(head, []byte("PK")) &&
			(bytes.Contains(tail, []byte(software+"PK\x05\x06")) ||
				bytes.Contains(tail, []byte(software+"PK\x06\x06"))) // of a large one
	case tensor.Safetensors:
		const length = 8
		return len(head) > length && bytes.HasPrefix(head[length:],
			[]byte(safetensors.Made(software)))
	}
	return false
}
