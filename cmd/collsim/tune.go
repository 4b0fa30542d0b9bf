package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collsim/internal/nearest"
	"collsim/report"
	"collsim/run"
	"collsim/unit"
)

// tuneFlags are the flags of tune.
type tuneFlags struct {
	json, quiet, all    bool
	csv, output, format string
	sizes               string
	with                []string
	load                run.LoadOptions
	flags               *pflag.FlagSet
}

const tuneLong = `
Tune finds the fastest of NCCL's algorithms, protocols and numbers of channels by simulation, for
every collective of a scenario that NCCL chooses an algorithm for, and prints it by size beside
NCCL's own choice and the gain. Of channels it tries as many as NCCL gives a call, 1, 2, 4 and so
on, and all of the communicator's; of equally fast ones NCCL's own choice wins. Sizes are the
scenario's, or where it has one alone, 8 KiB to 1 GiB by powers of two. With [benchmark] times are
those of a call in a loop, else of one call alone.

Simulations are off by some share in the median of public tables, by nodes and size
(docs/fidelity-nccl.md), or of those of the machine where that is more. A gain that is not larger is
printed, but goes into files with --all alone. NCCL's own
choice stands where nothing is written.

Formats are nccl-tuner, the CSV of NCCL's example tuner plugin; rccl-tuner, that of RCCL's own
tuner; and env, NCCL_ALGO and NCCL_PROTO where one setting serves all sizes. A choice holds from
its size to below the next one, or to below twice as much. A scenario takes a file of the first back
by nccl.tuner = "FILE": then nccl:auto chooses as NCCL would with that file.

With --json it is an object: tunings, of which each has point, kind, ranks, nodes, dtype, op, time
(time_ps or call_ps), sizes and ignored, what NCCL ignores in a tuner's file and why. A
size has bytes, count, best and nccl (algorithm, protocol, channels_set, null where they are left to
NCCL, channels that the call takes, time_ps), gain and error as shares, written, and how many
choices were simulated and ruled_out by bounds.`

func (a *app) tuneCommand() *cobra.Command {
	o := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune FILE|example:NAME|-",
		Short: "find NCCL's best algorithm, protocol and channels by size",
		Long:  joined(tuneLong),
		Example: "  collsim tune nccl.toml\n" +
			"  collsim tune nccl.toml --output tuner.csv\n" +
			"  collsim tune nccl.toml --sizes 64KiB,1MiB,16MiB --format env",
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.tune(cmd.Context(), args, o)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *tuneFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	f.StringVar(&o.csv, "csv", "", "write a line for each size to `FILE`; - is standard output")
	f.StringVar(&o.output, "output", "", "write what is best to `FILE`, in --format")
	f.StringVar(&o.format, "format", "", "write in `FORMAT`, without --output to standard output: "+
		strings.Join(tuneFormats(), ", "))
	f.BoolVar(&o.all, "all", false, "write all gains, also those within the error of simulations")
	f.StringVar(&o.sizes, "sizes", "", "sizes `A,B,…` in place of the scenario's")
	registerWith(f, &o.with)
	f.StringArrayVar(&o.load.Set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.load.Only, "only", nil, "keep points with these `KEY=VALUE,…`")
	f.BoolVar(&o.quiet, "quiet", false, "no notes and no progress on standard error")
	f.SortFlags = false
}

// tuneFormats lists what --format of tune takes.
func tuneFormats() (names []string) {
	for _, f := range run.TuneFormats() {
		names = append(names, f.Name)
	}
	return names
}

