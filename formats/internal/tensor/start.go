package tensor

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The formats, by the ends of files' names.
const (
	NPY         = ".npy"
	NPZ         = ".npz"
	Safetensors = ".safetensors"
)

// MagicNPY is what a .npy begins with, before two bytes of its version.
const MagicNPY = "\x93NUMPY"

// MaxHeader bounds the header of a .safetensors, as the reference implementation does.
const MaxHeader = 100_000_000

// HeaderLength is the length that a .safetensors says its header has, in its first 8 bytes.
func HeaderLength(start []byte) uint64 { return binary.LittleEndian.Uint64(start) }

// Part is a tensor in a file: what the file says of it, and how its elements are read, which may be
// done by several goroutines at once.
type Part struct {
	Array Array
	Read  func() ([]byte, error)
}

// CheckStart refuses what begins like another format, or like none.
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
