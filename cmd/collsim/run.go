package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collsim/page"
	"collsim/run"
	"collsim/scenarios"
)

// runFlags are the flags of run.
type runFlags struct {
	json     bool
	format   string // of nccl-tests, in place of the table
	jsonl    bool
	csv      string
	drawn    map[string]*string // to what file, by what it is (drawings)
	curves   string
	over     string // the key that curves are over
	pivot    string // the column that is tabulated
	across   string // the key whose values are across
	pivotTo  string
	topology string
	figure   string
	links    string
	report   string // the page
	rows     string // that timelines have
	window   string // of time that they show
	numerics bool
	errors   string // the picture of --numerics-plot
	with     []string
	set      []string
	only     []string
	hw       string
	seed     int64
	quiet    bool
	replace  bool // replace files that a scenario names
	shard    string
	resume   []string
	flags    *pflag.FlagSet
	// flagsAlone says that files which a scenario names for its outputs are not written.
	flagsAlone bool
}

func (o *runFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	f.BoolVar(&o.jsonl, "jsonl", false, "print JSON, each result in a line as soon as it is done, "+
		"then a line that sums up")
	f.StringVar(&o.format, "format", "table", "print `FORMAT` instead of the table: nccl-tests, "+
		"column for column what all_reduce_perf and its like print, or nccl-tests-json, as their -J")
	f.StringVar(&o.csv, "csv", "", "write a line for each result to `FILE`; - is standard output")
	o.registerDrawings(f)
	f.StringVar(&o.rows, "rows", "", "draw these `RANKS` alone in timelines: 0-7,12")
	f.StringVar(&o.window, "window", "", "draw this time alone in timelines: `FROM..TO`, such as "+
		"'10 us..40 us'")
	f.StringVar(&o.curves, "curves", "", "draw busbw against size, a curve for each algorithm, to "+
		"`FILE.svg`, .png or .pdf")
	f.StringVar(&o.over, "over", "", "draw --curves over the swept `KEY` instead of the size: ranks, "+
		"or topology.link.latency, …")
	f.StringVar(&o.pivot, "pivot", "", "print a compact table of `COLUMN` instead of rows: time, "+
		"busbw, %bound, … or a column of --csv; what points differ in goes down and across")
	f.StringVar(&o.across, "across", "", "the `KEY` whose values --pivot has across (the "+
		"size): algorithm, ranks, dtype or a swept key")
	f.StringVar(&o.pivotTo, "pivot-to", "-", "write the table of --pivot to `FILE.csv` or .md, and "+
		"print rows as ever; - is standard output")
	f.StringVar(&o.topology, "topology", "", "draw the network, a node of it and what is between the "+
		"nodes, with rates, to `FILE.svg`, .png or .pdf")
	f.StringVar(&o.figure, "figure", "page", "what pictures are for: page, column or slide")
	f.StringVar(&o.links, "links", "",
		"write what every link carried, and for how long it was busy, "+
			"to `FILE`; - is standard output")
	f.StringVar(&o.report, "report", "", "write all of it as a page for a browser, in one file: "+
		"`FILE.html`")
	f.BoolVar(&o.numerics, "numerics", false, "print what rounding does: errors on normal data, and "+
		"what the order of additions depends on")
	f.StringVar(&o.errors, "numerics-plot", "", "draw the mean error against the number of ranks, a "+
		"curve for each algorithm and type, to `FILE.svg`, .png or .pdf; means --numerics")
	registerWith(f, &o.with)
	f.StringArrayVar(&o.set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.only, "only", nil, "keep results with these `KEY=VALUE,…`")
	f.StringVar(&o.hw, "hw", "", "execute schedules on `EXECUTOR`, as validate does: "+builtNames()+
		"; sim simulates alone")
	f.Int64Var(&o.seed, "seed", 0, "replace the seed of all random data by `N`")
	f.BoolVar(&o.replace, "overwrite", false, "replace files that a scenario names for its outputs "+
		"even if they are not from an earlier run")
	f.StringVar(&o.shard, "shard", "", "run one part of the points, as a task of a job array: `I/N`; "+
		"auto/N takes I from Slurm or Kubernetes. Needs --jsonl; collsim merge puts parts together")
	f.StringArrayVar(&o.resume, "resume", nil, "leave out the points that `FILE.jsonl` has, of an "+
		"earlier or a killed run. Needs --jsonl")
	f.BoolVar(&o.quiet, "quiet", false, "no notes and no progress on standard error")
	f.SortFlags = false
}

