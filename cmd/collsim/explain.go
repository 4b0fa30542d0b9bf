package main

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"collsim/report"
	"collsim/run"
)

func (a *app) explainCommand() *cobra.Command {
	var thresholds bool
	cmd := a.scenarioCommand(&cobra.Command{
		Use:   "explain FILE|example:NAME|- …",
		Short: "say what decides the time, and what if that were free",
		Long: "Explain simulates every point of the scenarios and prints what its critical path went " +
			"into, in shares that sum up to the time; what the time would be if the resource with the " +
			"largest share were infinitely fast, and if links had no latency, by simulation; the " +
			"published closed form; and what no schedule beats. Of a program shares are by op, and by " +
			"what an op spends its time on: kernels, links, barriers, launches, waiting for SMs. " +
			"Of NCCL's algorithms NCCL's own table follows, and what decided. Nothing is proven or " +
			"computed.",
		Example: "  collsim explain ring.toml\n" +
			"  collsim explain nccl.toml --thresholds\n" +
			"  collsim explain example:compare --only algorithm=ring --json",
	}, "collsim explain example:ring", func(ctx context.Context, list []*run.Scenario, asJSON,
		quiet bool) error {
		if thresholds {
			return a.explainThresholds(list, asJSON)
		}
		return a.explain(ctx, list, asJSON, quiet)
	})
	cmd.Flags().BoolVar(&thresholds, "thresholds", false, "print the sizes, from 8 B to 8 GiB, from "+
		"which on NCCL takes another algorithm or protocol")
	return cmd
}

// explainThresholds prints where NCCL switches; nothing is simulated.
func (a *app) explainThresholds(list []*run.Scenario, asJSON bool) error {
	var b bytes.Buffer
	for _, s := range list {
		found, err := s.Thresholds()
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return &usageError{File: s.File,
				Text: "there is no collective that NCCL chooses an algorithm for",
				Hint: `give it algorithm = "nccl:auto"`}
		case asJSON:
			text, err := report.ThresholdsJSON(s, found)
			if err != nil {
				return err
			}
			b.Write(text)
		default:
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(report.ThresholdsText(found))
		}
	}
	a.printEither(b.Bytes(), asJSON)
	return nil
}

// explain prints explanations: of what there was time for, if it is interrupted. JSON of several
// files is one object after the other. What "all" stands for and cannot do a point is left out.
func (a *app) explain(ctx context.Context, list []*run.Scenario,
	asJSON, quiet bool) error {
	of := pointsOf(list)
	p := a.newProgress("points", idsIn(of), quiet)
	all, interrupted := inTurn(ctx, p, func(i int) (e explained, err error) {
		if of[i].program != nil {
			e.program, err = of[i].s.ExplainProgram(of[i].program)
		} else {
			e.collective, err = of[i].s.Explain(of[i].p)
		}
		return e, err
	})
	if interrupted != nil && !isInterrupted(interrupted) {
		return interrupted
	}
	var b bytes.Buffer
	good := true
	for _, s := range list {
		var some []*run.Explanation
		var programs []*run.ProgramExplanation
		for i, e := range all {
			text := ""
			switch {
			case of[i].s != s:
				continue
			case e.program != nil:
				programs = append(programs, e.program)
				text = report.ProgramExplanationText(e.program)
			case e.collective != nil:
				good = good && e.collective.Result.Good()
				some = append(some, e.collective)
				text = report.ExplanationText(e.collective)
			default:
				continue
			}
			if asJSON {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(text)
		}
		if asJSON && (interrupted == nil || len(some)+len(programs) > 0) {
			text, err := report.ExplainJSON(s, some, programs)
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

// explained is the explanation of a collective, or of a program; or of neither, where a point is
// left out.
type explained struct {
	collective *run.Explanation
	program    *run.ProgramExplanation
}
