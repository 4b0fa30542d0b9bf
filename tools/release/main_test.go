package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReproducible: two builds from two folders give the same bytes. Of the long tier, the second
// shares no cache with the first, and all platforms are built.
func TestReproducible(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "elsewhere")
	if err := copySource(source, copied); err != nil {
		t.Fatal(err)
	}
	first := release{source: source, out: t.TempDir()}
	second := release{source: copied, out: t.TempDir()}
	platforms := []string{"linux/amd64"}
	if long {
		platforms = allPlatforms()
		second.env = []string{"GOCACHE=" + t.TempDir()}
	}
	for _, r := range []*release{&first, &second} {
		if err := r.run("", platforms); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(first.out)
	if err != nil || len(files) != len(platforms)+1 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		a, err := os.ReadFile(filepath.Join(first.out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second.out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs from build to build", f.Name())
		}
	}
}

// TestTag: a tag that is not the program's version is refused.
func TestTag(t *testing.T) {
	r := release{source: "../..", out: t.TempDir()}
	if err := r.run("v9.9.9", nil); err == nil {
		t.Fatal("v9.9.9 is not the version")
	}
}

// copySource copies what git has of the repository.
func copySource(from, to string) error {
	list, err := exec.Command("git", "-C", from, "ls-files", "-z", "--cached", "--others",
		"--exclude-standard").Output()
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