// load returns the flags as options of package collsim.
func (o *runFlags) load(a *app) (run.LoadOptions, error) {
	l := run.LoadOptions{Set: o.set, Only: o.only}
	if o.flags.Changed("seed") {
		l.Set = append(l.Set[:len(l.Set):len(l.Set)], fmt.Sprintf("seed=%d", o.seed))
	}
	var err error
	l.With, err = a.readWith(o.with)
	return l, err
}

// registerWith adds the flag for files that replace keys.
func registerWith(f *pflag.FlagSet, with *[]string) {
	f.StringArrayVar(with, "with", nil, "replace keys of the scenario by those of `FILE.toml`: what "+
		"calibrate has found, say")
}

// readWith reads files that replace keys.
func (a *app) readWith(names []string) (list []scenarios.With, err error) {
	for _, name := range names {
		text, err := a.readFile(name)
		if err != nil {
			return nil, fileError(name, err)
		}
		list = append(list, scenarios.With{Name: name, Text: text})
	}
	return list, nil
}

func (a *app) runCommand() *cobra.Command {
	o := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run FILE|example:NAME|- …",
		Short: "run scenarios: proof, numbers, time",
		Long: "Run carries out every point of the scenarios: proves the schedule, checks its numbers " +
			"against the definition, and simulates its time. Several files make one table, which is " +
			"printed as its rows are done.",
		Example: "  collsim run ring.toml\n" +
			"  collsim run a.toml b.toml --json\n" +
			"  collsim run sweep.toml --only algorithm=ring --timeline '{algorithm}-{bytes}.svg'",
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), args, o)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

// check refuses values that mean nothing.
func (o *runFlags) check() error {
	if o.seed < 0 {
		return &usageError{Text: fmt.Sprintf("--seed %d: a whole number from 0 on is expected", o.seed)}
	}
	if err := checkCSV(o.csv); err != nil {
		return err
	}
	if o.asNCCLTests() {
		return o.checkFormat()
	}
	if o.hw != "" {
		return checkExecutor(o.hw)
	}
	return nil
}

