package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collsim/hw"
	"collsim/report"
	"collsim/run"
	"collsim/unit"
)

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	output      string
	json, quiet bool

	from, with, set     []string
	kind, algorithm     string
	ranks, table        int
	inPlace, outOfPlace bool
	derived, together   bool
	machine, processes  string
	nodes               int
	hw, hosts, listen   string
	sizes, budget       string
	repetitions, warmup int
	flags               *pflag.FlagSet
}

const calibrateLong = `
Calibrate finds latency and bandwidth, and what messages, copies and sums cost, and writes them
as the tables of a scenario, with the 95 % interval of each figure and all residuals in
comments. A fifth of the points is held out of the fit, where that is three or more: their
error tells how good it is. What is written is for --with FILE of run, check, explain, verify
and validate.

With a SCENARIO it measures the hardware that this names, by ping-pongs, streams and exchanges
of pairs of ranks, alone and all at once. Pairs are of a class if their routes have as many
links of the same bandwidth; in a cluster, figures inside a node and between nodes go to
[topology.node] and [topology.network]. Bandwidth and latency are what all pairs get both ways
at once, as in most collectives. A lab is built with the scenario's own bandwidth: that stays,
and what was found is a comment.

With --from it reads published tables instead: logs or JSON of nccl-tests and rccl-tests, what the
OSU micro-benchmarks print, records of NCCL Inspector, CSV with a header (collective, size_bytes,
time_us_ip, time_us_oop, algo, median_us, …), and what collsim writes, recognised by their
content. They are held against the closed form of an algorithm on a switch: --algorithm, or
the table's own if it is one of ours, or ring for all_reduce, all_gather and reduce_scatter,
pairwise for all_to_all, direct for send_recv, binomial for broadcast, reduce, gather and
scatter. Latency and bandwidth are found for as many ranges of sizes of messages as pay, and
the preset has them all: a switch, whose ports are those of the fastest range, and a
[[device.range]] for each but the last. A file may have several tables, told apart by
collective, algorithm, type, operator or ranks (--ranks and --kind take those of one). Several
tables make several presets, one after the other, which are no one scenario: --table N takes
one, --output 'NAME-{table}.toml' writes each to a file of its own. With --together they are of
one machine, and make one preset: what a call costs besides its messages (device.launch), which
is what small sizes of all of them have in common, can then be told from latency; one table
alone has it in the latency.

With --machine as well, the tables are of NCCL's calls on that machine, and all are fitted
together: to NCCL's own schedules in a loop of calls, as nccl-tests times them. Found are, by
protocol, the base of a call, a hop and the rate of a channel; what calls of 1 to 16 MiB and
more take longer; links and NICs as reached; the hop of the fabric; and what a process takes to
issue calls. Each is looked for around what NCCL's source and the machine's row have, and stays
there if the times do not tell it. Written is a whole machine, for topology.file of a scenario.
Of each table up to three sizes below 64 KiB, 1 MiB, 16 MiB and above are fitted, none above
1 GiB; the others are held out. --algorithm is NCCL's (ring, tree, nvls, with parameters) where
it was forced; --set changes the scenarios that tables are simulated as, such as nccl.env.

What the data only bound is told as not known, and the preset has what the fit took; what they
do not even bound is refused by whoever reads the preset, until somebody gives it.

What was found is told on standard error. With --json it is an object on standard output, in
place of the preset. Of tables: tables, of which each has file, table (its number there), kind,
algorithm, called (there), ranks, dtype, op, in_place, ranges, fitted, held_out, residuals,
notes and preset; a range has from_bytes and to_bytes of a call, message_up_to_bytes, latency and
bandwidth; and machine, null unless --together, with ranks, launch, ranges, fitted, held_out,
residuals, notes and preset of them all. Of a measurement:
scenario, name, set, ran_on, classes (name, table, wires, pairs), sizes, repetitions, warmup,
figures, fitted, held_out, residuals, notes and preset, where a figure has name, unit (ps or
GB/s), value, low and high of its 95 % interval, known, why not, points that rest on it and their
median_error; fitted and held_out have points, median and p90 of the errors, as shares; a
residual has name, measured_ps, fitted_ps, error and held_out. With --machine: machine, tables,
figures (name, before, found, low, high, told, fitted), rows (table, bytes, way, measured_ps,
simulated_ps, error, fitted), notes and preset.`

