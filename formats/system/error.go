package system

import (
	"fmt"

	"collsim/internal/diag"
)

// Error describes an error in a file, and its place.
type Error = diag.Problem

// Errorf returns an Error. Line 0 stands for the whole file.
func Errorf(file string, line int, format string, args ...any) *Error {
	return &Error{File: file, Line: line, Text: fmt.Sprintf(format, args...)}
}

// BaseName returns the name of a file without its folders and extension, which names its machine.
func BaseName(file string) string {
	for i := len(file) - 1; i >= 0; i-- {
		if file[i] == '/' || file[i] == '\\' {
			file = file[i+1:]
			break
		}
	}
	for i := len(file) - 1; i > 0; i-- {
		if file[i] == '.' {
			return file[:i]
		}
	}
	return file
}
