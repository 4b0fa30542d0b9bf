package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"collsim/compare"
	"collsim/formats/measured"
	"collsim/internal/prose"
	"collsim/page"
	"collsim/plots"
	"collsim/report"
	"collsim/run"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	json, quiet bool
	bits        bool
	failAbove   string
	curves      string
	report      string
	with        []string
	load        run.LoadOptions
}

const compareLong = `
Compare holds two tables of times against each other: each is a scenario, which is run, or a file of
times: a log of nccl-tests, results of collsim, or another of docs/measured.md. Calls are matched by
collective, size, type, operator, ranks, nodes, algorithm and protocol: nothing that both state may
differ. It prints both times, B over A and bus bandwidths of every call, then the median, the 90th
percentile, the calls that differ most, and what one side has alone. With --fail-above it exits with
1 where a call of B takes so much longer or less long than that of A. With --bits it compares what
two scenarios compute, and says where the first bit differs and why.`

func compareCommand(a *app) *cobra.Command {
	o := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "hold two scenarios, result files or logs against each other",
		Long:  joined(compareLong),
		Example: "  collsim compare good.log bad.log --curves both.svg\n" +
			"  collsim compare cluster.toml nccl-4n.log\n" +
			"  collsim compare before.jsonl cluster.toml --fail-above '5 %'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.compare(cmd.Context(), a, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	f.BoolVar(&o.bits, "bits", false, "compare the outputs of all ranks bit by bit, rather than "+
		"times; A may be a file of outputs: .npy, .npz or .safetensors")
	f.StringVar(&o.failAbove, "fail-above", "", "exit with 1 if the times of a call differ by more "+
		"than a `SHARE`, such as '5 %'")
	f.StringVar(&o.curves, "curves", "", "draw the bandwidths of both against the size: `FILE.svg`, "+
		".png or .pdf")
	f.StringVar(&o.report, "report", "", "write all of it as a page for a browser, in one file: "+
		"`FILE.html`")
	registerWith(f, &o.with)
	f.StringArrayVar(&o.load.Set, "set", nil, "replace a key of the scenarios: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.load.Only, "only", nil, "keep results of scenarios with these `KEY=VALUE,…`")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on standard error")
	return cmd
}

