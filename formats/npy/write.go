package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"time"

	"collsim/formats/internal/tensor"
)

// Write writes a checked array.
func Write(w io.Writer, a *tensor.Array) error { return write(w, a, false) }

// WriteMarked does what Write does, and pads the header with blanks so that the elements begin at
// byte MarkedAt at least. This is the one mark in a .npy that no reader objects to: other writers
// pad to the next multiple of 64, or a few blanks more.
func WriteMarked(w io.Writer, a *tensor.Array) error { return write(w, a, true) }

// MarkedAt is the offset of the elements of a marked .npy.
const MarkedAt = 704

// Marked reports whether a file with this beginning is a marked .npy.
func Marked(head []byte) bool {
	if len(head) < MarkedAt || !bytes.HasPrefix(head, []byte(tensor.MagicNPY+"\x01\x00")) {
		return false
	}
	const before = len(tensor.MagicNPY) + 4
	length := int(binary.LittleEndian.Uint16(head[before-2:]))
	text := bytes.TrimSuffix(head[before:MarkedAt], []byte("\n"))
	blanks := len(text) - len(bytes.TrimRight(text, " "))
	return before+length == MarkedAt && head[MarkedAt-1] == '\n' && blanks >= leastBlanks
}

// leastBlanks is more than any other writer pads a header with.
const leastBlanks = 128

func write(w io.Writer, a *tensor.Array, marked bool) error {
	if _, err := w.Write(text(a, marked)); err != nil {
		return err
	}
	_, err := w.Write(a.Data)
	return err
}

// WriteArchive writes arrays as stored members, since the output of deflate depends on its version.
// Their time is the first that zip can express, as in NumPy. comment is attached to each of them in
// the archive's directory.
func WriteArchive(w io.Writer, arrays []tensor.Array, comment string) error {
	archive := zip.NewWriter(w)
	for i := range arrays {
		member, err := archive.CreateHeader(&zip.FileHeader{
			Name:     arrays[i].Name + tensor.NPY,
			Comment:  comment,
			Method:   zip.Store,
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			return err
		}
		if err := Write(member, &arrays[i]); err != nil {
			return err
		}
	}
	return archive.Close()
}
