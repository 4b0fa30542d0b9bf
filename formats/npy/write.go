package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"time"

	"collsim/formats/internal/tensor"
)

// Write writes an array that was checked.
func Write(w io.Writer, a *tensor.Array) error { return write(w, a, false) }

// WriteMarked is Write, but that the blanks at the end of the header bring the elements to byte
// MarkedAt where they would begin sooner: the one place in a .npy for a mark that no reader
// stumbles over. Others pad to the next multiple of 64, or a few blanks more.
func WriteMarked(w io.Writer, a *tensor.Array) error { return write(w, a, true) }

// MarkedAt is where the elements of a marked .npy begin.
const MarkedAt = 704

// Marked reports whether a file that begins so is a .npy that was marked.
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

// leastBlanks is more than anybody else pads a header with.
const leastBlanks = 128

func write(w io.Writer, a *tensor.Array, marked bool) error {
	if _, err := w.Write(text(a, marked)); err != nil {
		return err
	}
	_, err := w.Write(a.Data)
	return err
}

// WriteArchive stores members: what deflate makes of them depends on its version. Their time is the
// first that zip can express, as in NumPy. A comment is that of each of them in the archive's list.
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
