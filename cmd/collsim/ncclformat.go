package main

import (
	"context"
	"fmt"
	"slices"

	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

// The formats of nccl-tests.
const (
	testsText = "nccl-tests"
	testsJSON = "nccl-tests-json"
)

// checkFormat refuses what --format does not know, or not with other flags.
func (o *runFlags) checkFormat() error {
	switch {
	case o.format != testsText && o.format != testsJSON:
		return &usageError{Text: fmt.Sprintf("--format %q: no format of that name", o.format),
			Hint: "there are table, nccl-tests and nccl-tests-json"}
	case o.hw != "" && o.hw != "sim":
		return &usageError{Text: "--format is of simulations",
			Hint: "with --hw nccl, nccl-tests' columns follow the table"}
	}
	return nil
}

// loadNCCLTests has scenarios be benchmarks of 20 calls in a row, nccl-tests' own -n, where they
// say nothing of it, and refuses what nccl-tests has no program or type for.
func (a *app) loadNCCLTests(args []string, load run.LoadOptions, list []*run.Scenario) (
	[]*run.Scenario, error) {
	bare := func(s *run.Scenario) bool {
		return slices.ContainsFunc(s.Points, func(p *scenarios.Point) bool {
			return p.Benchmark.Calls == 0
		})
	}
	for _, s := range list {
		if len(s.Programs) > 0 || len(s.Points) == 0 {
			return nil, &usageError{File: s.File,
				Text: "--format: nccl-tests runs collectives, not programs"}
		}
		for _, p := range s.Points {
			switch {
			case report.NCCLTestsKind(p.Spec.Kind) == "":
				return nil, &usageError{File: s.File, Hint: "leave it out with --only kind=…",
					Text: fmt.Sprintf("--format: nccl-tests has no table of %v", p.Spec.Kind)}
			case p.Spec.Type.NCCL() == "":
				return nil, &usageError{File: s.File,
					Text: fmt.Sprintf("--format: nccl-tests has no %v", p.Spec.Type)}
			}
		}
	}
	if !slices.ContainsFunc(list, bare) || slices.Contains(args, "-") {
		return list, nil
	}
	load.Set = append(slices.Clone(load.Set), "benchmark.calls=20")
	return a.loadAll(args, load)
}

// runInPlace simulates the calls of a scenario in place, or out of place where it has them in
// place. What cannot be done so is left out.
func (out *outputs) runInPlace(ctx context.Context, s *run.Scenario) error {
	if out.inPlace == nil {
		out.inPlace = report.InPlace{}
	}
	for _, p := range s.Points {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		twin := *p
		twin.Spec.InPlace = !p.Spec.InPlace
		twin.ID += "/in_place"
		if r, err := s.RunPoint(&twin, run.RunOptions{}); err == nil {
			out.inPlace[p] = r
		}
	}
	return nil
}

// printNCCLTests prints reports as nccl-tests would.
func (out *outputs) printNCCLTests(reports []*run.Report) error {
	if out.flags.format == testsText {
		out.app.print(out.app.out, report.NCCLTests(out.inPlace, reports...)+out.drawn.String())
		return nil
	}
	text, err := report.NCCLTestsJSON(out.inPlace, reports...)
	if err == nil {
		out.app.printJSON(out.app.out, text)
	}
	return err
}