// compare prints how two tables of times compare.
func (o *compareFlags) compare(ctx context.Context, a *app, args []string) (err error) {
	if len(args) != 2 {
		return &usageError{Text: "two files are expected: scenarios, result files or logs",
			Hint: "for example: collsim compare good.log bad.log"}
	}
	if o.bits {
		return o.bitwise(ctx, a, args)
	}
	above, err := o.share()
	if err != nil {
		return err
	}
	if o.load.With, err = a.readWith(o.with); err != nil {
		return err
	}
	if o.curves != "" {
		if _, err := curveFormat(o.curves); err != nil {
			return err
		}
		if err := a.take(o.curves, "the curves"); err != nil {
			return err
		}
	}
	if err := claimPage(a, o.report); err != nil {
		return err
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	var sides [2]compare.Side
	for i, name := range args {
		if sides[i], err = o.table(ctx, a, name); err != nil {
			return err
		}
	}
	return o.print(a, compare.Of(sides[0], sides[1]), above)
}

// print prints and draws how two tables compare. It fails if nothing matches, or if a call differs
// by more than a share.
func (o *compareFlags) print(a *app, r *compare.Report, above float64) error {
	if o.curves != "" {
		if err := drawCurves(o.curves, bothCurves(r), bothOptions(r)); err != nil {
			return err
		}
	}
	bad := o.failAbove != "" && len(r.Above(above)) > 0
	if o.report != "" {
		if err := writePageFile(o.report, comparePage(a, r, report.CompareText(r), bad)); err != nil {
			return err
		}
	}
	if o.json {
		text, err := report.CompareJSON(r)
		if err != nil {
			return err
		}
		a.printJSON(a.out, text)
	} else {
		a.print(a.out, report.CompareText(r))
	}
	if len(r.Pairs) == 0 {
		return errFailed
	}
	if o.failAbove == "" {
		return nil
	}
	return o.judge(a, r, above)
}

// share reads --fail-above: "5 %" is 0.05.
func (o *compareFlags) share() (float64, error) {
	if o.failAbove == "" {
		return 0, nil
	}
	number, isPercent := strings.CutSuffix(strings.TrimSpace(o.failAbove), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(share >= 0 && share < 1e6) {
		return 0, &usageError{Text: fmt.Sprintf("--fail-above %.40q: a share is expected", o.failAbove),
			Hint: "for example: --fail-above '5 %'"}
	}
	if isPercent {
		share /= 100
	}
	return share, nil
}

// judge fails if a call differs by more than a share.
func (o *compareFlags) judge(a *app, r *compare.Report, above float64) error {
	failed := r.Above(above)
	if len(failed) == 0 {
		return nil
	}
	if !o.json {
		a.print(a.out, fmt.Sprintf("# FAILED   %d of %d calls differ by more than %s\n", len(failed),
			len(r.Pairs), strings.TrimSpace(o.failAbove)))
	}
	return errFailed
}

// table returns the times of a scenario, which is run, or of a file.
func (o *compareFlags) table(ctx context.Context, a *app, name string) (compare.Side, error) {
	side := compare.Side{Name: name}
	if !isScenario(name) {
		text, err := a.read(name)
		if err != nil {
			return side, err
		}
		data, err := measured.Read(name, text)
		if err != nil {
			return side, err
		}
		side.Rows = data.Rows
		for _, note := range data.Notes {
			o.note(a, note.String())
		}
		return side, nil
	}
	list, err := a.loadAll([]string{name}, o.load)
	if err != nil {
		return side, err
	}
	s := list[0]
	p := a.newProgress("results", idsOf(s), o.quiet)
	ran, err := s.Run(ctx, run.RunOptions{Done: func(*run.Result) { p.step() }})
	p.end()
	if err != nil {
		return side, err
	}
	side.Rows = ran.Rows()
	return side, nil
}

// note prints a note on how a file was read, unless output is for programs.
func (o *compareFlags) note(a *app, text string) {
	if !o.quiet && !o.json {
		a.print(a.err, "note: "+text+"\n")
	}
}

// bothCurves lists the bandwidths of two tables against the size, a curve for each table and
// collective.
func bothCurves(r *compare.Report) (all []plots.Series) {
	add := func(side, group string, look int, c *compare.Call) {
		of := curve(&all, side, group)
		of.Look = look
		at := c.BusBW
		if at == 0 && c.Time > 0 {
			at = c.AlgBW
		}
		if !slices.Contains(of.X, c.Size) { // runs of one file, which another names apart
			insert(of, c.Size, at)
		}
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		group := report.PairText(p)
		add("A "+r.A, group, 0, &p.A)
		add("B "+r.B, group, 1, &p.B)
	}
	return all
}

func bothOptions(r *compare.Report) plots.CurveOptions {
	return plots.CurveOptions{Title: "A and B", Caption: r.A + ", " + r.B + ", collsim " + run.Version}
}

// comparePage makes the page of two tables that are held against each other.
func comparePage(a *app, r *compare.Report, text string, bad bool) *page.Page {
	p := &page.Page{Title: r.A + " and " + r.B, Repeat: repeat(a),
		Lead: fmt.Sprintf("times of B over those of A: median %.3f, p90 %.3f of %s", r.Median, r.P90,
			prose.Plural(len(r.Pairs), "call"))}
	if bad {
		p.Verdicts = []page.Verdict{{Bad: true, Text: "calls differ by more than was asked for"}}
	}
	if len(r.Pairs) > 0 {
		p.Parts = append(p.Parts, tablePart("Calls",
			page.Table{Columns: report.CompareGrid(r), Heat: true}))
	}
	if all := bothCurves(r); areCurves(all) {
		p.Parts = append(p.Parts, page.Part{Title: "A and B",
			Curves: &page.Curves{Series: all, Options: bothOptions(r)}})
	}
	p.Parts = append(p.Parts, page.Part{Title: "In a terminal", Text: text})
	return p
}
