package system

import "fmt"

// Error says what is wrong with a file, and where.
type Error struct {
	File string
	Line int // 0 if it is about the whole file
	Text string
}

// Errorf returns an Error. The line is 0 if it is about the whole file.
func Errorf(file string, line int, format string, args ...any) *Error {
	return &Error{file, line, fmt.Sprintf(format, args...)}
}

// Error names file, line and what is wrong.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Within says where in the file what is wrong, for those who have named it.
func (e *Error) Within() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text)
}

// BaseName returns the name of a file without its folders and extension: that of its machine.
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
