package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

func (a *app) checkCommand() *cobra.Command {
	return a.scenarioCommand(&cobra.Command{
		Use:   "check FILE|example:NAME|- …",
		Short: "read scenarios, and say what they will run and cost",
		Long: "Check expands scenarios and prints their points with what there is to do: steps, " +
			"messages and bytes of all ranks, which are counted, at most how much memory that " +
			"takes on one core, and the order of magnitude of the time. Nothing is run.",
		Example: "  collsim check sweep.toml\n  collsim check example:compare --json",
	}, "collsim check example:compare", a.check)
}

// scenarioCommand completes a command that reads scenarios and prints text or JSON about their
// points. example is what to try for somebody who named none.
func (a *app) scenarioCommand(cmd *cobra.Command, example string,
	carryOut func(_ context.Context, _ []*run.Scenario, asJSON, quiet bool) error) *cobra.Command {
	var o run.LoadOptions
	var asJSON, quiet bool
	var with []string
	cmd.ValidArgsFunction = completeScenarios
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &usageError{Text: "a scenario is expected", Hint: "for example: " + example}
		}
		var err error
		if o.With, err = a.readWith(with); err != nil {
			return err
		}
		list, err := a.loadAll(args, o)
		if err != nil {
			return err
		}
		ctx, stop := a.interruptible(cmd.Context())
		defer stop()
		return carryOut(ctx, list, asJSON, quiet)
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	registerWith(f, &with)
	f.StringArrayVar(&o.Set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.Only, "only", nil, "keep points with these `KEY=VALUE,…`")
	f.BoolVar(&quiet, "quiet", false, "no progress on standard error")
	f.SortFlags = false
	return cmd
}

// check prints estimates: of what there was time for, if it is interrupted. JSON of several files
// is one object after the other.
func (a *app) check(ctx context.Context, list []*run.Scenario, asJSON, quiet bool) error {
	of := pointsOf(list)
	p := a.newProgress("points", idsIn(of), quiet)
	estimates, interrupted := inTurn(ctx, p, func(i int) (*run.Estimate, error) {
		return estimate(of[i])
	})
	if interrupted != nil && !isInterrupted(interrupted) {
		return interrupted
	}
	var b bytes.Buffer
	for _, s := range list {
		var some []*run.Estimate
		for i, e := range estimates {
			if of[i].s == s {
				some = append(some, e)
			}
		}
		switch {
		case interrupted != nil && len(some) == 0:
		case asJSON:
			text, err := report.EstimateJSON(s, some)
			if err != nil {
				return err
			}
			b.Write(text)
		default:
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(report.EstimateText(s, some))
		}
	}
	a.printEither(b.Bytes(), asJSON)
	if note := noteTooLarge(estimates, freeMemory()); !quiet {
		a.print(a.err, note)
	}
	return interrupted
}

// estimate counts what there is to do for a point.
func estimate(of pointOf) (*run.Estimate, error) {
	if of.program != nil {
		return of.s.EstimateProgram(of.program)
	}
	return of.s.Estimate(of.p)
}

// noteTooLarge says which points a run would refuse, or leave out, for their memory. That is not of
// the scenario but of here and now, so it is a note; empty if there are none.
func noteTooLarge(estimates []*run.Estimate, free run.Memory) string {
	var large []*run.Estimate
	for _, e := range estimates {
		if free.Bytes > 0 && e.Memory > free.Bytes {
			large = append(large, e)
		}
	}
	if len(large) == 0 {
		return ""
	}
	return fmt.Sprintf("note: %s has %v left: %s more than that, beginning with %s\n", free.Of,
		free.Bytes, pointsTake(len(large)), large[0].Point.ID)
}

// pointOf is a point, and the scenario that it is of.
type pointOf struct {
	s       *run.Scenario
	p       *scenarios.Point
	program *scenarios.ProgramPoint // that the point is of; nil: of a collective
}

// pointsOf lists the points of all scenarios, and behind those of each its programs.
func pointsOf(list []*run.Scenario) (all []pointOf) {
	for _, s := range list {
		for _, p := range s.Points {
			all = append(all, pointOf{s, p, nil})
		}
		for _, p := range s.Programs {
			all = append(all, pointOf{s, p.Point, p})
		}
	}
	return all
}

// idsIn lists the names of points.
func idsIn(of []pointOf) (names []string) {
	for _, one := range of {
		names = append(names, one.p.ID)
	}
	return names
}

// printEither prints JSON or a text.
func (a *app) printEither(text []byte, asJSON bool) {
	if asJSON {
		a.printJSON(a.out, text)
		return
	}
	a.print(a.out, string(text))
}

func (a *app) schemaCommand() *cobra.Command {
	schemas := map[string]func() ([]byte, error){"scenario": scenarios.JSONSchema,
		"results": report.JSONSchema}
	return &cobra.Command{
		Use:   "schema [scenario|results]",
		Short: "print the JSON Schema of scenarios, for editors, or of results",
		Long: "Schema prints a JSON Schema of the scenario file. An editor that knows TOML (Even " +
			"Better TOML, Taplo) completes and checks keys with it: #:schema ./collsim.schema.json " +
			"in the first line of a scenario. The schema of results is that of --json, and of a line " +
			"of --jsonl, for programs that read them.",
		Example: "  collsim schema > collsim.schema.json\n" +
			"  collsim schema results > results.schema.json",
		ValidArgs: []string{"scenario", "results"},
		RunE: func(_ *cobra.Command, args []string) error {
			what := append(args, "scenario")[0]
			if schemas[what] == nil || len(args) > 1 {
				return &usageError{Text: fmt.Sprintf("schema is of scenario or results, not of %q",
					strings.Join(args, " "))}
			}
			text, err := schemas[what]()
			if err == nil {
				a.printData(text)
			}
			return err
		},
	}
}

// pointsTake begins a sentence about so many points: "2 points take".
func pointsTake(n int) string {
	if n == 1 {
		return "1 point takes"
	}
	return fmt.Sprintf("%d points take", n)
}
