package arrays

import (
	"bytes"

	"collsim/formats/internal/tensor"
	"collsim/formats/npy"
	"collsim/formats/safetensors"
)

// software is the mark in files that WriteRanks has written.
const software = "collsim"

// Marked reports whether WriteRanks wrote a file, by its extension (".npz"), head and tail. A .npy
// has the blanks of npy.WriteMarked, members of an .npz have a comment, and metadata of a
// .safetensors name the software. A file that NumPy or safetensors have loaded and saved has lost
// the mark. head and tail must have at least 4096 bytes, or all of the file.
func Marked(ending string, head, tail []byte) bool {
	switch ending {
	case tensor.NPY:
		return npy.Marked(head)
	case tensor.NPZ: // the comment of the last member stands before the end of the directory
		return bytes.HasPrefix(head, []byte("PK")) &&
			(bytes.Contains(tail, []byte(software+"PK\x05\x06")) ||
				bytes.Contains(tail, []byte(software+"PK\x06\x06"))) // of a large file
	case tensor.Safetensors:
		const length = 8
		return len(head) > length && bytes.HasPrefix(head[length:],
			[]byte(safetensors.Made(software)))
	}
	return false
}
