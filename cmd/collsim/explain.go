package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collsim/page"
	"collsim/report"
	"collsim/run"
)

func (a *app) explainCommand() *cobra.Command {
	var o explainFlags
	cmd := a.scenarioCommand(&cobra.Command{
		Use:   "explain FILE|example:NAME|- …",
		Short: "say what decides the time, and what if that were free",
		Long: "Explain simulates every point of the scenarios and prints what its critical path went " +
			"into, in shares that sum up to the time; what the time would be if the resource with the " +
			"largest share were infinitely fast, and if links had no latency, by simulation; the " +
			"published closed form; and what no schedule beats. Of a program shares are by op, and by " +
			"what an op spends its time on: kernels, links, barriers, launches, waiting for SMs; where " +
			"these are many, ops that differ in the counters of their loop alone are one line with " +
			"their number, as in \"layer* (×32): kernels\". " +
			"Of NCCL's algorithms NCCL's own table follows, and what decided. Nothing is proven or " +
			"computed.",
		Example: "  collsim explain ring.toml\n" +
			"  collsim explain nccl.toml --thresholds\n" +
			"  collsim explain example:compare --only algorithm=ring --json",
	}, "collsim explain example:ring", func(ctx context.Context, list []*run.Scenario, asJSON,
		quiet bool) error {
		if o.thresholds {
			return a.explainThresholds(list, asJSON)
		}
		if err := claimPage(a, o.to); err != nil {
			return err
		}
		o.json, o.quiet = asJSON, quiet
		return a.explain(ctx, list, &o)
	})
	cmd.Flags().StringVar(&o.to, "report", "", "write all of it, with timelines, as a page for a "+
		"browser, in one file: `FILE.html`")
	cmd.Flags().BoolVar(&o.thresholds, "thresholds", false, "print the sizes, from 8 B to 8 GiB, "+
		"from which on NCCL takes another algorithm or protocol")
	cmd.Flags().BoolVar(&o.all, "all", false, "print every op of a program, where turns of a loop "+
		"would be summed up")
	return cmd
}

// explainFlags are the flags of explain.
type explainFlags struct {
	thresholds, all, json, quiet bool
	to                           string // the page
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
func (a *app) explain(ctx context.Context, list []*run.Scenario, o *explainFlags) error {
	of := pointsOf(list)
	keep := run.RunOptions{}
	if len(of) <= mostDrawn && o.to != "" {
		keep = run.RunOptions{Trace: true, Links: true}
	}
	p := a.newProgress("points", idsIn(of), o.quiet)
	all, interrupted := inTurn(ctx, p, func(i int) (e explained, err error) {
		if of[i].program != nil {
			e.program, err = of[i].s.ExplainProgram(of[i].program, keep)
		} else {
			e.collective, err = of[i].s.Explain(of[i].p, keep)
		}
		return e, err
	})
	if interrupted != nil && !isInterrupted(interrupted) {
		return interrupted
	}
	good := !slices.ContainsFunc(all, func(e explained) bool {
		return e.collective != nil && !e.collective.Result.Good()
	})
	text := explainedText(all, o.all)
	if o.json {
		var err error
		if text, err = explainedJSON(list, of, all, interrupted == nil); err != nil {
			return err
		}
	}
	a.printEither(text, o.json)
	if o.to != "" {
		if err := writePageFile(o.to, explainPage(a, of, all, o.all)); err != nil {
			return err
		}
	}
	switch {
	case interrupted != nil:
		return interrupted
	case !good:
		return errFailed
	}
	return nil
}

// explainedText writes explanations as text.
func explainedText(all []explained, every bool) []byte {
	var texts []string
	for _, e := range all {
		switch {
		case e.program != nil:
			texts = append(texts, report.ProgramExplanationText(e.program, every))
		case e.collective != nil:
			texts = append(texts, report.ExplanationText(e.collective))
		}
	}
	return []byte(strings.Join(texts, "\n"))
}

// explainedJSON writes explanations as an object for each scenario. One without any is left out,
// unless all are whole.
func explainedJSON(list []*run.Scenario, of []pointOf, all []explained,
	whole bool) ([]byte, error) {
	var b bytes.Buffer
	for _, s := range list {
		var some []*run.Explanation
		var programs []*run.ProgramExplanation
		for i, e := range all {
			switch {
			case of[i].s != s:
			case e.program != nil:
				programs = append(programs, e.program)
			case e.collective != nil:
				some = append(some, e.collective)
			}
		}
		if !whole && len(some)+len(programs) == 0 {
			continue
		}
		text, err := report.ExplainJSON(s, some, programs)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}

// explained is the explanation of a collective, or of a program; or of neither, where a point is
// left out.
type explained struct {
	collective *run.Explanation
	program    *run.ProgramExplanation
}

// explainPage makes the page of explanations.
func explainPage(a *app, of []pointOf, all []explained, every bool) *page.Page {
	p := &page.Page{Title: "What decides the time", Repeat: repeat(a)}
	var names []string
	var drawn []onPage
	for i, e := range all {
		id := of[i].p.ID
		switch {
		case e.program != nil:
			r := e.program.Result
			p.Parts = append(p.Parts, page.Part{Title: id,
				Text: report.ProgramExplanationText(e.program, every)})
			drawn = append(drawn, onPage{programSubject(of[i].s, r), r.Links, r.Time})
		case e.collective != nil:
			r := e.collective.Result
			p.Parts = append(p.Parts, page.Part{Title: id, Text: report.ExplanationText(e.collective)},
				page.Part{Title: "Critical path of " + id, Minor: true,
					Table: &page.Table{Columns: report.ShareGrid(e.collective)}})
			drawn = append(drawn, onPage{resultSubject(r), r.Links, r.Time})
		default:
			continue
		}
		names = append(names, of[i].s.Name)
	}
	p.Lead = strings.Join(slices.Compact(names), ", ")
	drawn = slices.DeleteFunc(drawn, func(one onPage) bool { return one.of.trace == nil })
	if len(drawn) < len(all) {
		p.Notes = append(p.Notes, fmt.Sprintf("Timelines are on pages of up to %d points: --only "+
			"chooses some.", mostDrawn))
	}
	p.Parts = append(p.Parts, timelines(drawn)...)
	return p
}
