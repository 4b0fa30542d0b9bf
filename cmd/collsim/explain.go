package main

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
)

func (a *app) explainCommand() *cobra.Command {
	return a.scenarioCommand(&cobra.Command{
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

// explain prints explanations: of what there was time for, if it is interrupted. JSON of several
// files is one object after the other. What "all" stands for and cannot do a point is left out.
func (a *app) explain(ctx context.Context, list []*run.Scenario,
	asJSON, quiet bool) error {
	of := pointsOf(list)
	p := a.newProgress("points", idsIn(of), quiet)
	all, interrupted := inTurn(ctx, p, func(i int) (*run.Explanation, error) {
		return of[i].s.Explain(of[i].p)
	})
	if interrupted != nil && !isInterrupted(interrupted) {
		return interrupted
	}
	var b bytes.Buffer
	good := true
	for _, s := range list {
		var some []*run.Explanation
		for i, e := range all {
			if of[i].s != s || e == nil {
				continue
			}
			good = good && e.Result.Good()
			if some = append(some, e); asJSON {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(report.ExplanationText(e))
		}
		if asJSON && (interrupted == nil || len(some) > 0) {
			text, err := report.ExplainJSON(s, some)
			if err != nil {
				return err
			}
			b.Write(text)
		}
	}
	a.printEither(b.Bytes(), asJSON)
	switch {
	case interrupted != nil:
		return interrupted
	case !good:
		return errFailed
	}
	return nil
}
