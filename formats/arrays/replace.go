package arrays

import (
	"io"

	"collsim/internal/output"
)

// replace puts a file in its place when it is complete: nobody sees half of it.
func replace(path string, write func(io.Writer) error) error {
	if err := output.Write(path, write); err != nil {
		e := systemError(path, err)
		e.Text = "cannot be written: " + e.Text
		return e
	}
	return nil
}