func (a *app) calibrateCommand() *cobra.Command {
	o := &calibrateFlags{}
	cmd := &cobra.Command{
		Use:   "calibrate SCENARIO | [--machine NAME] --from TABLE …",
		Short: "measure a machine, or fit published tables: figures for scenarios",
		Long:  joined(calibrateLong),
		Example: "  collsim calibrate lab.toml --output calibrated.toml\n" +
			"  collsim validate lab.toml --with calibrated.toml\n" +
			"  collsim calibrate --from all_reduce.log --ranks 8 --output a100.toml\n" +
			"  collsim calibrate --machine dgx-a100 --from all_reduce.log --output mine.toml",
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.calibrate(cmd.Context(), args, o)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

// joined makes one line of each paragraph.
func joined(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

func (o *calibrateFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.output, "output", "", "write the preset to `FILE.toml` instead of standard output")
	f.BoolVar(&o.json, "json", false, "print JSON instead of the preset")
	f.BoolVar(&o.quiet, "quiet", false, "nothing but errors on standard error")
	registerWith(f, &o.with)
	f.StringArrayVar(&o.set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringVar(&o.hw, "hw", "", "measure this `EXECUTOR`: "+builtNames())
	f.StringVar(&o.hosts, "hosts", "", "machines that the ranks are on: `A,B,…`")
	f.StringVar(&o.listen, "listen", "", "`ADDRESS` at which ranks of other machines reach this one")
	f.StringVar(&o.sizes, "sizes", "", "sizes of messages, `A,B,…`; up to what the scenario's "+
		"bandwidth carries in a minute, in all")
	f.StringVar(&o.budget, "budget", "", "most that a rank sends in one experiment, a `SIZE`; the "+
		"largest message")
	f.IntVar(&o.repetitions, "repetitions", 0, "measure each experiment `N` times; the scenario's")
	f.IntVar(&o.warmup, "warmup", -1, "and execute it `N` times before; the scenario's")
	f.StringArrayVar(&o.from, "from", nil, "fit published tables: a log of nccl-tests, CSV or the "+
		"like, in `FILE`; further files may follow as arguments")
	f.IntVar(&o.table, "table", 0, "of several tables in a file take the `N`th")
	f.StringVar(&o.kind, "kind", "", "take the tables of this `KIND`, and those that do not say so "+
		"as being of it")
	f.IntVar(&o.ranks, "ranks", 0, "the `NUMBER` of ranks, where tables do not say so")
	f.StringVar(&o.algorithm, "algorithm", "", "hold tables against the closed form of `NAME`")
	f.BoolVar(&o.inPlace, "in-place", false, "take the times in place (so it is where there are any)")
	f.BoolVar(&o.outOfPlace, "out-of-place", false, "take the times out of place")
	f.StringVar(&o.machine, "machine", "", "the tables are NCCL's on this `MACHINE`, a name or a "+
		"file: write it with figures at which simulations take their times")
	f.IntVar(&o.nodes, "nodes", 0, "with --machine, the `NUMBER` of nodes, where tables do not say so")
	f.StringVar(&o.processes, "processes", "", "with --machine, who issues calls, where tables do "+
		"not say so: `per-gpu|one`; what fits better")
	f.BoolVar(&o.together, "together", false, "the tables are of one machine: fit one preset to all")
	f.BoolVar(&o.derived, "derived", false, "times were worked out from the printed bandwidth")
	for _, name := range []string{"repetitions", "warmup", "table", "ranks", "nodes"} {
		f.Lookup(name).DefValue = "0"
	}
	f.SortFlags = false
}

// check refuses flags that cannot be together, or mean nothing.
func (o *calibrateFlags) check() error {
	tables := changed(o.flags, "table", "kind", "ranks", "algorithm", "in-place", "out-of-place",
		"derived", "together", "machine", "nodes", "processes")
	measure := changed(o.flags, "with", "hw", "hosts", "listen", "sizes", "budget", "repetitions",
		"warmup")
	if o.machine == "" && measure == "" {
		measure = changed(o.flags, "set")
	}
	ofNCCL := changed(o.flags, "nodes", "processes")
	switch {
	case len(o.from) == 0 && tables != "":
		return &usageError{Text: "--" + tables + " is for published tables",
			Hint: "name them with --from"}
	case len(o.from) > 0 && measure != "":
		return &usageError{Text: "--" + measure + " is for measuring; tables have been measured"}
	case o.machine == "" && ofNCCL != "":
		return &usageError{Text: "--" + ofNCCL + " is for tables of a machine",
			Hint: "name it with --machine"}
	case o.machine != "" && o.together:
		return &usageError{Text: "--machine and --together are both given",
			Hint: "with --machine all tables are fitted together"}
	case o.processes != "" && !slices.Contains(processes(), o.processes):
		return &usageError{Text: fmt.Sprintf("--processes %q: one of %s is expected", o.processes,
			strings.Join(processes(), ", "))}
	case o.inPlace && o.outOfPlace:
		return &usageError{Text: "--in-place and --out-of-place are both given"}
	case o.hw == "sim":
		return &usageError{Text: "--hw sim: a simulation has the figures that it is given"}
	}
	for _, n := range []struct {
		name         string
		value, least int
	}{{"table", o.table, 1}, {"ranks", o.ranks, 2}, {"nodes", o.nodes, 1},
		{"repetitions", o.repetitions, 1}, {"warmup", o.warmup, 0}} {
		if o.flags.Changed(n.name) && n.value < n.least {
			return &usageError{Text: fmt.Sprintf("--%s %d: %d or more is expected", n.name, n.value,
				n.least)}
		}
	}
	return nil
}

// calibrate measures a machine, or fits published tables.
func (a *app) calibrate(ctx context.Context, args []string, o *calibrateFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(o.from) > 0 {
		return a.calibrateTables(append(o.from[:len(o.from):len(o.from)], args...), o)
	}
	if len(args) != 1 {
		return &usageError{Text: "one scenario is expected, or --from with published tables",
			Hint: "for example: collsim calibrate lab.toml"}
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	c, err := a.planCalibration(args, o, options)
	if err != nil {
		return err
	}
	if err := a.takeOne(o.output, "--output"); err != nil {
		return err
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	err = a.measure(ctx, c, o.quiet)
	interrupted := ctx.Err()
	switch {
	case interrupted != nil && c.Fit == nil:
		return interrupted
	case interrupted == nil && err != nil:
		return a.measuringFailed(err)
	}
	if !o.quiet {
		a.print(a.err, report.CalibrationText(c))
	}
	object, err := report.CalibrationJSON(c)
	if err != nil {
		return err
	}
	err = a.writePresets([]preset{{name: o.output, text: c.Preset()}}, object, o)
	return cmp.Or(err, interrupted)
}

// options returns what the flags say about measuring.
func (o *calibrateFlags) options() (c run.CalibrateOptions, err error) {
	c = run.CalibrateOptions{Repetitions: o.repetitions, Warmup: o.warmup, Executor: o.hw}
	if o.sizes != "" {
		for _, text := range strings.Split(o.sizes, ",") {
			n, err := unit.ParseBytes(strings.TrimSpace(text))
			if err != nil {
				return c, flagValue("sizes", text, err)
			}
			if n < 4 || n%4 != 0 || n > unit.GiB {
				return c, &usageError{Text: fmt.Sprintf("--sizes %q: multiples of 4 B up to 1 GiB are "+
					"expected", text)}
			}
			c.Sizes = append(c.Sizes, n)
		}
	}
	if o.budget != "" {
		if c.Budget, err = unit.ParseBytes(o.budget); err != nil {
			return c, flagValue("budget", o.budget, err)
		}
		if c.Budget < 1 {
			return c, &usageError{Text: "--budget " + o.budget + ": more than nothing is expected"}
		}
	}
	return c, nil
}

// planCalibration reads the scenario and says what is going to be measured.
func (a *app) planCalibration(args []string, o *calibrateFlags,
	options run.CalibrateOptions) (*run.Calibration, error) {
	v := &validateFlags{hosts: o.hosts, listen: o.listen}
	v.hw = o.hw
	set, err := v.settings()
	if err != nil {
		return nil, err
	}
	load := run.LoadOptions{Set: append(o.set[:len(o.set):len(o.set)], set...)}
	if load.With, err = a.readWith(o.with); err != nil {
		return nil, err
	}
	list, err := a.loadAll(args, load)
	if err != nil {
		return nil, err
	}
	c, err := list[0].Calibration(options)
	if err != nil && !isScenarioError(err) {
		return nil, &usageError{File: args[0], Text: err.Error()}
	}
	return c, err
}

// measure opens the hardware and executes all experiments.
func (a *app) measure(ctx context.Context, c *run.Calibration, quiet bool) (err error) {
	if !quiet {
		a.print(a.err, c.Plan()+"\n")
	}
	h := c.Hardware()
	d, err := a.openHardware(ctx, &h, c.Graph)
	if err != nil {
		return err
	}
	var names []string
	for i := range c.Campaign.Experiments {
		names = append(names, c.Campaign.Experiments[i].Name)
	}
	p := a.newProgress("experiments", names, quiet)
	err = c.Measure(ctx, d, p.step)
	p.end()
	if closing := d.Close(); err == nil {
		err = closing
	}
	return err
}

// measuringFailed returns the error that ended a measurement, after printing what failed on the
// hardware.
func (a *app) measuringFailed(err error) error {
	var failure *hw.Error
	switch {
	case isScenarioError(err):
		return err
	case !errors.As(err, &failure):
		return unavailable(err)
	case a.wantsJSON():
		a.printJSON(a.err, []byte(jsonError(err)))
	default:
		a.print(a.err, plainError(err))
	}
	return errFailed
}

// preset is a text and the file that it goes to, "" for standard output.
type preset struct{ name, text string }

// writePresets writes files, then standard output: JSON if that is asked for.
func (a *app) writePresets(all []preset, object []byte, o *calibrateFlags) error {
	var out bytes.Buffer
	var lost error
	for _, p := range all {
		if p.name == "" {
			out.WriteString(p.text)
			continue
		}
		lost = cmp.Or(lost, writeFile(p.name, []byte(p.text)))
	}
	if o.json {
		a.printJSON(a.out, object)
	} else {
		a.printData(out.Bytes())
	}
	return lost
}
