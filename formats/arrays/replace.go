package arrays

import (
	"io"

	"collsim/internal/output"
)

// replace writes a file under a temporary name and renames it when it is complete, so that no
// reader sees half of it.
func replace(path string, write func(io.Writer) error) error {
	if err := output.Write(path, write); err != nil {
		e := systemError(path, err)
		e.Text = "cannot be written: " + e.Text
		return e
	}
	return nil
}
