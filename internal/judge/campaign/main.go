// Command campaign compares the proof of package proof with the independent judge of package judge
// on many schedules. They are those of all algorithms with some changes, and random ones. It prints
// every schedule on which they disagree, as small as possible, and exits with 1 if there is one.
//
//	go run ./internal/judge/campaign -n 1000000 -seed 1
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"collsim/internal/output"
)

func main() {
	c := contest{calls: []int{1, 2}}
	n := flag.Int("n", 20000, "how many schedules are judged")
	flag.Uint64Var(&c.seed, "seed", 1, "of all chance; schedule i of a seed is always the same")
	first := flag.Int("first", 0, "the number of the first schedule")
	flag.BoolVar(&c.rendezvous, "rendezvous", false, "every send waits for its receive")
	calls := flag.Int("iterations", 0, "calls one after another; 0: both one and two")
	flag.IntVar(&c.states, "states", 3000, "that an exploration looks at before it is given up")
	flag.IntVar(&c.every, "explore", 6, "one of so many is explored, if it is right; 0: none")
	ranks := flag.Int("ranks", 4, "of the largest schedule of an algorithm")
	root := flag.String("root", ".", "the directory of the module")
	out := flag.String("out", "", "a directory for the schedules on which they disagree")
	most := flag.Int("most", 20, "disagreements of a kind that are told")
	flag.Parse()
	if *calls > 0 {
		c.calls = []int{*calls}
	}
	list, err := collect(*root, *ranks)
	if err != nil || flag.NArg() > 0 || *n < 1 {
		fmt.Fprintln(os.Stderr, "campaign:", err, flag.Args())
		os.Exit(2)
	}
	c.bases = list
	t := reporter{contest: &c, out: *out, most: *most, reported: map[string]int{}}
	sum := c.run(*first, *n, func(done int, r *result) {
		if r.why != "" {
			t.report(r)
		}
		if done%10000 == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", done, *n)
		}
	})
	fmt.Println(sum)
	if sum.disagree > 0 {
		os.Exit(1)
	}
}

// A reporter prints disagreements, up to a number of each kind.
type reporter struct {
	*contest
	out      string
	most     int
	reported map[string]int
}

// report prints a disagreement, and writes it to a file.
func (t *reporter) report(r *result) {
	if t.reported[r.kind]++; t.reported[r.kind] > t.most {
		return
	}
	text := fmt.Sprintf("# %d of seed %d: %s\n# %s (proof/judge)\n# %s\n%s", r.index, t.seed, r.made,
		r.kind, strings.ReplaceAll(r.why, "\n", "\n# "), t.shrink(r))
	fmt.Println(text)
	if t.out == "" {
		return
	}
	kind := strings.Map(func(c rune) rune {
		if strings.ContainsRune(" /,", c) {
			return '-'
		}
		return c
	}, r.kind)
	name := filepath.Join(t.out, fmt.Sprintf("%s_%d_%d.schedule", kind, t.seed, r.index))
	err := os.MkdirAll(t.out, 0o777)
	if err == nil {
		err = output.Bytes(name, []byte(text))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(2)
	}
}
