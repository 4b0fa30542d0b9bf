package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"collsim/collective"
	"collsim/diagnose"
	"collsim/formats/measured"
	"collsim/page"
	"collsim/plots"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// diagnoseFlags are the flags of diagnose.
type diagnoseFlags struct {
	json, quiet bool
	csv, curves string
	report      string
	with        []string
	load        run.LoadOptions
}

const diagnoseLong = `
Diagnose simulates single changes of a scenario, one after the other: a slow or absent NIC, slow
links, an oversubscribed network, a slow GPU, another algorithm, protocol or number of channels, and
more. It ranks them by how far their times are from those of a log, and prints the nearest three,
how well each fits and what would tell it apart. Changes whose times differ by less than the noise
are named together. It exits with 1 where none fits. docs/diagnose.md says how often it is right.

Without a scenario it reads what a job that hangs has left: dumps of PyTorch's flight recorder, the
answer of NCCL's RAS, NCCL's log of calls, messages of PyTorch's watchdog, traces. It says which
rank is missing in which call, whose call differs, and who waits for whom; it exits with 1 where a
rank waits or a call differs.`

func diagnoseCommand(a *app) *cobra.Command {
	o := &diagnoseFlags{}
	cmd := &cobra.Command{
		Use:   "diagnose LOG FILE|DUMP …",
		Short: "find the change of a scenario that explains a log, or why a job hangs",
		Long:  joined(diagnoseLong),
		Example: "  collsim diagnose slow.log cluster.toml\n" +
			"  collsim diagnose slow.log cluster.toml --csv causes.csv --curves fit.svg\n" +
			"  collsim diagnose 'nccl_trace_rank_{rank}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if ofHang(args) {
				return o.hang(cmd, a, args)
			}
			return o.diagnose(cmd.Context(), a, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	f.StringVar(&o.csv, "csv", "", "write all causes, a line each: `FILE` or - for standard output")
	f.StringVar(&o.curves, "curves", "", "draw the log, the scenario and the nearest cause: "+
		"`FILE.svg`, .png or .pdf")
	f.StringVar(&o.report, "report", "", "write all of it as a page for a browser, in one file: "+
		"`FILE.html`")
	registerWith(f, &o.with)
	f.StringArrayVar(&o.load.Set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.load.Only, "only", nil, "take the results alone that have `KEY=VALUE`")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on standard error")
	return cmd
}

// diagnose prints which causes explain a log.
func (o *diagnoseFlags) diagnose(ctx context.Context, a *app, args []string) (err error) {
	if len(args) != 2 || slices.Contains(args, "-") {
		return &usageError{Text: "a log and a scenario are expected, both files",
			Hint: "for example: collsim diagnose slow.log cluster.toml"}
	}
	if o.load.With, err = a.readWith(o.with); err != nil {
		return err
	}
	if o.curves != "" {
		if _, err := curveFormat(o.curves); err != nil {
			return err
		}
	}
	for _, one := range [][2]string{{o.csv, "the causes"}, {o.curves, "the curves"}} {
		if err := a.take(one[0], one[1]); err != nil {
			return err
		}
	}
	if err := claimPage(a, o.report); err != nil {
		return err
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	d, err := o.rank(ctx, a, args[0], args[1])
	if err != nil {
		return err
	}
	if err := o.print(a, args[0], d); err != nil {
		return err
	}
	if !d.Found {
		return errFailed
	}
	return nil
}

// print writes what was found in the forms that the flags ask for.
func (o *diagnoseFlags) print(a *app, log string, d *diagnose.Diagnosis) error {
	switch text, err := report.DiagnosisJSON(log, d); {
	case err != nil:
		return err
	case o.json:
		a.printJSON(a.out, text)
	case o.csv != "-":
		a.print(a.out, report.DiagnosisText(log, d))
	}
	switch o.csv {
	case "":
	case "-":
		a.print(a.out, report.DiagnosisCSV(d))
	default:
		if err := writeFile(o.csv, []byte(report.DiagnosisCSV(d))); err != nil {
			return err
		}
	}
	if o.report != "" {
		if err := writePageFile(o.report, diagnosePage(a, log, d)); err != nil {
			return err
		}
	}
	if o.curves == "" {
		return nil
	}
	return drawCurves(o.curves, fitCurves(log, d), fitOptions(log))
}

// rank simulates every cause and ranks them by a log.
func (o *diagnoseFlags) rank(ctx context.Context, a *app, log, file string) (*diagnose.Diagnosis,
	error) {
	text, err := a.read(log)
	if err != nil {
		return nil, err
	}
	data, err := measured.Read(log, text)
	if err != nil {
		return nil, err
	}
	list, err := a.loadAll([]string{file}, o.load)
	if err != nil {
		return nil, err
	}
	points := list[0].Points
	if err := single(file, list[0]); err != nil {
		return nil, err
	}
	sizes, err := sizesIn(data.Rows, points, log)
	if err != nil {
		return nil, err
	}
	g, err := points[0].Topology.Graph()
	if err != nil {
		return nil, err
	}
	if log, err = filepath.Abs(log); err != nil {
		return nil, err
	}
	causes := diagnose.Causes(points[0], g)
	names := make([]string, len(causes))
	for i := range causes {
		names[i] = causes[i].Name()
	}
	p := a.newProgress("causes", names, o.quiet)
	defer p.end()
	return diagnosed(causes, func(c *diagnose.Cause) (*run.Report, error) {
		defer p.step()
		load := o.load
		load.With = append(slices.Clone(load.With),
			scenarios.With{Name: c.Name(), Text: diagnose.Overlay(c, log, sizes)})
		list, err := a.loadAll([]string{file}, load)
		if err != nil {
			return nil, err
		}
		return list[0].Run(ctx, run.RunOptions{})
	})
}

// diagnosed ranks causes by what simulating each one returns. A cause that the scenario refuses,
// such as fewer NICs than it needs, is left out.
func diagnosed(causes []diagnose.Cause, simulate func(*diagnose.Cause) (*run.Report, error)) (
	*diagnose.Diagnosis, error) {
	asIs, err := simulate(&causes[0])
	if err != nil {
		return nil, err
	}
	calls, err := callsOf(asIs)
	if err != nil {
		return nil, err
	}
	candidates := []diagnose.Candidate{{Cause: causes[0], Times: perCall(asIs)}}
	for i := range causes[1:] {
		c := &causes[1+i]
		ran, err := simulate(c)
		switch {
		case refused(err):
		case err != nil:
			return nil, err
		case len(ran.Results) == len(calls):
			candidates = append(candidates, diagnose.Candidate{Cause: *c, Times: perCall(ran)})
		}
	}
	return diagnose.Rank(calls, candidates), nil
}

// refused reports whether an error says that a scenario cannot be.
func refused(err error) bool {
	var wrong *scenarios.Errors
	var one *scenarios.Error
	var refusal *scenarios.Refusal
	return errors.As(err, &wrong) || errors.As(err, &one) || errors.As(err, &refusal)
}

// single refuses a scenario that does not say once how a collective is done.
func single(file string, s *run.Scenario) error {
	type call struct {
		kind      collective.Kind
		algorithm string
		network   *scenarios.Topology
	}
	first := call{}
	for _, p := range s.Points {
		own := call{p.Spec.Kind, p.Algorithm.String(), p.Topology}
		if first.kind == 0 {
			first = own
		}
		if p.Variant() != "" || own.network != first.network ||
			own.kind == first.kind && own.algorithm != first.algorithm {
			return &usageError{File: file, Text: "one network and one algorithm of each collective are " +
				"expected, and no variants", Hint: "--only algorithm=…, or --set 'variant=[]'"}
		}
	}
	if first.kind == 0 {
		return &usageError{File: file, Text: "a collective is expected"}
	}
	return nil
}

// sizesIn lists the sizes of a log that a diagnosis simulates, ascending: few of them, since every
// cause is simulated for each.
func sizesIn(rows []measured.Row, points []*scenarios.Point, log string) ([]unit.Bytes, error) {
	const most, small = 6, 4 << 10 // small sizes take the same time
	var sizes []unit.Bytes
	for i := range rows {
		r := &rows[i]
		if r.Size == 0 || !slices.ContainsFunc(points, func(p *scenarios.Point) bool {
			return (r.Kind == 0 || r.Kind == p.Spec.Kind) && (r.Ranks == 0 || r.Ranks == p.Spec.Ranks)
		}) {
			continue
		}
		size := r.Size
		if r.PerRank {
			size *= unit.Bytes(points[0].Spec.Ranks)
		}
		sizes = append(sizes, size)
	}
	if len(sizes) == 0 {
		p := points[0]
		return nil, &usageError{File: log, Text: fmt.Sprintf("it has no %v of %d ranks, which the "+
			"scenario does", p.Spec.Kind, p.Spec.Ranks), Hint: whatIs(rows)}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	if at, _ := slices.BinarySearch(sizes, small); len(sizes)-at >= most {
		sizes = sizes[at:]
	}
	return diagnose.Sizes(sizes, most), nil
}

// whatIs describes the first row of a log.
func whatIs(rows []measured.Row) string {
	if len(rows) == 0 {
		return ""
	}
	return fmt.Sprintf("it has %v of %d ranks", rows[0].Kind, rows[0].Ranks)
}

// callsOf returns the measured calls of a report. A result without one is an error.
func callsOf(r *run.Report) (calls []diagnose.Call, err error) {
	for _, one := range r.Results {
		if one.Logged == nil {
			p := one.Point
			return nil, &usageError{File: p.Measured.Name, Text: fmt.Sprintf("it has no %v of %v, %d "+
				"ranks and %v, which the scenario does", p.Spec.Kind, p.Asked, p.Spec.Ranks, p.Spec.Type)}
		}
		calls = append(calls, diagnose.Call{Kind: one.Point.Spec.Kind, Size: one.Point.Asked,
			Time: one.Logged.Time, Spread: one.Logged.Spread, BusBW: one.Logged.BusBW})
	}
	return calls, nil
}

// perCall returns the simulated times of a report.
func perCall(r *run.Report) (times []unit.Time) {
	for _, one := range r.Results {
		times = append(times, one.PerCall())
	}
	return times
}

// fitCurves lists the bandwidths of a log, of the scenario as it is and of the nearest cause.
func fitCurves(log string, d *diagnose.Diagnosis) (all []plots.Series) {
	measured := make([]unit.Time, len(d.Calls))
	for i, c := range d.Calls {
		measured[i] = c.Time
	}
	for look, one := range []struct {
		name  string
		times []unit.Time
	}{{log, measured}, {diagnose.AsIs, d.AsIs.Times}, {d.Fits[0].Causes[0].Name(), d.Fits[0].Times}} {
		for i, c := range d.Calls {
			of := curve(&all, one.name, c.Kind.String())
			of.Look = look
			if one.times[i] > 0 {
				insert(of, c.Size, c.BusBW*float64(c.Time)/float64(one.times[i]))
			}
		}
	}
	return all
}

func fitOptions(log string) plots.CurveOptions {
	return plots.CurveOptions{Title: "what fits " + log, Caption: "collsim " + run.Version}
}

// diagnosePage makes the page of a diagnosis.
func diagnosePage(a *app, log string, d *diagnose.Diagnosis) *page.Page {
	p := &page.Page{Title: "What explains " + log, Repeat: repeat(a),
		Verdicts: []page.Verdict{{Bad: !d.Found, Text: report.DiagnosisVerdict(d)}}}
	if all := fitCurves(log, d); areCurves(all) {
		p.Parts = append(p.Parts, page.Part{Title: "Log, scenario, nearest cause",
			Curves: &page.Curves{Series: all, Options: fitOptions(log)}})
	}
	p.Parts = append(p.Parts, page.Part{Title: "In a terminal", Text: report.DiagnosisText(log, d)},
		tablePart("All causes", page.Table{Columns: report.CauseGrid(d)}))
	return p
}
