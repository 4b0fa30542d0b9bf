package npy

import (
	"archive/zip"
	"io"
	"time"

	"collsim/formats/internal/tensor"
)

// Write writes an array that was checked.
func Write(w io.Writer, a *tensor.Array) error {
	if _, err := w.Write(text(a)); err != nil {
		return err
	}
	_, err := w.Write(a.Data)
	return err
}

// WriteArchive stores members: what deflate makes of them depends on its version. Their time is the
// first that zip can express, as in NumPy.
func WriteArchive(w io.Writer, arrays []tensor.Array) error {
	archive := zip.NewWriter(w)
	for i := range arrays {
		member, err := archive.CreateHeader(&zip.FileHeader{
			Name:     arrays[i].Name + tensor.NPY,
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
