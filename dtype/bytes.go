package dtype

import (
	"encoding/binary"
	"unsafe"
)

// Put writes the elements, in order and little-endian, as in files and other tools, to the
// beginning of dst. REQUIRES: dst has room for them.
func Put[T Number](dst []byte, src []T) {
	from := raw(src)
	if len(dst) < len(from) {
		panic("dtype: Put into too few bytes")
	}
	copy(dst, from)
	if bigEndian() {
		swap(dst[:len(from)], Of[T]().Width())
	}
}

// Get reads as many elements as dst has from the beginning of src, which Put wrote. REQUIRES: src
// has as many.
func Get[T Number](dst []T, src []byte) {
	to := raw(dst)
	if len(src) < len(to) {
		panic("dtype: Get from too few bytes")
	}
	copy(to, src)
	if bigEndian() {
		swap(to, Of[T]().Width())
	}
}

// Bits returns the bits of an element, as an unsigned integer of its width.
func Bits[T Number](x T) uint64 {
	var b [8]byte
	Put(b[:], []T{x})
	return binary.LittleEndian.Uint64(b[:])
}

// raw returns the memory of a slice. Every pattern of bits is an element of every type.
func raw[T Number](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*Of[T]().Width())
}

// bigEndian reports whether the processor stores the highest byte of a number first.
func bigEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) != 1 }

// swap reverses the bytes of every element.
func swap(b []byte, width int) {
	for ; len(b) >= width; b = b[width:] {
		for i, j := 0, width-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}
