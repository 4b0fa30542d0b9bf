package tensor

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The formats, by file extension.
const (
	NPY         = ".npy"
	NPZ         = ".npz"
	Safetensors = ".safetensors"
)

// MagicNPY begins a .npy, before two bytes of its version.
const MagicNPY = "\x93NUMPY"

// MaxHeader is the most bytes of a .safetensors header, as in the reference implementation.
const MaxHeader = 100_000_000

// HeaderLength returns the length of a .safetensors header, from the file's first 8 bytes.
func HeaderLength(start []byte) uint64 { return binary.LittleEndian.Uint64(start) }

// Part is a tensor in a file: its header, and a function that reads its elements, which is safe for
// concurrent use.
type Part struct {
	Array Array
	Read  func() ([]byte, error)
}

// CheckStart refuses a file that begins like another format, or like none.
func CheckStart(format string, start []byte) error {
	is, found := "", ""
	switch {
	case bytes.HasPrefix(start, []byte(MagicNPY)):
		is, found = NPY, "a .npy"
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		is, found = NPZ, "a zip archive (a .npz, or a pickle of PyTorch)"
	case len(start) >= 8 && HeaderLength(start) <= MaxHeader:
		is = Safetensors
	}
	if is == format {
		return nil
	}
	if found == "" {
		found = fmt.Sprintf("%.8q", start)
	}
	switch {
	case len(start) == 0:
		return Failed("is empty; a %s is expected", format)
	case len(start) < 8:
		return Failed("ends after %s; a %s is expected", BytesText(int64(len(start))), format)
	case format == Safetensors && is == "":
		return Failed("a .safetensors begins with the length of its header; %d bytes are more than"+
			" the %d that are allowed", HeaderLength(start), MaxHeader)
	}
	return Failed("begins like %s; a %s is expected", found, format)
}
