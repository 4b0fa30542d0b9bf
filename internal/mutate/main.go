// Command mutate changes one place of a package at a time, runs tests, and reports which changes
// they detect. It draws from all changes of one operator, constant, condition or statement; the
// seed determines the choice. A change that does not build is replaced by another. A timeout counts
// as detected. It does not change the working tree.
//
//	go run ./internal/mutate -n 20 -seed 1 ./sim/model ./report
//	go run ./internal/mutate -n 20 -tests ./sim/... ./sim/model
//	go run ./internal/mutate -at grid.go:139 ./sim/model
//
// A change that survives shows a rule without a test, or has no effect.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
}

// options holds the command's flags.
type options struct {
	n              int
	seed           uint64
	tests, at, max string
}

// run parses the flags, and mutates the packages.
func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.IntVar(&o.n, "n", 10, "how many changes of each package")
	flags.Uint64Var(&o.seed, "seed", 1, "of what is drawn")
	flags.StringVar(&o.tests, "tests", "", "packages whose tests are run; the changed one's if empty")
	flags.StringVar(&o.at, "at", "", "all changes of this line, such as grid.go:139, in place of some")
	flags.StringVar(&o.max, "timeout", "120s", "of the tests of one change")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("packages are expected, such as ./sim/model")
	}
	for _, name := range flags.Args() {
		if err := o.mutate(ctx, name, out); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// A pkg is a package as go list describes it.
type pkg struct {
	Dir        string
	ImportPath string
	GoFiles    []string
}

// mutate tries changes of a package and prints the verdict on each.
func (o *options) mutate(ctx context.Context, name string, out io.Writer) error {
	text, err := exec.CommandContext(ctx, "go", "list", "-json=Dir,ImportPath,GoFiles", name).Output()
	if err != nil {
		return errors.New("go list does not know it")
	}
	var p pkg
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	list, err := o.draw(&p)
	if err != nil {
		return err
	}
	tests := strings.Fields(o.tests)
	if len(tests) == 0 {
		tests = []string{p.ImportPath}
	}
	if is, err := o.try(ctx, &p, nil, tests); err != nil || is != survived {
		return fmt.Errorf("its tests fail without a change: %v", err)
	}
	tried, noticed := 0, 0
	for _, m := range list {
		if o.at == "" && tried == o.n {
			break
		}
		is, err := o.try(ctx, &p, &m, tests)
		if err != nil {
			return err
		}
		if is == broken {
			continue
		}
		if tried++; is == killed {
			noticed++
		}
		fmt.Fprintf(out, "%-8s %s/%v\n", is, p.ImportPath, m)
	}
	fmt.Fprintf(out, "%s: %d of %d killed\n", p.ImportPath, noticed, tried)
	return nil
}

// draw lists the changes of a package in the order of trial.
func (o *options) draw(p *pkg) (list []mutant, err error) {
	for _, file := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return nil, err
		}
		mutants, err := mutantsOf(file, text)
		if err != nil {
			return nil, err
		}
		for _, m := range mutants {
			if o.at == "" || o.at == fmt.Sprintf("%s:%d", m.file, m.line) {
				list = append(list, m)
			}
		}
	}
	if o.at == "" {
		rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(list), func(i, k int) {
			list[i], list[k] = list[k], list[i]
		})
	}
	return list, nil
}

// A verdict is the result of a change.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "survived"
	broken   verdict = "broken" // does not build
)

// try runs tests with a change, which an overlay applies for the compiler, or without one.
func (o *options) try(ctx context.Context, p *pkg, m *mutant, tests []string) (verdict, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	args := []string{"-vet=off"}
	if m != nil {
		file := filepath.Join(p.Dir, m.file)
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		changed, overlay := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
		places, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
		if err != nil {
			return "", err
		}
		if err := errors.Join(os.WriteFile(changed, m.apply(text), 0o600),
			os.WriteFile(overlay, places, 0o600)); err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
		build := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, "-overlay", overlay,
			p.ImportPath)
		if build.Run() != nil {
			return broken, context.Cause(ctx)
		}
	}
	args = append(append([]string{"test", "-failfast", "-timeout", o.max}, args...), tests...)
	test := exec.CommandContext(ctx, "go", args...)
	var said bytes.Buffer
	test.Stdout, test.Stderr = &said, &said
	switch err := test.Run(); {
	case context.Cause(ctx) != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return killed, nil
	}
	return survived, nil
}
