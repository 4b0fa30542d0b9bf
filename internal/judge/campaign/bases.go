package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/input"
	"collsim/internal/judge"
)

// A base is a schedule from which others are made.
type base struct {
	name, text string
	plan       *judge.Plan
}

// Bounds of a schedule: a larger one is neither a base nor judged.
const (
	mostElements = 3000
	mostSteps    = 1200
)

// fits reports whether a plan is small enough.
func fits(p *judge.Plan) bool {
	elements, steps := p.Size()
	return elements <= mostElements && steps <= mostSteps && p.Slices <= 16
}

// A collection holds all bases: the schedules of algorithms, and those of scripts, which include
// puts, gets and multimem.
type collection struct{ algorithms, scripts []base }

// collect makes the bases of up to so many ranks; root is the directory of the module.
func collect(root string, ranks int) (*collection, error) {
	c := &collection{}
	var err error
	add := func(list *[]base, name, text string) {
		p, readErr := judge.Read(text)
		switch {
		case errors.Is(readErr, judge.ErrLarge):
		case readErr != nil && !strings.HasPrefix(name, "wrong.txt"):
			err = errors.Join(err, fmt.Errorf("%s: %w", name, readErr))
		case readErr == nil && p.Problem.Ranks <= ranks && fits(p):
			*list = append(*list, base{name, text, p})
		}
	}
	algorithms(ranks, func(name, text string) { add(&c.algorithms, name, text) })
	for _, from := range []struct{ files, command string }{
		{"schedule/testdata/*.txt", "schedule"}, {"internal/judge/testdata/*.txt", "judge"},
	} {
		names, _ := filepath.Glob(filepath.Join(root, from.files))
		if len(names) == 0 {
			return nil, fmt.Errorf("no %s below %q: it must be the directory of the module",
				from.files, root)
		}
		for _, name := range names {
			script, readErr := input.Limit{}.File(name)
			if readErr != nil {
				return nil, readErr
			}
			for i, text := range inputs(string(script), from.command) {
				add(&c.scripts, fmt.Sprintf("%s#%d", filepath.Base(name), i), text)
			}
		}
	}
	return c, err
}

// inputs lists the inputs of a command of a script.
func inputs(script, command string) (list []string) {
	for _, part := range strings.Split("\n"+script, "\n"+command+"\n")[1:] {
		text, _, _ := strings.Cut(part, "\n----")
		list = append(list, text+"\n")
	}
	return list
}

// algorithms builds every algorithm's schedules in several variants.
func algorithms(ranks int, add func(name, text string)) {
	for _, a := range algos.Table() {
		for _, kind := range collective.Kinds() {
			for n := 2; n <= ranks && a.Does(kind); n++ {
				for v := range variants {
					if kind == collective.Barrier && v > 0 {
						break
					}
					s, err := a.Build(variant(kind, n, v))
					if err == nil {
						add(fmt.Sprintf("%v/%s/%d/%d", kind, a.Name, n, v), s.String())
					}
				}
			}
		}
	}
}

const variants = 9

// variant returns a collective and its build options. Variants cover divisible and other counts,
// means of both kinds, in place, roots, channels and slices.
func variant(kind collective.Kind, ranks, v int) (collective.Spec, algos.Options) {
	spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks,
		Count: int64([variants]int{ranks, ranks + 1, 3, 2 * ranks, 4, 4, 4, 5, 3}[v])}
	if kind.Reduces() {
		spec.Op = [variants]collective.Op{5: collective.Avg, 6: collective.Avg,
			8: collective.PremulSum}[v]
		spec.Op = max(spec.Op, collective.Sum)
		if spec.Op == collective.PremulSum {
			spec.Factor = 2
		}
		if v == 6 {
			spec.Type = dtype.Int32
		}
	}
	if kind == collective.Barrier {
		spec.Type, spec.Count = 0, 0
	}
	if kind.Splits() {
		spec.Count = 0
		rows := 1
		if kind == collective.AllToAllV {
			rows = ranks
		}
		for r := range rows {
			row := make([]int64, ranks)
			for c := range row {
				row[c] = int64((2*r + c*v + 1) % 3)
			}
			spec.Splits = append(spec.Splits, row)
		}
	}
	if kind.Rooted() && v%2 == 1 {
		spec.Root = ranks - 1
	}
	spec.InPlace = v%3 == 1 && kind != collective.AllToAllV && kind != collective.Barrier
	options := algos.Options{}
	if v == 3 {
		options.Channels = 2
	}
	if v == 4 || v == 7 {
		options.Slices = 2
	}
	return spec, options
}
