package arrays

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collsim/formats/internal/tensor"
	"collsim/formats/npy"
	"collsim/formats/safetensors"
	"collsim/internal/input"
	"collsim/unit"
)

// Array is a tensor in a file, or to be written into one.
type Array = tensor.Array

// Error describes an error in a file, or in arrays that are to be written.
type Error = tensor.Error

// File is a file of arrays whose headers were read and checked. It is safe for concurrent use.
type File struct {
	name   string
	parts  []tensor.Part
	closer io.Closer
}

// Open reads the headers of a .npy, .npz or .safetensors and checks them against the length of the
// file. The file must be regular and, unpacked, at most limit bytes long (1 GiB if it is 0). Errors
// are *Error.
func Open(path string, limit unit.Bytes) (*File, error) {
	if _, err := formatOf(path); err != nil {
		return nil, err
	}
	f, size, err := input.Limit{Bytes: limit}.Open(path)
	if err != nil {
		return nil, systemError(path, err)
	}
	file, err := NewFile(path, f, size, limit)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	file.closer = f
	return file, nil
}

// NewFile does what Open does for size bytes behind a reader; the extension of name selects the
// format. The reader must outlive the file.
func NewFile(name string, r io.ReaderAt, size int64, limit unit.Bytes) (*File, error) {
	format, err := formatOf(name)
	if err != nil {
		return nil, err
	}
	f := &File{name: name}
	switch format {
	case tensor.NPY:
		f.parts, err = npy.Open(r, size)
	case tensor.NPZ:
		f.parts, err = npy.OpenArchive(r, size, input.Limit{Bytes: limit})
	case tensor.Safetensors:
		f.parts, err = safetensors.Open(r, size)
	}
	if err != nil {
		return nil, tensor.In(name, "", err)
	}
	return f, nil
}

// Close closes the file. Arrays that were read stay valid.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Arrays lists the arrays of the file without their elements, in the file's order (.safetensors:
// the order of the elements).
func (f *File) Arrays() []Array {
	arrays := make([]Array, len(f.parts))
	for i, p := range f.parts {
		arrays[i] = p.Array
		arrays[i].Shape = slices.Clone(p.Array.Shape)
	}
	return arrays
}

// Read returns the array Arrays()[i] with its elements. It allocates them once, and twice while it
// reorders an array in Fortran order. Compressed elements are allocated as they are unpacked.
func (f *File) Read(i int) (Array, error) {
	a := f.parts[i].Array
	var err error
	if a.Data, err = f.parts[i].Read(); err != nil {
		return Array{}, tensor.In(f.name, a.Name, err)
	}
	a.Shape = slices.Clone(a.Shape)
	return a, nil
}

// formatOf returns the format of a file by its extension.
func formatOf(name string) (string, error) {
	end := strings.ToLower(filepath.Ext(name))
	if slices.Contains([]string{tensor.NPY, tensor.NPZ, tensor.Safetensors}, end) {
		return end, nil
	}
	err := tensor.Failed("a name that ends in .npy, .npz or .safetensors is expected")
	if slices.Contains([]string{".pt", ".pth", ".pkl", ".bin"}, end) {
		err.Text += "; a pickle of PyTorch becomes one with safetensors.torch.save_file"
	}
	return "", tensor.In(name, "", err)
}

// systemError wraps an error of the operating system, without the file's name, which Error already
// has.
func systemError(path string, err error) *Error {
	text := err.Error()
	switch inner := err.(type) {
	case *os.PathError:
		text = inner.Err.Error()
	case *os.LinkError:
		text = inner.Err.Error()
	}
	if long := (*input.LongError)(nil); errors.As(err, &long) {
		text += "; " + long.Hint()
	}
	return &Error{File: path, Text: text, Err: err}
}