// run runs scenarios. It refuses outputs that cannot be written before it runs anything. If an
// output fails afterwards, it reports that, and writes and prints everything else.
func (a *app) run(ctx context.Context, args []string, o *runFlags) error {
	if len(args) == 0 {
		return &usageError{Text: "a scenario is expected", Hint: "for example: collsim example:ring"}
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.hw != "" && o.hw != "sim" {
		return a.validate(ctx, args, &validateFlags{runFlags: *o})
	}
	load, err := o.load(a)
	if err != nil {
		return err
	}
	list, err := a.loadAll(args, load)
	if err == nil && o.asNCCLTests() {
		list, err = a.loadNCCLTests(args, load, list)
	}
	if err != nil {
		return err
	}
	divided, err := o.divided(a, list)
	if err != nil {
		return err
	}
	out, err := a.newOutputs(list, o, nil)
	if err != nil {
		return err
	}
	out.divided = divided
	out.writeNetworks()
	ctx, stop := a.interruptible(ctx)
	defer stop()
	a.outliveReader()
	out.stream()
	if o.csv != "" && out.drops() {
		out.csv = newStreamed(o.csv)
		defer out.csv.abandon()
	}
	var reports []*run.Report
	var ended error
	for i, s := range list {
		report, err := a.runOne(ctx, s, i, out)
		if report != nil {
			reports = append(reports, report)
		}
		if ended = err; err != nil {
			break
		}
	}
	return a.finish(reports, out, ended)
}

// finish writes all files of reports, prints them, and says how they ended: with an error before
// everything was done, or not. What is finished is written and printed in any case.
func (a *app) finish(reports []*run.Report, out *outputs, ended error) error {
	if len(reports) == 0 {
		return ended
	}
	out.incomplete = ended != nil
	out.write(reports)
	if err := out.print(reports); err != nil {
		return err
	}
	if out.flags.noted() {
		a.notes(reports)
	}
	switch lost := out.missing(); {
	case lost != nil && ended != nil && !isInterrupted(ended):
		return errors.Join(ended, lost)
	case lost != nil:
		return lost
	case ended != nil:
		return ended
	}
	for _, r := range reports {
		if !r.Good() {
			return errFailed
		}
	}
	return nil
}

// runOne runs a scenario. What there is of one that has not come to its end comes with the error.
func (a *app) runOne(ctx context.Context, s *run.Scenario, index int,
	out *outputs) (*run.Report, error) {
	p := a.newProgress("results", idsOf(partOfSweep(out, index)), out.flags.quiet)
	out.begin(s, p)
	o := out.options(index)
	if out.flags.noted() {
		o.Phase = p.phase
	}
	o.Done = func(r *run.Result) {
		out.take(index, r)
		if r.Trace, r.Outputs = nil, nil; r.Gradient == nil {
			p.step()
		}
	}
	o.Program = func(r *run.ProgramResult) {
		out.takeProgram(index, r)
		r.Trace = nil
		p.step()
	}
	report, err := carryOut(ctx, out, index, o)
	if err == nil && out.flags.asNCCLTests() {
		err = out.runInPlace(ctx, s)
	}
	if err == nil {
		err = out.drawSome(ctx, index, s)
	}
	p.end()
	out.end(report)
	return report, err
}

// noted reports whether notes are printed.
func (o *runFlags) noted() bool { return !o.quiet && !o.json && !o.jsonl }

// asNCCLTests reports whether the output is that of nccl-tests.
func (o *runFlags) asNCCLTests() bool { return o.format != "" && o.format != "table" }

// loadAll reads all scenarios, or returns all that is wrong with them.
func (a *app) loadAll(names []string, o run.LoadOptions) ([]*run.Scenario, error) {
	var list []*run.Scenario
	var wrong []error
	stdin := 0
	for _, name := range names {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return nil, &usageError{Text: "- is given twice; standard input can be read once"}
	}
	for _, name := range names {
		text, err := a.read(name)
		if err != nil {
			return nil, meantAsOutput(a.args, name, err)
		}
		s, err := run.Load(name, text, a.reading(o))
		if what, hint := notScenario(name, text); err != nil && what != "" {
			return nil, &usageError{File: name, Text: what, Hint: hint}
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		a.noteSeed(run.AllPoints(s))
		a.texts = append(a.texts, page.File{Name: name, Text: string(text)})
		list = append(list, s)
	}
	if len(wrong) == 1 {
		return nil, wrong[0]
	}
	return list, errors.Join(wrong...)
}

// noteSeed remembers the seed, for the report of a bug.
func (a *app) noteSeed(points []*scenarios.Point) {
	for _, p := range points {
		switch text := fmt.Sprint(p.Seed); a.seed {
		case text:
		case "":
			a.seed = text
		default:
			a.seed = strings.TrimSuffix(a.seed, " and others") + " and others"
			return
		}
	}
}

// read reads the text that an argument names; it is never nil.
func (a *app) read(name string) ([]byte, error) {
	switch example, ok := strings.CutPrefix(name, "example:"); {
	case ok:
		if text, ok := exampleFile(example); ok {
			return text, nil
		}
		text, err := scenarios.Example(example)
		if err != nil {
			return nil, &usageError{Text: err.Error()}
		}
		return text, nil
	case name == "-":
		text, err := a.limit(0).All(a.in)
		if err != nil {
			return nil, fileError("standard input", err)
		}
		return text, nil
	}
	text, err := a.readFile(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	return text, nil
}

// maxNotes is the most notes of a report that are printed; JSON has them all.
const maxNotes = 5

// notes prints what a reader of the table might stumble over.
func (a *app) notes(reports []*run.Report) {
	for _, r := range reports {
		for i, w := range r.Warnings {
			if i == maxNotes {
				a.print(a.err, fmt.Sprintf("note: and %d more; --json has them all\n",
					len(r.Warnings)-i))
				break
			}
			a.print(a.err, "note: "+w+"\n")
		}
	}
}

// idsOf lists the names of a scenario's points.
func idsOf(s *run.Scenario) (names []string) {
	for _, p := range run.AllPoints(s) {
		names = append(names, p.ID)
	}
	return names
}
