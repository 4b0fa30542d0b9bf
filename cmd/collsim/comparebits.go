package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"collsim/formats/arrays"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

// bitsName names the outputs of a result by what results of both scenarios have in common, which is
// all but the algorithm.
const bitsName = "{kind}-{bytes}-{dtype}-{op}-{ranks}.safetensors"

// bitwise compares bits, unless flags ask for what only times have.
func (o *compareFlags) bitwise(ctx context.Context, a *app, args []string) (err error) {
	for _, one := range []struct{ flag, value string }{{"--fail-above", o.failAbove},
		{"--curves", o.curves}, {"--report", o.report}} {
		if one.value != "" {
			return &usageError{Text: one.flag + " is for times, not for --bits"}
		}
	}
	if o.load.With, err = a.readWith(o.with); err != nil {
		return err
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	return o.compareBits(ctx, a, args)
}

// compareBits computes the results of two scenarios, and compares the outputs of every rank bit by
// bit. A may also be a file of outputs.
func (o *compareFlags) compareBits(ctx context.Context, a *app, args []string) error {
	theirs, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	has := map[string]bool{}
	if isScenario(args[0]) {
		dir, err := os.MkdirTemp("", "collsim-bits-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // what stays is the system's to clear
		theirs = filepath.Join(dir, bitsName)
		if has, err = o.writeBits(ctx, a, args[0], theirs); err != nil {
			return err
		}
	}
	s, err := o.loadBits(a, args[1], "compare", theirs, has)
	if err != nil {
		return err
	}
	exact := false
	for _, p := range s.Points {
		exact = exact || p.Check.Data == scenarios.ExactData
	}
	if exact {
		o.note(a, "check.data is exact: every order of additions gives the same bits; --set "+
			`'check.data="normal"' shows those of rounding`)
	}
	p := a.newProgress("results of B", idsOf(s), o.quiet)
	ran, err := s.Run(ctx, run.RunOptions{Done: func(r *run.Result) {
		if r.Comparison != nil {
			r.Comparison.File = args[0]
		}
		p.step()
	}})
	p.end()
	if err != nil {
		return err
	}
	if o.json {
		text, err := report.JSON(ran)
		if err != nil {
			return err
		}
		a.printJSON(a.out, text)
	} else {
		a.print(a.out, report.BitsText(args[0], ran))
	}
	if !ran.Good() {
		return errFailed
	}
	return nil
}

// isScenario reports whether an argument is a scenario, rather than a file of times or outputs.
func isScenario(name string) bool {
	return name == "-" || strings.HasPrefix(name, "example:") || filepath.Ext(name) == ".toml"
}

// loadBits loads a scenario whose collectives write their outputs to a file of a pattern, or
// compare them with it. It refuses points whose file is not among those that there are, if any are.
func (o *compareFlags) loadBits(a *app, name, key, pattern string, has map[string]bool) (
	*run.Scenario, error) {
	load := o.load
	load.Set = append(load.Set[:len(load.Set):len(load.Set)], "check.numbers=true")
	if len(has) > 0 { // before a file that is missing is looked for
		list, err := a.loadAll([]string{name}, load)
		if err != nil {
			return nil, err
		}
		for _, p := range list[0].Points {
			if !has[p.FileName(pattern)] {
				return nil, &usageError{File: name, Text: fmt.Sprintf("%s: the other scenario has no %v "+
					"of %v and %v", p.ID, p.Spec.Kind, p.Spec.Bytes(), p.Spec.Type)}
			}
		}
	}
	load.Set = append(load.Set, "collective."+key+"="+strconv.Quote(pattern))
	list, err := a.loadAll([]string{name}, load)
	if err != nil {
		return nil, err
	}
	if len(list[0].Points) == 0 {
		return nil, &usageError{File: name, Text: "there is no collective, whose bits could be compared"}
	}
	return list[0], nil
}

// writeBits runs a scenario and writes the outputs of its results. It returns the files' names.
func (o *compareFlags) writeBits(ctx context.Context, a *app, name, pattern string) (
	map[string]bool, error) {
	s, err := o.loadBits(a, name, "output", pattern, nil)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, p := range s.Points {
		file := p.FileName(pattern)
		if has[file] {
			return nil, &usageError{File: name, Text: fmt.Sprintf("%s is not the only %v of its size and "+
				"type", p.ID, p.Spec.Kind), Hint: "--only chooses one for both; or write a scenario for it"}
		}
		has[file] = true
	}
	p := a.newProgress("results of A", idsOf(s), o.quiet)
	var lost error
	ran, err := s.Run(ctx, run.RunOptions{Done: func(r *run.Result) {
		if r.Outputs != nil && lost == nil {
			lost = arrays.WriteRanks(r.Point.FileName(pattern), r.Outputs)
		}
		r.Outputs = nil
		p.step()
	}})
	p.end()
	switch {
	case err != nil:
		return nil, err
	case lost != nil:
		return nil, lost
	case !ran.Good():
		return nil, &usageError{File: name, Text: "a check failed: there is nothing to compare with"}
	}
	return has, nil
}
