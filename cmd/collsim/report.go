package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/shards"
)

const reportLong = `
Report reads results back that were printed with --jsonl, and makes what a run makes of them: the
table, --pivot, --curves, --csv, --json, a page. Nothing is run. Lines may be of several files, and
of several scenarios; the same line twice counts once. The scenario is read from where the lines say
it is, with the same --set and --with: a line counts where its point still means the same.`

// reportFlags are the flags of report.
type reportFlags struct {
	runFlags
	scenario string
}

// readable lists the flags of run that report has, too.
var readable = [...]string{"json", "csv", "curves", "over", "pivot", "across", "pivot-to", "figure",
	"report", "numerics-plot", "with", "set", "only", "seed", "quiet"}

func reportCommand(a *app) *cobra.Command {
	o := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report RESULTS.jsonl …",
		Short: "make tables and pictures of results that a run has printed",
		Long:  joined(reportLong),
		Example: "  collsim sweep.toml --jsonl > results.jsonl\n" +
			"  collsim report results.jsonl --pivot busbw\n" +
			"  collsim report part-*.jsonl --only algorithm=ring --curves ring.svg",
		RunE: func(_ *cobra.Command, args []string) error { return reportOn(a, o, args) },
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.register(all)
	f := cmd.Flags()
	all.VisitAll(func(one *pflag.Flag) {
		one.Hidden = !slices.Contains(readable[:], one.Name)
		f.AddFlag(one)
	})
	f.StringVar(&o.scenario, "scenario", "", "read the scenario from `FILE`, rather than from where "+
		"the lines say it is")
	f.SortFlags = false
	o.flags, o.flagsAlone = f, true
	return cmd
}

// unreadable refuses what only a run can give.
func (o *reportFlags) unreadable() (wrong error) {
	o.flags.Visit(func(one *pflag.Flag) {
		if !one.Hidden || one.Name == "overwrite" {
			return
		}
		hint := "collsim FILE --only id=… --" + one.Name + " runs a point again"
		switch one.Name {
		case "jsonl", "shard", "resume":
			hint = "collsim merge FILE RESULTS.jsonl … puts lines together"
		case "numerics":
			hint = "a run with --numerics --jsonl has lines that have it, and it is shown then"
		}
		wrong = &usageError{Text: "--" + one.Name + " needs a run: lines of results do not have what " +
			"it takes", Hint: hint}
	})
	return wrong
}

// reportOn prints and writes what lines say.
func reportOn(a *app, o *reportFlags, args []string) error {
	if len(args) == 0 {
		return &usageError{Text: "a file of results is expected, as collsim FILE --jsonl prints them",
			Hint: "for example: collsim report results.jsonl"}
	}
	if err := errors.Join(o.unreadable(), o.check()); err != nil {
		return err
	}
	lines, err := readLines(a, args)
	if err != nil {
		return err
	}
	back, err := o.readBack(a, lines)
	if err != nil {
		return err
	}
	var list []*run.Scenario
	for _, r := range back {
		list = append(list, r.Scenario)
	}
	out, err := a.newOutputs(list, &o.runFlags, nil)
	if err != nil {
		return err
	}
	out.fromLines = true
	out.stream()
	for i, r := range back {
		out.begin(r.Scenario, nil)
		for _, one := range r.Results {
			out.take(i, one)
		}
		for _, one := range r.Programs {
			out.takeProgram(i, one)
		}
		out.end(r)
		out.incomplete = out.incomplete || len(lackingOf(r)) > 0
	}
	return a.finish(back, out, nil)
}

// readBack reads the scenarios that lines name, and makes reports of what lines say of them.
func (o *reportFlags) readBack(a *app, lines *shards.Lines) (back []*run.Report, err error) {
	var names []string
	of := map[string][]shards.Line{}
	for _, line := range lines.All() {
		if of[line.Scenario] == nil {
			names = append(names, line.Scenario)
		}
		of[line.Scenario] = append(of[line.Scenario], line)
	}
	switch {
	case len(names) == 0:
		return nil, &usageError{Text: "there are no results in these files"}
	case len(names) > 1 && o.scenario != "":
		return nil, &usageError{Text: fmt.Sprintf("--scenario names one file; the lines are of %s",
			strings.Join(names, ", ")), Hint: "give the files of one scenario at a time"}
	}
	load, err := o.load(a)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		whole, chosen, err := o.scenarioOf(a, of[name][0], load)
		if err != nil {
			return nil, err
		}
		if err := allBelong(whole, of[name]); err != nil {
			return nil, err
		}
		r, err := reportOf(chosen, lines)
		if err != nil {
			return nil, err
		}
		back = append(back, r)
	}
	return back, nil
}