// formatOf returns the format that flags ask for; false if no file is asked for.
func (o *tuneFlags) formatOf() (run.TuneFormat, bool, error) {
	if o.format == "" {
		return run.TuneFormats()[0], o.output != "", nil
	}
	for _, f := range run.TuneFormats() {
		if f.Name == o.format {
			return f, true, nil
		}
	}
	e := &usageError{Text: fmt.Sprintf("--format %q: no format of that name is written", o.format),
		Hint: "formats are " + strings.Join(tuneFormats(), ", ")}
	if near := nearest.To(o.format, tuneFormats(), 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return run.TuneFormat{}, false, e
}

// sizesOf returns the sizes of the flag, nil without it.
func (o *tuneFlags) sizesOf() (list []unit.Bytes, err error) {
	if o.sizes == "" {
		return nil, nil
	}
	for _, text := range strings.Split(o.sizes, ",") {
		n, err := unit.ParseBytes(strings.TrimSpace(text))
		if err != nil {
			return nil, flagValue("sizes", text, err)
		}
		if n < 1 || n > mostTunedSize {
			return nil, &usageError{Text: fmt.Sprintf("--sizes %q: 1 B to %v is expected", text,
				mostTunedSize)}
		}
		list = append(list, n)
	}
	return list, nil
}

// mostTunedSize bounds --sizes.
const mostTunedSize = 64 * unit.GiB

// check refuses several things on standard output.
func (o *tuneFlags) check(writes bool) error {
	var taken []string
	for _, one := range []struct {
		wants bool
		flag  string
	}{{o.json, "--json"}, {o.csv == "-", "--csv -"},
		{writes && (o.output == "" || o.output == "-"), "--format"}} {
		if one.wants {
			taken = append(taken, one.flag)
		}
	}
	if len(taken) > 1 {
		return &usageError{Text: taken[0] + " and " + taken[1] + " both want standard output",
			Hint: "give one a File: --output FILE, --csv FILE"}
	}
	return nil
}

// tune simulates, prints the table and writes files.
func (a *app) tune(ctx context.Context, args []string, o *tuneFlags) error {
	if len(args) != 1 {
		return &usageError{Text: fmt.Sprintf("one scenario is expected, not %d", len(args)),
			Hint: "for example: collsim tune nccl.toml"}
	}
	format, writes, err := o.formatOf()
	if err == nil {
		err = o.check(writes)
	}
	if err != nil {
		return err
	}
	sizes, err := o.sizesOf()
	if err != nil {
		return err
	}
	if o.load.With, err = a.readWith(o.with); err != nil {
		return err
	}
	scenarios, err := a.loadAll(args, o.load)
	if err != nil {
		return err
	}
	s := scenarios[0]
	list, err := s.Tunings(sizes)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return &usageError{File: s.File,
			Text: "there is no collective that NCCL chooses an algorithm for",
			Hint: "it does for all_reduce, all_gather, reduce_scatter, broadcast and reduce, of 2 or " +
				"more ranks"}
	}
	if writes {
		if err := s.TunedFits(list, format); err != nil {
			return err
		}
	}
	for _, one := range []struct{ name, flag string }{{o.csv, "--csv"}, {o.output, "--output"}} {
		if err := a.takeOne(one.name, one.flag); err != nil {
			return err
		}
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	if err := a.simulateTunings(ctx, list, o.quiet); err != nil {
		return err
	}
	return a.printTunings(s, list, format, writes, o)
}

// simulateTunings finds the best at all sizes.
func (a *app) simulateTunings(ctx context.Context, list []*run.Tuning, quiet bool) error {
	type place struct {
		of   *run.Tuning
		size int
	}
	var places []place
	var names []string
	for _, t := range list {
		for i := range t.Sizes {
			places = append(places, place{t, i})
			names = append(names, fmt.Sprintf("%v of %v", t.Point.Spec.Kind, t.Sizes[i].Bytes))
		}
	}
	p := a.newProgress("sizes", names, quiet)
	_, err := inTurn(ctx, p, func(i int) (struct{}, error) {
		return struct{}{}, places[i].of.Simulate(places[i].size)
	})
	return err
}

// printTunings writes the files, then standard output.
func (a *app) printTunings(s *run.Scenario, list []*run.Tuning, format run.TuneFormat, writes bool,
	o *tuneFlags) error {
	var lost error
	file := ""
	if writes {
		var notes []string
		var err error
		if file, notes, err = s.WriteTuned(list, format, o.all); err != nil {
			return err
		}
		if !o.quiet {
			for _, note := range notes {
				a.print(a.err, "note: "+note+"\n")
			}
		}
	}
	table := report.TuneCSV(list, o.all)
	for _, f := range []struct {
		name string
		text []byte
	}{{o.output, []byte(file)}, {o.csv, table}} {
		if f.name != "" && f.name != "-" {
			if err := writeFile(f.name, f.text); err != nil && lost == nil {
				lost = err
			}
		}
	}
	var out bytes.Buffer
	switch {
	case writes && (o.output == "" || o.output == "-"):
		out.WriteString(file)
	case o.csv == "-":
		out.Write(table)
	case o.json:
		text, err := report.TuneJSON(s, list, o.all)
		if err != nil {
			return err
		}
		a.printJSON(a.out, text)
		return lost
	default:
		a.print(a.out, report.TuneText(list, o.all))
		return lost
	}
	a.printData(out.Bytes())
	return lost
}
