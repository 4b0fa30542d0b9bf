package main

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

func (a *app) checkCommand() *cobra.Command {
	return a.scenarioCommand(&cobra.Command{
		Use:   "check FILE|example:NAME|- …",
		Short: "read scenarios, and say what they will run and cost",
		Long: "Check expands scenarios and prints their points with what they will cost: steps and " +
			"messages, which are counted, time and memory, which are estimated. Nothing is run.",
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
			return &usageError{text: "a scenario is expected", hint: "for example: " + example}
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
		return of[i].s.Estimate(of[i].p)
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
	return interrupted
}

// pointOf is a point, and the scenario that it is of.
type pointOf struct {
	s *run.Scenario
	p *scenarios.Point
}

// pointsOf are the points of all scenarios.
func pointsOf(list []*run.Scenario) (all []pointOf) {
	for _, s := range list {
		for _, p := range s.Points {
			all = append(all, pointOf{s, p})
		}
	}
	return all
}

// idsIn are the names of points.
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
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of scenarios, for editors",
		Long: "Schema prints a JSON Schema of the scenario file. An editor that knows TOML (Even " +
			"Better TOML, Taplo) completes and checks keys with it: #:schema ./collsim.schema.json " +
			"in the first line of a scenario.",
		Example: "  collsim schema > collsim.schema.json",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{text: "schema takes no argument"}
			}
			text, err := scenarios.JSONSchema()
			if err == nil {
				a.printData(text)
			}
			return err
		},
	}
}