// scenarioOf reads the scenario of a line: all of its points, and those that --only keeps.
func (o *reportFlags) scenarioOf(a *app, line shards.Line, load run.LoadOptions) (whole,
	chosen *run.Scenario, err error) {
	name := line.Scenario
	if o.scenario != "" {
		name = o.scenario
	}
	if name == "-" && o.scenario == "" {
		return nil, nil, &usageError{Text: line.At + ": its scenario came from standard input",
			Hint: "--scenario FILE says where it is"}
	}
	_, isThere := os.Stat(name)
	if errors.Is(isThere, fs.ErrNotExist) && o.scenario == "" &&
		!strings.HasPrefix(name, "example:") {
		return nil, nil, &usageError{Text: line.At + ": its scenario " + name + " is not there",
			Hint: "--scenario FILE says where it is"}
	}
	list, err := a.loadAll([]string{name}, load)
	if err != nil || len(load.Only) == 0 {
		if err == nil {
			whole, chosen = list[0], list[0]
		}
		return whole, chosen, err
	}
	load.Only = nil
	all, err := a.loadAll([]string{name}, load)
	if err != nil {
		return nil, nil, err
	}
	a.texts = a.texts[:len(a.texts)-1] // it is there already
	return all[0], list[0], nil
}

// programIdentity names a program by its ID and the digest of what it means.
func programIdentity(p *scenarios.ProgramPoint) shards.Point {
	return shards.Point{ID: p.ID, Digest: p.Digest(run.Version)}
}

// allBelong refuses lines of points that the scenario does not have.
func allBelong(s *run.Scenario, lines []shards.Line) error {
	has, named := map[shards.Point]bool{}, map[string]bool{}
	for _, p := range s.Points {
		for _, one := range pointsIn(p) {
			has[identityOf(one)], named[one.ID] = true, true
		}
	}
	for _, p := range s.Programs {
		has[programIdentity(p)], named[p.ID] = true, true
	}
	for _, line := range lines {
		switch {
		case has[line.Point]:
		case named[line.ID]:
			return &usageError{Text: fmt.Sprintf("%s: %s means something else in %s by now, or another "+
				"version of collsim has run it", line.At, line.ID, s.File),
				Hint: "give the --set, --with and --seed of the run, or run it again with --resume"}
		default:
			return &usageError{Text: fmt.Sprintf("%s: %s is no point of %s", line.At, line.ID, s.File),
				Hint: "give the --set, --with and --seed of the run; --scenario names another file"}
		}
	}
	return nil
}

// reportOf makes the report of a scenario of the lines that there are.
func reportOf(s *run.Scenario, lines *shards.Lines) (*run.Report, error) {
	r := &run.Report{Scenario: s, Warnings: s.Notes}
	for _, p := range s.Points {
		if why, is := lines.Skipped(identityOf(p)); is {
			r.Skipped = append(r.Skipped, run.Skip{Point: p, Why: why})
			continue
		}
		for _, one := range pointsIn(p) {
			line, is := lines.Result(identityOf(one))
			if !is {
				continue
			}
			result, err := report.ReadResult(one, line.Text)
			if err != nil {
				return nil, &usageError{Text: line.At + ": " + err.Error()}
			}
			r.Results = append(r.Results, result)
			for _, w := range result.Warnings {
				r.Warnings = append(r.Warnings, one.ID+": "+w)
			}
		}
	}
	for _, p := range s.Programs {
		line, is := lines.Result(programIdentity(p))
		if !is {
			continue
		}
		result, err := report.ReadProgram(p, line.Text)
		if err != nil {
			return nil, &usageError{Text: line.At + ": " + err.Error()}
		}
		r.Programs = append(r.Programs, result)
	}
	if lacks := lackingOf(r); len(lacks) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d points have no line, beginning with %s",
			len(lacks), len(run.AllPoints(s)), lacks[0]))
	}
	return r, nil
}

// lackingOf lists the points of a scenario that a report has nothing of.
func lackingOf(r *run.Report) (ids []string) {
	has := map[string]bool{}
	for _, one := range r.Results {
		has[one.Point.ID] = true
	}
	for _, one := range r.Programs {
		has[one.Point.ID] = true
	}
	for _, one := range r.Skipped {
		has[one.Point.ID] = true
	}
	for _, p := range run.AllPoints(r.Scenario) {
		if !has[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
