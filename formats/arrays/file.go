package arrays

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The formats, by the ends of files' names.
const (
	npy         = ".npy"
	npz         = ".npz"
	safetensors = ".safetensors"
)

// File is a file of arrays whose headers were read and checked. It may be used by several
// goroutines at once.
type File struct {
	name   string
	arrays []Array
	parts  []part // one for each of arrays
	closer io.Closer
}

// part says where an array's elements are.
type part struct {
	open    func() (io.ReadCloser, error) // at the first of them
	sure    bool                          // the file is long enough: it need not be believed
	big     bool                          // the most significant byte comes first
	fortran bool                          // the first axis is fastest
}

// Open reads what a .npy, .npz or .safetensors says that it holds, and checks it against the length
// of the file. What is no ordinary file (a pipe) is read whole. Errors are *Error.
func Open(path string) (*File, error) {
	if _, err := formatOf(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, systemError(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, systemError(path, err)
	}
	if info.IsDir() {
		_ = f.Close()
		return nil, in(path, "", failed("is a directory; a file is expected"))
	}
	if !info.Mode().IsRegular() {
		defer f.Close()
		return newStream(path, f)
	}
	file, err := NewFile(path, f, info.Size())
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	file.closer = f
	return file, nil
}

// NewFile is Open of size bytes that are anywhere; the end of name says what they are. The reader
// must outlive the file.
func NewFile(name string, r io.ReaderAt, size int64) (*File, error) {
	format, err := formatOf(name)
	if err != nil {
		return nil, err
	}
	f := &File{name: name}
	switch format {
	case npy:
		err = f.openNPY(r, size)
	case npz:
		err = f.openNPZ(r, size)
	case safetensors:
		err = f.openSafetensors(r, size)
	}
	if err != nil {
		return nil, in(name, "", err)
	}
	return f, nil
}

// newStream is NewFile of bytes whose number is not known. Memory grows as they arrive; that they
// do not begin like the format is seen at once.
func newStream(name string, r io.Reader) (*File, error) {
	format, err := formatOf(name)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(r)
	start, err := b.Peek(len(npyMagic) + 2)
	if err != nil && err != io.EOF {
		return nil, systemError(name, err)
	}
	if err := checkStart(format, start); err != nil {
		return nil, in(name, "", err)
	}
	all, err := io.ReadAll(b)
	if err != nil {
		return nil, systemError(name, err)
	}
	return NewFile(name, bytes.NewReader(all), int64(len(all)))
}

// Close closes the file. Arrays that were read stay.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Arrays lists what the file holds, in its order (.safetensors: that of the elements in the file),
// without the elements.
func (f *File) Arrays() []Array {
	arrays := slices.Clone(f.arrays)
	for i := range arrays {
		arrays[i].Shape = slices.Clone(arrays[i].Shape)
	}
	return arrays
}

// Read returns the array Arrays()[i] with its elements. It takes memory for them once, twice while
// it reorders an array in Fortran order; what is compressed takes memory as it comes out.
func (f *File) Read(i int) (Array, error) {
	a, p := f.arrays[i], f.parts[i]
	r, err := p.open()
	if err != nil {
		return Array{}, in(f.name, a.Name, zipError(err))
	}
	defer r.Close()
	size, err := sizeOf(a.Shape, a.Width)
	if err == nil {
		a.Data, err = fill(r, size, p.sure)
	}
	if err != nil {
		return Array{}, in(f.name, a.Name, zipError(err))
	}
	if p.big {
		swap(a.Data, a.Width)
	}
	if p.fortran {
		a.Data = toC(a.Data, a.Shape, a.Width)
	}
	a.Shape = slices.Clone(a.Shape)
	return a, nil
}

// formatOf returns the format that the end of a name stands for.
func formatOf(name string) (string, error) {
	end := strings.ToLower(filepath.Ext(name))
	if slices.Contains([]string{npy, npz, safetensors}, end) {
		return end, nil
	}
	err := failed("a name that ends in .npy, .npz or .safetensors is expected")
	if slices.Contains([]string{".pt", ".pth", ".pkl", ".bin"}, end) {
		err.Text += "; a pickle of PyTorch becomes one with safetensors.torch.save_file"
	}
	return "", in(name, "", err)
}

// checkStart refuses what begins like another format, or like none.
func checkStart(format string, start []byte) error {
	found := fmt.Sprintf("%.8q", start)
	is := ""
	switch {
	case bytes.HasPrefix(start, []byte(npyMagic)):
		is, found = npy, "a .npy"
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		is, found = npz, "a zip archive (a .npz, or a pickle of PyTorch)"
	case len(start) >= 8 && lengthOfHeader(start) <= maxSafetensorsHeader:
		is = safetensors
	}
	switch {
	case len(start) == 0:
		return failed("is empty; a %s is expected", format)
	case is != format && len(start) < 8:
		return failed("ends after %s; a %s is expected", bytesText(int64(len(start))), format)
	case is != format && format == safetensors && is == "":
		return failed("a .safetensors begins with the length of its header; %d bytes are more than"+
			" the %d that are allowed", lengthOfHeader(start), maxSafetensorsHeader)
	case is != format:
		return failed("begins like %s; a %s is expected", found, format)
	}
	return nil
}

// zipError says in words about a file what archive/zip says of a member.
func zipError(err error) error {
	if damage, ok := err.(flate.CorruptInputError); ok {
		return failed("its compressed bytes are damaged (%v)", damage)
	}
	switch err {
	case zip.ErrChecksum:
		return failed("its checksum is not that of the archive's directory")
	case zip.ErrFormat:
		return failed("the archive's directory points to what is no member")
	}
	return err
}

// systemError is an error of the operating system without the name, which Error has already.
func systemError(path string, err error) *Error {
	text := err.Error()
	switch inner := err.(type) {
	case *os.PathError:
		text = inner.Err.Error()
	case *os.LinkError:
		text = inner.Err.Error()
	}
	return &Error{File: path, Text: text, Err: err}
}
