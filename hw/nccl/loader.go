package nccl

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"collsim/hw"
)

// The environment variables that name the library files.
const (
	ncclVariable   = "COLLSIM_LIBNCCL"
	driverVariable = "COLLSIM_LIBCUDA"
)

// A loaded is a library with its functions.
type loaded struct {
	name      string
	handle    uintptr
	functions map[string]uintptr
}

// A wanted describes a library to load.
type wanted struct {
	what, variable string
	files          []string // file names to try
	functions      []string
	get            string
}

// load loads a library and looks up its functions.
func (w *wanted) load(configured string) (*loaded, error) {
	if !loads {
		return nil, &hw.Missing{What: w.what, Why: "this program loads no libraries: it was built for " +
			runtime.GOOS + "/" + runtime.GOARCH + ", or with the tag nohw",
			Get: "take one that was built without the tag, for linux/amd64 or linux/arm64"}
	}
	files := w.files
	for _, name := range []string{os.Getenv(w.variable), configured} {
		if name != "" {
			files = []string{name}
		}
	}
	l := &loaded{functions: map[string]uintptr{}}
	var tried []string
	for _, name := range files {
		handle, err := open(name)
		if err == nil {
			l.name, l.handle = name, handle
			break
		}
		tried = append(tried, err.Error())
	}
	if l.handle == 0 {
		where := "where the system's loader looks"
		if path := os.Getenv("LD_LIBRARY_PATH"); path != "" {
			where += " and in LD_LIBRARY_PATH, " + path
		}
		return nil, &hw.Missing{What: w.what, Why: strings.Join(tried, "; "),
			Get: fmt.Sprintf("looked for %s, %s; %s, or name the file by %s",
				strings.Join(files, " and "), where, w.get, w.variable)}
	}
	for _, name := range w.functions {
		at, err := symbol(l.handle, name)
		if err != nil {
			return nil, &hw.Missing{What: w.what, Why: err.Error(), Get: w.get}
		}
		l.functions[name] = at
	}
	return l, nil
}

// has reports whether the library has an optional function, and looks it up.
func (l *loaded) has(name string) bool {
	if l.functions[name] == 0 {
		at, err := symbol(l.handle, name)
		if err != nil {
			return false
		}
		l.functions[name] = at
	}
	return true
}

// code calls a function that returns a result code.
func (l *loaded) code(name string, args ...uintptr) int32 {
	return int32(invoke(l.functions[name], args...))
}

// text calls a function that returns a C string.
func (l *loaded) text(name string, args ...uintptr) string {
	return textAt(invoke(l.functions[name], args...))
}

// address returns the address of a variable. REQUIRES: the variable is on the heap.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// maxText bounds C strings, in bytes.
const maxText = 4096

// textAt copies the C string at an address; "" for address 0.
func textAt(at uintptr) string {
	if at == 0 {
		return ""
	}
	first := *(**byte)(unsafe.Pointer(&at)) // memory of C, unknown to the garbage collector
	n := 0
	for n < maxText && *(*byte)(unsafe.Add(unsafe.Pointer(first), n)) != 0 {
		n++
	}
	return hw.Printable(string(slices.Clone(unsafe.Slice(first, n))))
}
