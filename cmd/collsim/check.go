package main

import (
	"strings"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

func (a *app) checkCommand() *cobra.Command {
	return scenarioCommand(&cobra.Command{
		Use:   "check FILE|example:NAME|- …",
		Short: "read scenarios, and say what they will run and cost",
		Long: "Check expands scenarios and prints their points with what they will cost: steps and " +
			"messages, which are counted, time and memory, which are estimated. Nothing is run.",
		Example: "  collsim check sweep.toml\n  collsim check example:compare --json",
	}, "collsim check example:compare", a.check)
}

// scenarioCommand completes a command that reads scenarios and prints text or JSON about their
// points. example is what to try for somebody who named none.
func scenarioCommand(cmd *cobra.Command, example string,
	carryOut func(names []string, o run.LoadOptions, asJSON bool) error) *cobra.Command {
	var o run.LoadOptions
	var asJSON bool
	var with []string
	cmd.ValidArgsFunction = completeScenarios
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &usageError{text: "a scenario is expected", hint: "for example: " + example}
		}
		var err error
		if o.With, err = readWith(with); err != nil {
			return err
		}
		return carryOut(args, o, asJSON)
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	registerWith(f, &with)
	f.StringArrayVar(&o.Set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.Only, "only", nil, "keep points with these `KEY=VALUE,…`")
	f.SortFlags = false
	return cmd
}

// check prints estimates. JSON of several files is one object after the other.
func (a *app) check(names []string, o run.LoadOptions, asJSON bool) error {
	list, err := a.loadAll(names, o)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, s := range list {
		var estimates []*run.Estimate
		for _, p := range s.Points {
			e, err := s.Estimate(p)
			if err != nil {
				return err
			}
			estimates = append(estimates, e)
		}
		if !asJSON {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(report.EstimateText(s, estimates))
			continue
		}
		text, err := report.EstimateJSON(s, estimates)
		if err != nil {
			return err
		}
		b.Write(text)
	}
	a.print(a.out, b.String())
	return nil
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
				a.print(a.out, string(text))
			}
			return err
		},
	}
}
