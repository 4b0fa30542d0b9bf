package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collsim/plots"
	"collsim/report"
	"collsim/run"
)

const mapLong = `
Map says which algorithm is the fastest where: a table of sizes across and numbers of ranks down,
or of any two keys that points differ in, with the winner of each cell and the lower bound as a
share of its time. It runs scenarios, or reads results back that were printed with --jsonl.`

// mapFlags are the flags of map.
type mapFlags struct {
	reportFlags
	x, y, plot, cells string
}

func mapCommand(a *app) *cobra.Command {
	o := &mapFlags{}
	cmd := &cobra.Command{
		Use:   "map FILE|example:NAME|RESULTS.jsonl …",
		Short: "which algorithm wins where: sizes by ranks, or any two keys",
		Long:  joined(mapLong),
		Example: "  collsim map sweep.toml\n" +
			"  collsim map example:map --y preset --only topology.nodes=1\n" +
			"  collsim map results.jsonl --plot winners.svg",
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return mapOf(cmd.Context(), a, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.x, "x", "", "the `KEY` across: bytes, unless it is given")
	f.StringVar(&o.y, "y", "", "the `KEY` down: ranks, or what else points differ in")
	f.StringVar(&o.plot, "plot", "", "draw the map to `FILE.svg`, .png or .pdf: the winner's colour, "+
		"deeper where it is nearer to the bound")
	f.StringVar(&o.cells, "csv", "", "write a line for each cell to `FILE`, with the second, too; - "+
		"is standard output")
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.register(all)
	for _, name := range []string{"report", "figure", "with", "set", "only", "seed", "quiet"} {
		f.AddFlag(all.Lookup(name))
	}
	f.StringVar(&o.scenario, "scenario", "", "read the scenario of results from `FILE`, rather than "+
		"from where the lines say it is")
	f.SortFlags = false
	o.flags, o.flagsAlone = f, true
	return cmd
}

// mapOf prints and draws the map of scenarios, or of results.
func mapOf(ctx context.Context, a *app, o *mapFlags, args []string) error {
	if len(args) == 0 {
		return &usageError{Text: "a scenario is expected, or a file of results",
			Hint: "for example: collsim map example:map --only topology.nodes=1"}
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.plot != "" {
		if _, err := plots.FormatOf(o.plot); err != nil {
			return &usageError{File: o.plot, Text: "a map has no such format",
				Hint: "let the name end in .svg, .png or .pdf"}
		}
	}
	reports, out, ended := o.results(ctx, a, args)
	if out == nil || len(reports) == 0 {
		return ended
	}
	m, err := report.NewWinners(o.x, o.y, reports...)
	if err != nil {
		return errors.Join(mapError(err), ended)
	}
	out.instead = m.Text
	if o.cells == "-" {
		out.instead = func(...*run.Report) string { return "" }
		text, err := m.CSV()
		if err != nil {
			return err
		}
		a.printData(text)
	}
	out.lose(o.writeMap(out, m))
	return a.finish(reports, out, ended)
}

// results runs scenarios, or reads results back. It refuses a map that cannot be made before
// anything is run.
func (o *mapFlags) results(ctx context.Context, a *app, args []string) (reports []*run.Report,
	out *outputs, err error) {
	lines := filepath.Ext(args[0]) == ".jsonl"
	var list []*run.Scenario
	if lines {
		found, err := readLines(a, args)
		if err == nil {
			reports, err = o.readBack(a, found)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, r := range reports {
			list = append(list, r.Scenario)
		}
	} else {
		load, err := o.load(a)
		if err == nil {
			list, err = a.loadAll(args, load)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	var empty []*run.Report
	for _, s := range list {
		empty = append(empty, &run.Report{Scenario: s})
	}
	if _, err := report.NewWinners(o.x, o.y, empty...); err != nil {
		return nil, nil, mapError(err)
	}
	for _, one := range []struct{ name, flag string }{{o.plot, "--plot"}, {o.cells, "--csv"}} {
		if err := a.takeOne(one.name, one.flag); err != nil {
			return nil, nil, err
		}
	}
	if out, err = a.newOutputs(list, &o.runFlags, nil); err != nil || lines {
		if out != nil {
			out.fromLines = lines
		}
		return reports, out, err
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	for i, s := range list {
		r, err := a.runOne(ctx, s, i, out)
		if r != nil {
			reports = append(reports, r)
		}
		if err != nil {
			return reports, out, err
		}
	}
	return reports, out, nil
}

// mapError says which flag is wrong.
func mapError(err error) error {
	var wrong *report.PivotError
	if !errors.As(err, &wrong) {
		return err
	}
	text := "the map: " + wrong.Text
	if strings.Contains(wrong.Text, "no such key") {
		text = map[bool]string{true: "--x ", false: "--y "}[wrong.Across] + wrong.Text
	}
	return &usageError{Text: text, Hint: wrong.Hint}
}

// writeMap writes the files of a map.
func (o *mapFlags) writeMap(out *outputs, m *report.Winners) error {
	if o.cells != "" && o.cells != "-" {
		text, err := m.CSV()
		if err == nil {
			err = writeFile(o.cells, text)
		}
		if err != nil {
			return err
		}
	}
	if o.plot == "" {
		return nil
	}
	content, err := drawMap(out, m, o.plot)
	if err != nil {
		return err
	}
	return writeFile(o.plot, content)
}
