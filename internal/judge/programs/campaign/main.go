// Command campaign lowers many random programs with random passes, and compares them with an
// independent judge of programs. The proof must hold, the numbers must be exact, and every result
// on every rank must have the judge's values. It prints every program that fails, as small as
// possible, and exits with 1 if there is one.
//
//	go run ./internal/judge/programs/campaign -n 100000 -seed 1
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"collsim/internal/output"
)

func main() {
	c := contest{}
	n := flag.Int("n", 5000, "how many lowerings are judged")
	flag.Uint64Var(&c.seed, "seed", 1, "of all chance; program i of a seed is always the same")
	first := flag.Int("first", 0, "the number of the first program")
	flag.IntVar(&c.each, "each", 4, "lowerings of a program; the first is without passes")
	flag.IntVar(&c.every, "public", 20, "one of so many programs is carried out as the command "+
		"does, all others are lowered without a simulation; 0: none")
	out := flag.String("out", "", "a directory for the programs that fail")
	most := flag.Int("most", 5, "failures of a kind that are told")
	refusals := flag.Bool("refusals", false, "tell why programs are refused")
	flag.Parse()
	if flag.NArg() > 0 || *n < 1 || c.each < 1 {
		flag.Usage()
		os.Exit(2)
	}
	debug.SetGCPercent(-1) // many small short-lived objects
	debug.SetMemoryLimit(512 << 20)
	t := reporter{seed: c.seed, out: *out, most: *most, reported: map[string]int{}}
	next := 0
	sum := c.run(*first, *n, func(done int, r *result) {
		for i := range r.failures {
			t.report(r.index, &r.failures[i])
		}
		if done >= next {
			fmt.Fprintf(os.Stderr, "%d of %d lowerings\n", done, *n)
			next = done + max(*n/100, 100)
		}
	})
	fmt.Println(sum)
	if *refusals {
		fmt.Print(lines("refused", sum.reasons), "\n")
	}
	if sum.broken > 0 {
		os.Exit(1)
	}
}

// A reporter prints failures, up to a number of each kind.
type reporter struct {
	seed     uint64
	out      string
	most     int
	reported map[string]int
}

// report prints a failure, and writes it to a file.
func (t *reporter) report(index int, f *failure) {
	if t.reported[f.kind]++; t.reported[f.kind] > t.most {
		return
	}
	small := f.shrink()
	text := fmt.Sprintf("# %d of seed %d: %s\n# %s\n%s", index, t.seed, f.kind,
		strings.ReplaceAll(small.why, "\n", "\n# "), small.program.text())
	fmt.Println(text)
	if t.out == "" {
		return
	}
	name := fmt.Sprintf("%s_%d_%d.toml", strings.ReplaceAll(f.kind, " ", "_"), t.seed, index)
	err := os.MkdirAll(t.out, 0o777)
	if err == nil {
		err = output.Bytes(filepath.Join(t.out, name), []byte(text))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(2)
	}
}
