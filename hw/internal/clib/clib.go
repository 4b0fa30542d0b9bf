// Package clib compiles the C libraries that tests load. A library is compiled once for all test
// binaries, and again when its sources, its options or the compiler change.
package clib

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"collsim/internal/input"
	"collsim/internal/output"
)

// unused is the time after which an unused library is removed.
const unused = 30 * 24 * time.Hour

// Build returns the path of a shared library of C files, in a folder of the user's cache
// (os.UserCacheDir) or else of temporary files. It compiles the files that end in ".c"; others are
// their headers. The contents of all identify the library. Options are the compiler's, linked
// libraries ("-lm") last. Concurrent callers each compile the library, and the last one's stays. It
// fails without a C compiler.
func Build(files []string, options ...string) (string, error) {
	version, err := exec.Command("cc", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("a C compiler: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s%q", version, options)
	var sources []string
	for _, file := range files {
		text, err := input.Limit{}.File(file)
		if err != nil {
			return "", fmt.Errorf("a C library: %w", err)
		}
		fmt.Fprintf(hash, "%q%x", filepath.Base(file), sha256.Sum256(text))
		if strings.HasSuffix(file, ".c") {
			sources = append(sources, file)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	root := filepath.Join(cache, "collsim-tests")
	folder := filepath.Join(root, fmt.Sprintf("%x", hash.Sum(nil)[:16]))
	path := filepath.Join(folder, "library.so")
	if _, err := os.Stat(path); err == nil {
		now := time.Now()
		os.Chtimes(folder, now, now) // marks it as used; if this fails it may be compiled again
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("a folder for C libraries: %w", err)
	}
	forget(root)
	return path, compile(path, sources, options)
}

// compile compiles a library in a temporary folder, and then installs it atomically.
func compile(path string, sources, options []string) error {
	folder, err := os.MkdirTemp("", "collsim-clib")
	if err != nil {
		return fmt.Errorf("a C library: %w", err)
	}
	defer os.RemoveAll(folder)
	made := filepath.Join(folder, "library.so")
	arguments := append([]string{"-shared", "-fPIC", "-o", made}, sources...)
	if out, err := exec.Command("cc", append(arguments, options...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("cc: %w: %s", err, bytes.TrimSpace(out))
	}
	library, err := input.Limit{}.File(made)
	if err != nil {
		return fmt.Errorf("a C library: %w", err)
	}
	return output.Bytes(path, library)
}

// forget removes libraries that have not been used for long.
func forget(root string) {
	folders, _ := os.ReadDir(root)
	for _, one := range folders {
		if about, err := one.Info(); err == nil && time.Since(about.ModTime()) > unused {
			os.RemoveAll(filepath.Join(root, one.Name()))
		}
	}
}
