package npy

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/internal/tensor"
)

// The format: NumPy enhancement proposal 1 and numpy.lib.format.
//
//	\x93NUMPY  major minor  length (2 bytes; 4 since 2.0)  header …\n  elements
//
// The header is a Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
// Version 2.0 has longer headers, 3.0 has names of fields in UTF-8; both are for structured types.

// maxHeader bounds the header. NumPy itself reads at most 10,000 characters of files that it does
// not trust.
const maxHeader = 1 << 20

// header holds the header of a .npy.
type header struct {
	array   tensor.Array // without a name
	big     bool         // big-endian
	fortran bool         // the first axis is fastest
	length  int64        // offset of the elements
}

// Open reads the header of a .npy of size bytes, and checks it against the size.
func Open(r io.ReaderAt, size int64) ([]tensor.Part, error) {
	h, err := readHeader(io.NewSectionReader(r, 0, size), size, new(headers).parse)
	if err != nil {
		return nil, err
	}
	if err := h.checkSize(size); err != nil {
		return nil, err
	}
	return []tensor.Part{{Array: h.array, Read: func() ([]byte, error) {
		return h.elements(io.NewSectionReader(r, h.length, size-h.length), true)
	}}}, nil
}

// elements reads the elements. sure says that the file is known to be long enough; otherwise memory
// grows as they arrive. Fortran order takes the memory twice while it is reordered.
func (h *header) elements(r io.Reader, sure bool) ([]byte, error) {
	size, err := tensor.Size(h.array.Shape, h.array.Width)
	if err != nil {
		return nil, err
	}
	data, err := tensor.Fill(r, size, sure)
	if err != nil {
		return nil, err
	}
	if h.big {
		swap(data, h.array.Width/h.array.Type.Components())
	}
	if h.fortran {
		data = toC(data, h.array.Shape, h.array.Width)
	}
	return data, nil
}

// checkSize compares the size of a .npy with its header.
func (h *header) checkSize(size int64) error {
	want, err := tensor.Size(h.array.Shape, h.array.Width)
	if err != nil {
		return err
	}
	if found := size - h.length; found != want {
		return tensor.Failed("has %s of elements; its shape %s of %s needs %d", tensor.BytesText(found),
			tensor.ShapeText(h.array.Shape), tensor.TypeText(&h.array), want)
	}
	return nil
}

// readHeader reads the header of a .npy of size bytes.
func readHeader(
	r io.Reader, size int64, parse func([]byte) (header, error),
) (header, error) {
	room := make([]byte, 256) // enough for most headers
	start := room[:len(tensor.MagicNPY)+2]
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return header{}, err
	}
	if want := min(size, int64(len(start))); int64(n) < want {
		return header{}, tensor.Failed("ends after %d of %s", n, tensor.BytesText(size))
	}
	if err := tensor.CheckStart(tensor.NPY, start[:n]); err != nil {
		return header{}, err
	}
	major, minor := start[len(tensor.MagicNPY)], start[len(tensor.MagicNPY)+1]
	if major < 1 || major > 3 || minor != 0 {
		return header{}, tensor.Failed("is of version %d.%d; 1.0, 2.0 or 3.0 is expected", major, minor)
	}
	field := room[len(start):][:4]
	if major == 1 {
		field = field[:2]
	}
	if _, err := io.ReadFull(r, field); err != nil {
		return header{}, headerEnds(err)
	}
	length := int64(0)
	for i, b := range field {
		length |= int64(b) << (8 * i)
	}
	begin := int64(len(start) + len(field))
	if length > maxHeader {
		return header{}, tensor.Failed("its header claims %d bytes; at most %d are expected",
			length, maxHeader)
	}
	if length > size-begin {
		return header{}, tensor.Failed("its header claims %d bytes; the file has %d more",
			length, size-begin)
	}
	text := room
	if length > int64(len(room)) {
		text = make([]byte, length)
	}
	text = text[:length]
	if _, err := io.ReadFull(r, text); err != nil {
		return header{}, headerEnds(err)
	}
	h, err := parse(text)
	h.length = begin + length
	return h, err
}

func headerEnds(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return tensor.Failed("ends within its header")
	}
	return err
}

// parseHeader parses the dict.
func parseHeader(text string) (header, error) {
	var h header
	dict, err := parseLiteral(text)
	if err != nil {
		return h, err
	}
	keys := []string{"descr", "fortran_order", "shape"}
	values := make([]*literal, len(keys))
	if dict.kind != '{' {
		return h, tensor.Failed("its header is %.40q; a dict is expected", text)
	}
	for i := 0; i < len(dict.items); i += 2 {
		at := slices.Index(keys, dict.items[i].text)
		if at < 0 || dict.items[i].kind != 's' || values[at] != nil {
			return h, tensor.Failed("its header has a key %.40q; one each of %s is expected",
				dict.items[i].text, strings.Join(keys, ", "))
		}
		values[at] = &dict.items[i+1]
	}
	for i, v := range values {
		if v == nil {
			return h, tensor.Failed("its header has no %s", keys[i])
		}
	}
	if h.array.Shape, err = parseShape(*values[2]); err != nil {
		return h, err
	}
	order := *values[1]
	if order.kind != 'n' || order.text != "True" && order.text != "False" {
		return h, tensor.Failed("its fortran_order is %.40q; True or False is expected", order.text)
	}
	h.fortran = order.text == "True"
	err = h.parseDescr(*values[0])
	return h, err
}

func parseShape(v literal) ([]int64, error) {
	if v.kind != '(' {
		return nil, tensor.Failed("its shape is %.40q; a tuple of integers is expected", v.text)
	}
	shape := make([]int64, len(v.items))
	for i, item := range v.items {
		n, err := strconv.ParseInt(item.text, 10, 64)
		if item.kind != 'i' || err != nil || n < 0 {
			return nil, tensor.Failed("its shape is %.80q; a tuple of integers from 0 to 2⁶³−1 is "+
				"expected", v.text)
		}
		shape[i] = n
	}
	if _, err := tensor.Size(shape, 1); err != nil {
		return nil, err
	}
	return shape, nil
}

// text returns the bytes before the elements, exactly as numpy.save writes them. Blanks leave room
// for the first axis to grow to 21 digits; more blanks align the elements to 64 bytes.
func text(a *tensor.Array, marked bool) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
		descrOf(a), tensor.ShapeText(a.Shape))
	if len(a.Shape) > 0 {
		dict += strings.Repeat(" ", 21-len(strconv.FormatInt(a.Shape[0], 10)))
	}
	const before = len(tensor.MagicNPY) + 4
	blanks := (64 - (before+len(dict)+1)%64) % 64
	if marked {
		blanks = max(blanks, MarkedAt-before-len(dict)-1)
	}
	length := len(dict) + blanks + 1
	head := append([]byte(tensor.MagicNPY), 1, 0, byte(length), byte(length>>8))
	head = append(head, dict...)
	head = append(head, strings.Repeat(" ", blanks)...)
	return append(head, '\n')
}
