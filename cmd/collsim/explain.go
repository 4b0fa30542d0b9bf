package main

import (
	"strings"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
)

func (a *app) explainCommand() *cobra.Command {
	return scenarioCommand(&cobra.Command{
		Use:   "explain FILE|example:NAME|- …",
		Short: "say what decides the time, and what if that were free",
		Long: "Explain simulates every point of the scenarios and prints what its critical path went " +
			"into, in shares that sum up to the time; what the time would be if the resource with the " +
			"largest share were infinitely fast, and if links had no latency, by simulation; the " +
			"published closed form; and what no schedule beats. Nothing is proven or computed.",
		Example: "  collsim explain ring.toml\n" +
			"  collsim explain example:compare --only algorithm=ring --json",
	}, "collsim explain example:ring", a.explain)
}

// explain prints explanations. JSON of several files is one object after the other. What "all"
// stands for and cannot do a point is left out.
func (a *app) explain(names []string, o run.LoadOptions, asJSON bool) error {
	list, err := a.loadAll(names, o)
	if err != nil {
		return err
	}
	var b strings.Builder
	good := true
	for _, s := range list {
		var explanations []*run.Explanation
		for _, p := range s.Points {
			e, err := s.Explain(p)
			if err != nil {
				return err
			}
			if e == nil {
				continue
			}
			good = good && e.Result.Good()
			if explanations = append(explanations, e); !asJSON {
				if b.Len() > 0 {
					b.WriteString("\n")
				}
				b.WriteString(report.ExplanationText(e))
			}
		}
		if asJSON {
			text, err := report.ExplainJSON(s, explanations)
			if err != nil {
				return err
			}
			b.Write(text)
		}
	}
	a.print(a.out, b.String())
	if !good {
		return errFailed
	}
	return nil
}
