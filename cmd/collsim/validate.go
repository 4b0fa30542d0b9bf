package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
)

// validateFlags are the flags of validate beside those of run.
type validateFlags struct {
	runFlags
	hosts, listen string
	scatter       string
}

func (a *app) validateCommand() *cobra.Command {
	o := &validateFlags{}
	cmd := &cobra.Command{
		Use:   "validate FILE|example:NAME|- …",
		Short: "execute schedules for real, and hold bits and times against what was predicted",
		Long: "Validate carries out every point of the scenarios as run does, then executes its " +
			"schedule on the hardware of [hardware]: on ordinary processors (host: goroutines, processes " +
			"over sockets, several machines, a network lab), by messages and callbacks in one thread " +
			"(callbacks), on Open MPI (mpi), on GPUs of one or several machines (cuda), or by NCCL on " +
			"GPUs (nccl). It prints simulated and measured times side by side, the error by algorithm, " +
			"and whether the bits are those that " +
			"the schedule gives. It exits with 1 outside of the scenario's tolerance, with 3 where the " +
			"hardware is not there. See docs/hardware.md.",
		Example: "  collsim validate ring.toml --hw host\n" +
			"  collsim validate ring.toml --hw mpi --set hardware.library=true\n" +
			"  collsim validate lab.toml --with calibrated.toml --scatter fidelity.svg",
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.validate(cmd.Context(), args, o)
		},
	}
	o.register(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&o.hosts, "hosts", "", "machines that the ranks are on: `A,B,…`; "+
		"what to start on others than localhost is said")
	f.StringVar(&o.listen, "listen", "", "`ADDRESS` at which ranks of other machines reach this one")
	f.StringVar(&o.scatter, "scatter", "", "draw measured against simulated times to `FILE.svg`, "+
		".png or .pdf")
	f.Lookup("report").Usage = "write all of it as a page for a browser to `FILE.html`, or as " +
		"Markdown to .md"
	return cmd
}

// settings returns the keys of a scenario that the hardware flags stand for.
func (o *validateFlags) settings() (set []string, err error) {
	if o.hw != "" {
		if err := checkExecutor(o.hw); err != nil {
			return nil, err
		}
		if o.hw == "sim" {
			return nil, &usageError{Text: "--hw sim: validate executes for real; to simulate: collsim run"}
		}
		set = append(set, "hardware.executor="+strconv.Quote(o.hw))
	}
	if o.hosts != "" {
		var list []string
		for _, name := range strings.Split(o.hosts, ",") {
			list = append(list, strconv.Quote(strings.TrimSpace(name)))
		}
		set = append(set, "hardware.hosts=["+strings.Join(list, ", ")+"]")
	}
	if o.listen != "" {
		set = append(set, "hardware.listen="+strconv.Quote(o.listen))
	}
	return set, nil
}

// validate simulates scenarios and executes them on hardware.
func (a *app) validate(ctx context.Context, args []string, o *validateFlags) error {
	if len(args) == 0 {
		return &usageError{Text: "a scenario is expected",
			Hint: "for example: collsim validate example:ring"}
	}
	if err := o.check(); err != nil {
		return err
	}
	load, err := o.load(a)
	if err != nil {
		return err
	}
	set, err := o.settings()
	if err != nil {
		return err
	}
	load.Set = append(load.Set[:len(load.Set):len(load.Set)], set...)
	list, err := a.loadAll(args, load)
	if err != nil {
		return err
	}
	out, err := a.newOutputs(list, &o.runFlags, func() error {
		return a.checkValidation(o)
	})
	if err != nil {
		return err
	}
	out.writeNetworks()
	out.table = report.ValidationText
	a.outliveReader()
	ctx, stop := a.interruptible(ctx)
	defer stop()
	reports, ended := a.validateAll(ctx, list, out)
	if len(reports) == 0 {
		return ended
	}
	a.writeValidation(reports, o, out)
	return a.finish(reports, out, ended)
}

// validateAll returns the reports of all scenarios; with an error those of what was finished before
// it.
func (a *app) validateAll(ctx context.Context, list []*run.Scenario,
	out *outputs) (reports []*run.Report, err error) {
	executed := false
	for i, s := range list {
		report, err := a.validateOne(ctx, s, i, out)
		if report != nil {
			reports = append(reports, report)
		}
		if err != nil {
			return reports, err
		}
		for _, r := range report.Results {
			executed = executed || r.Measured.Skipped == "" || !r.Good()
		}
		for _, r := range report.Programs {
			executed = executed || r.Measured.Skipped == "" || !r.Good()
		}
	}
	if !executed {
		return nil, &unavailableError{what: "nothing was executed: " + firstReason(reports)}
	}
	return reports, nil
}

// firstReason says why the first result was not executed.
func firstReason(reports []*run.Report) string {
	for _, report := range reports {
		for _, r := range report.Results {
			return r.Point.ID + ": " + r.Measured.Skipped
		}
	}
	return "there are no results"
}

// validateOne runs one scenario and executes it.
func (a *app) validateOne(ctx context.Context, s *run.Scenario, index int,
	out *outputs) (*run.Report, error) {
	p := a.newProgress("results", idsOf(s), out.flags.quiet)
	out.begin(s, p)
	o := run.ValidateOptions{RunOptions: out.options(index), Open: a.openHardware,
		Memory: memoryLeft}
	o.Done = func(r *run.Result) {
		out.take(index, r)
		r.Trace, r.Outputs, r.Measured.Trace = nil, nil, nil
		if r.Gradient == nil {
			p.step()
		}
	}
	o.Program = func(r *run.ProgramResult) {
		out.takeProgram(index, r)
		r.Trace, r.Measured.Trace = nil, nil
		p.step()
	}
	report, err := s.Validate(ctx, o)
	p.end()
	out.end(report)
	if !isScenarioError(err) {
		err = unavailable(err)
	}
	return report, err
}

// isScenarioError reports whether an error has a place in a scenario.
func isScenarioError(err error) bool { return len(scenarioErrors(err)) > 0 }
