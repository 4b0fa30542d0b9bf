package safetensors

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// The format: github.com/huggingface/safetensors, "Format".
//
//	length of the header (8 bytes)  header, JSON …  elements
//
// The header is {"rank0": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}, …}, and perhaps
// "__metadata__" of strings, which do not affect elements. Offsets count from the end of the
// header. Together they must cover the rest of the file, without a hole or an overlap.

// Metadata is the key that cannot be the name of a tensor.
const Metadata = "__metadata__"

// entry is the header's entry of a tensor.
type entry struct {
	array      tensor.Array
	begin, end int64
}

// nameOf pairs a type with its name in a .safetensors.
type nameOf struct {
	name  string
	dtype dtype.Type
}

// names lists the types that the format has: all of ours but complex128.
func names() [16]nameOf {
	return [...]nameOf{{"F64", dtype.Float64}, {"F32", dtype.Float32}, {"F16", dtype.Float16},
		{"BF16", dtype.BFloat16}, {"F8_E4M3", dtype.Float8E4M3}, {"F8_E5M2", dtype.Float8E5M2},
		{"I8", dtype.Int8}, {"I16", dtype.Int16}, {"I32", dtype.Int32}, {"I64", dtype.Int64},
		{"U8", dtype.Uint8}, {"U16", dtype.Uint16}, {"U32", dtype.Uint32}, {"U64", dtype.Uint64},
		{"BOOL", dtype.Bool}, {"C64", dtype.Complex64}}
}

// Open reads the header of a .safetensors of size bytes, and checks it against the size. Tensors
// are in the order of their elements in the file.
func Open(r io.ReaderAt, size int64) ([]tensor.Part, error) {
	start := make([]byte, 8)
	n, err := r.ReadAt(start[:min(8, size)], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err := tensor.CheckStart(tensor.Safetensors, start[:n]); err != nil {
		return nil, err
	}
	length := int64(tensor.HeaderLength(start))
	if length > size-8 {
		return nil, tensor.Failed("its header claims %d bytes; the file has %d more", length, size-8)
	}
	header := make([]byte, length)
	if _, err := r.ReadAt(header, 8); err != nil && err != io.EOF {
		return nil, err
	}
	if !utf8.Valid(header) {
		return nil, tensor.Failed("its header is not in UTF-8")
	}
	entries, ok := scanHeader(string(header))
	if !ok {
		if entries, err = parseHeader(header); err != nil {
			return nil, err
		}
	}
	begin := 8 + length
	if err := checkOffsets(entries, size-begin); err != nil {
		return nil, err
	}
	parts := make([]tensor.Part, len(entries))
	for i, e := range entries {
		parts[i] = tensor.Part{Array: e.array, Read: func() ([]byte, error) {
			from := io.NewSectionReader(r, begin+e.begin, e.end-e.begin)
			return tensor.Fill(from, e.end-e.begin, true)
		}}
	}
	return parts, nil
}

// checkOffsets sorts tensors by their offsets. It checks that each has the bytes of its shape and
// begins where the one before ends. The last must end with the file, at size bytes.
func checkOffsets(entries []entry, size int64) error {
	byPlace := func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	}
	if !slices.IsSortedFunc(entries, byPlace) { // as they usually are
		slices.SortStableFunc(entries, byPlace)
	}
	at := int64(0)
	for _, e := range entries {
		name := e.array.Name
		need, err := tensor.Size(e.array.Shape, e.array.Width)
		if err != nil {
			return tensor.In("", name, err)
		}
		switch {
		case e.end < e.begin || e.end-e.begin != need:
			return tensor.In("", name, tensor.Failed("has data_offsets [%d, %d]; its shape %s of %s "+
				"needs %s", e.begin, e.end, tensor.ShapeText(e.array.Shape), tensor.TypeText(&e.array),
				tensor.BytesText(need)))
		case e.begin > at:
			return tensor.In("", name, tensor.Failed("begins at byte %d; nothing says what the bytes "+
				"from %d are", e.begin, at))
		case e.begin < at:
			return tensor.In("", name, tensor.Failed("begins at byte %d; another tensor ends at %d",
				e.begin, at))
		case e.end > size:
			return tensor.In("", name, tensor.Failed("ends at byte %d; the file has %s of elements",
				e.end, tensor.BytesText(size)))
		}
		at = e.end
	}
	if at != size {
		return tensor.Failed("has %s of elements; its header speaks of %d", tensor.BytesText(size), at)
	}
	return nil
}

// setType sets the type with a name.
func setType(a *tensor.Array, name string) error {
	a.Stored = name
	for _, n := range names() {
		if n.name == name {
			a.Type, a.Width = n.dtype, n.dtype.Width()
			return nil
		}
	}
	var known []string
	for _, n := range names() {
		known = append(known, n.name)
	}
	return tensor.Failed("its dtype is %.40q; one of %s is expected", name,
		strings.Join(known, ", "))
}
