package system

import "fmt"

// Error describes an error in a file, and its place.
type Error struct {
	File string
	Line int // 0 if it concerns the whole file
	Text string
}

// Errorf returns an Error. Line 0 stands for the whole file.
func Errorf(file string, line int, format string, args ...any) *Error {
	return &Error{file, line, fmt.Sprintf(format, args...)}
}

// Error returns file, line and text.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Within returns line and text, for callers that have named the file.
func (e *Error) Within() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text)
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
