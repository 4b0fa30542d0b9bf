package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
)

// verifyFlags are the flags of verify.
type verifyFlags struct {
	fileFlags
	json, quiet       bool
	with              []string
	slots, iterations int
	rendezvous        bool
}

func (a *app) verifyCommand() *cobra.Command {
	o := &verifyFlags{}
	cmd := &cobra.Command{
		Use:   "verify FILE|example:NAME|- …",
		Short: "prove schedules: every input once, no deadlock, no race",
		Long: "Verify proves a schedule in any format (collsim list formats, docs/schedules.md), or " +
			"the schedules of all points of a scenario, without a network. What is wrong is told with " +
			"its line in the file. It exits with 1 if one is wrong.",
		Example: "  collsim verify mine.xml\n" +
			"  collsim verify mine.xml --as all_gather --bytes '1 MiB' --protocol LL\n" +
			"  collsim verify example:compare --json",
		ValidArgsFunction: completeSchedules,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{Text: "a schedule or a scenario is expected",
					Hint: "for example: collsim verify example:ring"}
			}
			return a.verify(cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on standard error")
	registerWith(f, &o.with)
	f.IntVar(&o.slots, "slots", -1, "messages that a connection holds; 0 is as many as needed (a "+
		"file or a scenario has its own; what .schedule files declare stands)")
	f.Lookup("slots").DefValue = ""
	f.BoolVar(&o.rendezvous, "rendezvous", false, "have every send wait for its receive")
	f.IntVar(&o.iterations, "iterations", 0, "how often the program is run without a barrier (of "+
		"other formats once; of ours twice if it reaches into other ranks' buffers)")
	f.Lookup("iterations").DefValue = "0"
	o.register(f)
	return cmd
}

// check refuses values that mean nothing.
func (o *verifyFlags) check() error {
	switch {
	case o.flags.Changed("slots") && o.slots < 0:
		return &usageError{Text: fmt.Sprintf("--slots %d: 0 or more is expected; 0 is as many as needed",
			o.slots)}
	case o.flags.Changed("iterations") && (o.iterations < 1 || o.iterations > 16):
		return &usageError{Text: fmt.Sprintf("--iterations %d: 1 to 16 is expected", o.iterations)}
	}
	return nil
}

// verify proves all that the arguments name: what there is time for, if it is interrupted.
func (a *app) verify(ctx context.Context, names []string, o *verifyFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	var of []proving
	for _, name := range names {
		some, err := a.toVerify(name, o)
		if err != nil {
			return err
		}
		of = append(of, some...)
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	var ids []string
	for _, one := range of {
		ids = append(ids, one.name)
	}
	p := a.newProgress("proofs", ids, o.quiet)
	found, interrupted := inTurn(ctx, p, func(i int) ([]*run.Verification, error) {
		return of[i].prove()
	})
	if interrupted != nil && !isInterrupted(interrupted) {
		return interrupted
	}
	list := slices.Concat(found...)
	good := true
	var b bytes.Buffer
	for _, v := range list {
		good = good && v.Good()
		b.WriteString(report.VerificationText(v))
	}
	if o.json {
		text, err := report.VerificationJSON(list...)
		if err != nil {
			return err
		}
		b = *bytes.NewBuffer(text)
	}
	a.printEither(b.Bytes(), o.json)
	switch {
	case interrupted != nil:
		return interrupted
	case !good:
		return errFailed
	}
	return nil
}

// proving is a proof that has been read, and may take a while.
type proving struct {
	name  string
	prove func() ([]*run.Verification, error)
}

// toVerify reads a schedule, or a scenario with those of its points.
func (a *app) toVerify(name string, o *verifyFlags) (list []proving, err error) {
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	in, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.close() }() // it was read only
	if in.isSchedule() {
		if len(o.with) > 0 {
			return nil, &usageError{File: name, Text: "--with is for scenarios; this is a schedule"}
		}
		f, err := in.readSchedule(options)
		if err != nil {
			return nil, err
		}
		how := run.VerifyOptions{Rendezvous: o.rendezvous, Iterations: o.iterations}
		if how.Slots = max(o.slots, 0); o.slots == 0 {
			how.Slots = -1
		}
		return []proving{{name, func() ([]*run.Verification, error) {
			if err := run.ProofFits(f.Schedule, freeMemory()); err != nil {
				return nil, &usageError{File: name, Text: err.Error()}
			}
			return []*run.Verification{run.VerifyFile(name, f, how)}, nil
		}}}, nil
	}
	for _, flag := range []string{o.given(), changed(o.flags, "rendezvous", "iterations")} {
		if flag != "" {
			return nil, &usageError{File: name, Text: "--" + flag + " is for a schedule from a file; " +
				"this is a scenario, which says so itself"}
		}
	}
	text, err := in.limit.All(in)
	if err != nil {
		return nil, fileError(name, err)
	}
	with, err := a.readWith(o.with)
	if err != nil {
		return nil, err
	}
	s, err := run.Load(name, text, a.reading(run.LoadOptions{With: with}))
	if what, hint := foreign(text); err != nil && what != "" {
		return nil, &usageError{File: name, Text: what, Hint: hint}
	}
	if err != nil {
		return nil, err
	}
	a.noteSeed(run.AllPoints(s))
	return provings(s, o.slots), nil
}

// provings returns the points and programs of a scenario to prove.
func provings(s *run.Scenario, slots int) (list []proving) {
	for _, p := range s.Points {
		list = append(list, proving{p.ID, func() ([]*run.Verification, error) {
			return s.VerifyPoint(p, slots)
		}})
	}
	for _, p := range s.Programs {
		list = append(list, proving{p.ID, func() ([]*run.Verification, error) {
			v, err := s.VerifyProgram(p, slots)
			return []*run.Verification{v}, err
		}})
	}
	return list
}
