package arrays

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/dtype"
)

// The format: github.com/huggingface/safetensors, "Format".
//
//	length of the header (8 bytes)  header, JSON …  elements
//
// The header is {"rank0": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}, …}, and perhaps
// "__metadata__" of strings, which says nothing about elements. Offsets count from the header's
// end; together they must cover the rest of the file, without a hole or an overlap.

// maxSafetensorsHeader is the bound of the reference implementation.
const maxSafetensorsHeader = 100_000_000

const metadata = "__metadata__"

// tensor is what the header says of one.
type tensor struct {
	array      Array
	begin, end int64
}

// nameOf is a type's name in a .safetensors.
type nameOf struct {
	name  string
	dtype dtype.Type
}

func safetensorsNames() []nameOf {
	return []nameOf{{"F64", dtype.Float64}, {"F32", dtype.Float32}, {"F16", dtype.Float16},
		{"BF16", dtype.BFloat16}, {"F8_E4M3", dtype.Float8E4M3}, {"F8_E5M2", dtype.Float8E5M2},
		{"I8", dtype.Int8}, {"I16", dtype.Int16}, {"I32", dtype.Int32}, {"I64", dtype.Int64},
		{"U8", dtype.Uint8}, {"U16", dtype.Uint16}, {"U32", dtype.Uint32}, {"U64", dtype.Uint64}}
}

func lengthOfHeader(start []byte) uint64 { return binary.LittleEndian.Uint64(start) }

func (f *File) openSafetensors(r io.ReaderAt, size int64) error {
	start := make([]byte, 8)
	n, err := r.ReadAt(start[:min(8, size)], 0)
	if err != nil && err != io.EOF {
		return err
	}
	if err := checkStart(safetensors, start[:n]); err != nil {
		return err
	}
	length := int64(lengthOfHeader(start))
	if length > size-8 {
		return failed("its header claims %d bytes; the file has %d more", length, size-8)
	}
	header := make([]byte, length)
	if _, err := r.ReadAt(header, 8); err != nil && err != io.EOF {
		return err
	}
	if !utf8.Valid(header) {
		return failed("its header is not in UTF-8")
	}
	tensors, err := parseTensors(header)
	if err != nil {
		return err
	}
	begin := 8 + length
	if err := checkOffsets(tensors, size-begin); err != nil {
		return err
	}
	for _, t := range tensors {
		open := func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(r, begin+t.begin, t.end-t.begin)), nil
		}
		f.arrays = append(f.arrays, t.array)
		f.parts = append(f.parts, part{open: open, sure: true})
	}
	return nil
}

// checkOffsets sorts tensors by their place and sees that each has the bytes that its shape needs,
// begins where the one before ends, and that the last ends with the file, size bytes in all.
func checkOffsets(tensors []tensor, size int64) error {
	slices.SortStableFunc(tensors, func(a, b tensor) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for _, t := range tensors {
		name := t.array.Name
		need, err := sizeOf(t.array.Shape, t.array.Width)
		if err != nil {
			return in("", name, err)
		}
		switch {
		case t.end < t.begin || t.end-t.begin != need:
			return in("", name, failed("has data_offsets [%d, %d]; its shape %s of %s needs %s",
				t.begin, t.end, shapeText(t.array.Shape), t.array.typeText(), bytesText(need)))
		case t.begin > at:
			return in("", name, failed("begins at byte %d; nothing says what the bytes from %d are",
				t.begin, at))
		case t.begin < at:
			return in("", name, failed("begins at byte %d; another tensor ends at %d", t.begin, at))
		case t.end > size:
			return in("", name, failed("ends at byte %d; the file has %s of elements",
				t.end, bytesText(size)))
		}
		at = t.end
	}
	if at != size {
		return failed("has %s of elements; its header speaks of %d", bytesText(size), at)
	}
	return nil
}

// setType takes a type's name.
func (a *Array) setType(name string) error {
	a.Stored = name
	var names []string
	for _, n := range safetensorsNames() {
		if n.name == name {
			a.Type, a.Width = n.dtype, n.dtype.Width()
			return nil
		}
		names = append(names, n.name)
	}
	if name == "BOOL" {
		a.Width, a.truth = 1, true
		return nil
	}
	return failed("its dtype is %.40q; one of %s, BOOL is expected", name, strings.Join(names, ", "))
}
