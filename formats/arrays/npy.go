package arrays

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The format: NumPy enhancement proposal 1 and numpy.lib.format.
//
//	\x93NUMPY  major minor  length (2 bytes; 4 since 2.0)  header …\n  elements
//
// The header is a Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
// Version 2.0 has longer headers, 3.0 has names of fields in UTF-8; both are for structured types.
const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds the header. NumPy itself reads no more than 10,000 characters of strangers.
const maxNPYHeader = 1 << 20

// npyHeader is what the header of a .npy says.
type npyHeader struct {
	array   Array // without a name
	big     bool
	fortran bool
	length  int64 // where the elements begin
}

func (f *File) openNPY(r io.ReaderAt, size int64) error {
	h, err := readNPYHeader(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return err
	}
	if err := h.checkSize(size); err != nil {
		return err
	}
	open := func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(r, h.length, size-h.length)), nil
	}
	f.arrays = []Array{h.array}
	f.parts = []part{{open: open, sure: true, big: h.big, fortran: h.fortran}}
	return nil
}

// checkSize compares the size of a .npy with what its header says.
func (h *npyHeader) checkSize(size int64) error {
	want, err := sizeOf(h.array.Shape, h.array.Width)
	if err != nil {
		return err
	}
	if found := size - h.length; found != want {
		return failed("has %s of elements; its shape %s of %s needs %d", bytesText(found),
			shapeText(h.array.Shape), h.array.typeText(), want)
	}
	return nil
}

// readNPYHeader reads what is before the elements in a .npy of size bytes.
func readNPYHeader(r io.Reader, size int64) (npyHeader, error) {
	start := make([]byte, len(npyMagic)+2)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return npyHeader{}, err
	}
	if want := min(size, int64(len(start))); int64(n) < want {
		return npyHeader{}, failed("ends after %d of %s", n, bytesText(size))
	}
	if err := checkStart(npy, start[:n]); err != nil {
		return npyHeader{}, err
	}
	major, minor := start[len(npyMagic)], start[len(npyMagic)+1]
	if major < 1 || major > 3 || minor != 0 {
		return npyHeader{}, failed("is of version %d.%d; 1.0, 2.0 or 3.0 is expected", major, minor)
	}
	field := make([]byte, 4)
	if major == 1 {
		field = field[:2]
	}
	if _, err := io.ReadFull(r, field); err != nil {
		return npyHeader{}, headerEnds(err)
	}
	length := int64(binary.LittleEndian.Uint32(slices.Concat(field, make([]byte, 2))[:4]))
	begin := int64(len(start) + len(field))
	if length > maxNPYHeader {
		return npyHeader{}, failed("its header claims %d bytes; at most %d are expected",
			length, maxNPYHeader)
	}
	if length > size-begin {
		return npyHeader{}, failed("its header claims %d bytes; the file has %d more",
			length, size-begin)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return npyHeader{}, headerEnds(err)
	}
	h, err := parseNPYHeader(string(text))
	h.length = begin + length
	return h, err
}

func headerEnds(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return failed("ends within its header")
	}
	return err
}

// parseNPYHeader reads the dict.
func parseNPYHeader(text string) (npyHeader, error) {
	var h npyHeader
	dict, err := parseLiteral(text)
	if err != nil {
		return h, err
	}
	keys := []string{"descr", "fortran_order", "shape"}
	values := make([]*literal, len(keys))
	if dict.kind != '{' {
		return h, failed("its header is %.40q; a dict is expected", text)
	}
	for i := 0; i < len(dict.items); i += 2 {
		at := slices.Index(keys, dict.items[i].text)
		if at < 0 || dict.items[i].kind != 's' || values[at] != nil {
			return h, failed("its header has a key %.40q; one each of %s is expected",
				dict.items[i].text, strings.Join(keys, ", "))
		}
		values[at] = &dict.items[i+1]
	}
	for i, v := range values {
		if v == nil {
			return h, failed("its header has no %s", keys[i])
		}
	}
	if h.array.Shape, err = parseShape(*values[2]); err != nil {
		return h, err
	}
	order := *values[1]
	if order.kind != 'n' || order.text != "True" && order.text != "False" {
		return h, failed("its fortran_order is %.40q; True or False is expected", order.text)
	}
	h.fortran = order.text == "True"
	err = h.parseDescr(*values[0])
	return h, err
}

func parseShape(v literal) ([]int64, error) {
	if v.kind != '(' {
		return nil, failed("its shape is %.40q; a tuple of integers is expected", v.text)
	}
	shape := make([]int64, len(v.items))
	for i, item := range v.items {
		n, err := strconv.ParseInt(item.text, 10, 64)
		if item.kind != 'i' || err != nil || n < 0 {
			return nil, failed("its shape is %.80q; a tuple of integers from 0 to 2⁶³−1 is expected",
				v.text)
		}
		shape[i] = n
	}
	if _, err := sizeOf(shape, 1); err != nil {
		return nil, err
	}
	return shape, nil
}

// npyText returns a .npy's bytes before the elements, exactly as numpy.save writes them: blanks
// where the first axis may grow to 21 digits, then as many as begin the elements at a multiple of
// 64 bytes.
func npyText(a *Array) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
		descrOf(a), shapeText(a.Shape))
	if len(a.Shape) > 0 {
		dict += strings.Repeat(" ", 21-len(strconv.FormatInt(a.Shape[0], 10)))
	}
	const before = len(npyMagic) + 4
	blanks := 64 - (before+len(dict)+1)%64
	length := len(dict) + blanks%64 + 1
	text := append([]byte(npyMagic), 1, 0, byte(length), byte(length>>8))
	text = append(text, dict...)
	text = append(text, strings.Repeat(" ", blanks%64)...)
	return append(text, '\n')
}
