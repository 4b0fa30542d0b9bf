// Command release builds collsim for every platform and packs each program with its man pages, its
// completions, LICENSE and NOTICE. The same source and the same Go give the same bytes everywhere.
//
//	go run -C tools/release . -out DIR [-tag v0.1.0] [OS/ARCH …]
//
// It refuses a tag that is not the version that the program says.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	var r release
	flag.StringVar(&r.out, "out", "", "folder for the archives")
	flag.StringVar(&r.source, "source", "../..", "folder of the repository")
	tag := flag.String("tag", "", "version that is expected: v0.1.0")
	flag.Parse()
	platforms := flag.Args()
	if len(platforms) == 0 {
		platforms = allPlatforms()
	}
	if err := r.run(*tag, platforms); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func allPlatforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}
}

// release is one run: where the source is, where archives go, the time of all files.
type release struct {
	source, out string
	at          time.Time
	version     string
	shared      []file // man pages, completions, LICENSE, NOTICE
	env         []string
}

// file is a file of an archive.
type file struct {
	name string
	text []byte
	mode int64
}

// run builds and packs, and writes SHA256SUMS.
func (r *release) run(tag string, platforms []string) error {
	if r.out == "" {
		return errors.New("-out DIR is expected")
	}
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "collsim-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if r.at, err = r.time(); err != nil {
		return err
	}
	if err := r.share(scratch); err != nil {
		return err
	}
	if tag != "" && tag != "v"+r.version {
		return fmt.Errorf("the tag is %s, the program says %s (run/load.go)", tag, r.version)
	}
	var sums strings.Builder
	for _, platform := range platforms {
		name := "collsim-" + r.version + "-" + strings.ReplaceAll(platform, "/", "-")
		program := filepath.Join(scratch, name)
		if err := r.build(platform, program); err != nil {
			return err
		}
		text, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		archive, err := r.pack(name, append([]file{{"collsim", text, 0o755}}, r.shared...))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name+".tar.gz"), archive, 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s.tar.gz\n", sha256.Sum256(archive), name)
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

// time returns SOURCE_DATE_EPOCH; without it the time of the commit, and without git 1970.
func (r *release) time() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "-C", r.source, "log", "-1", "--format=%ct").Output()
		if text = strings.TrimSpace(string(out)); err != nil {
			text = "0"
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// build compiles the program: static, without paths, the commit's state or a build's identifier.
func (r *release) build(platform, program string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("%s: OS/ARCH is expected, such as linux/arm64", platform)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "nohw",
		"-ldflags", "-s -w -buildid=", "-o", program, "./cmd/collsim")
	cmd.Dir, cmd.Stderr = r.source, os.Stderr
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOOS="+system, "GOARCH="+processor), r.env...)
	return cmd.Run()
}

// share makes the files that are the same on all platforms, by a program of this one.
func (r *release) share(scratch string) error {
	program := filepath.Join(scratch, "native")
	if err := r.build(runtime.GOOS+"/"+runtime.GOARCH, program); err != nil {
		return err
	}
	said, err := exec.Command(program, "version").Output()
	if err != nil {
		return err
	}
	r.version = strings.TrimPrefix(strings.TrimSpace(string(said)), "collsim ")
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "NOTICE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{name, text, 0o644})
	}
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		text, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{"completions/collsim." + shell, text, 0o644})
	}
	pages := filepath.Join(scratch, "man")
	if err := exec.Command(program, "man", pages).Run(); err != nil {
		return fmt.Errorf("collsim man: %w", err)
	}
	return fs.WalkDir(os.DirFS(pages), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(pages, name))
		r.shared = append(r.shared, file{"man/man1/" + name, text, 0o644})
		return err
	})
}

// pack makes a .tar.gz in which all that depends on the machine is left out: owners, times, the name
// and the system of gzip's header.
func (r *release) pack(folder string, files []file) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name,
			Size: int64(len(f.text)), Mode: f.mode, ModTime: r.at, Format: tar.FormatUSTAR})
		if err != nil {
			return nil, err
		}
		if _, err := t.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
