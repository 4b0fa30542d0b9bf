package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/shards"
)

// divided returns the part of each scenario that --shard and --resume leave; nil if neither is
// given.
func (o *runFlags) divided(a *app, list []*run.Scenario) (parts []*run.Scenario, err error) {
	if o.shard == "" && o.resume == nil {
		return nil, nil
	}
	flag := "--shard"
	if o.shard == "" {
		flag = "--resume"
	}
	if !o.jsonl {
		return nil, &usageError{Text: flag + " needs --jsonl", Hint: "collsim merge makes one table of " +
			"what parts have printed"}
	}
	var shard shards.Shard
	if o.shard != "" {
		if shard, err = shards.Parse(o.shard, os.Getenv); err != nil {
			return nil, &usageError{Text: "--shard " + err.Error()}
		}
	}
	done, err := readLines(a, o.resume)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if len(s.Programs) > 0 {
			return nil, &usageError{File: s.File, Text: flag + " divides points of collectives; it has " +
				"a program"}
		}
		var left []*scenarios.Point
		for _, p := range shards.Of(shard, s.Points, costOf) {
			if !isDone(done, p) {
				left = append(left, p)
			}
		}
		parts = append(parts, s.Of(left))
	}
	return parts, nil
}

// costOf orders points roughly by the time that they take.
func costOf(p *scenarios.Point) float64 {
	ranks := float64(p.Topology.Ranks)
	return ranks * ranks * (1 + float64(p.Spec.Bytes())/(1<<20))
}

// pointsIn returns a point, and that of its backward pass if it has one.
func pointsIn(p *scenarios.Point) []*scenarios.Point {
	if p.Gradient == scenarios.NoGradient {
		return []*scenarios.Point{p}
	}
	return []*scenarios.Point{p, p.Backward()}
}

func identityOf(p *scenarios.Point) shards.Point {
	return shards.Point{ID: p.ID, Digest: p.Digest(run.Version)}
}

// isDone reports whether lines have all that comes of a point.
func isDone(lines *shards.Lines, p *scenarios.Point) bool {
	if _, skipped := lines.Skipped(identityOf(p)); skipped {
		return true
	}
	for _, one := range pointsIn(p) {
		if !lines.Has(identityOf(one)) {
			return false
		}
	}
	return true
}

// readLines reads files of results; - is standard input.
func readLines(a *app, names []string) (*shards.Lines, error) {
	lines := shards.NewLines()
	for _, name := range names {
		text, err := a.read(name)
		if err != nil {
			return nil, err
		}
		if err := lines.Read(name, bytes.NewReader(text)); err != nil {
			return nil, &usageError{Text: err.Error()}
		}
	}
	return lines, nil
}

// partOfSweep returns the part of a scenario that is run.
func partOfSweep(out *outputs, index int) *run.Scenario {
	if out.divided == nil {
		return out.scenarios[index]
	}
	return out.divided[index]
}

// carryOut runs a scenario, or the part of it that is to be run. Of a part, points that were
// skipped have lines, too, which a merge needs.
func carryOut(ctx context.Context, out *outputs, index int, o run.RunOptions) (*run.Report, error) {
	s := out.scenarios[index]
	part := partOfSweep(out, index)
	if part == s {
		return s.Run(ctx, o)
	}
	if len(part.Points) == 0 {
		return &run.Report{Scenario: s}, nil
	}
	ran, err := part.Run(ctx, o)
	if ran == nil {
		return nil, err
	}
	ran.Scenario = s
	for _, skip := range ran.Skipped {
		line, lost := report.JSONSkipLine(s, skip)
		out.lose(lost)
		out.beside(func() { out.app.printJSON(out.app.out, line) })
	}
	return ran, err
}

// merged puts the lines of a scenario's points together: what a run of all of them prints with
// --jsonl. It names the points that are missing.
func merged(s *run.Scenario, lines *shards.Lines) (text []byte, missing []string, err error) {
	all := &run.Report{Scenario: s, Warnings: s.Notes}
	results := 0
	for _, p := range s.Points {
		if why, is := lines.Skipped(identityOf(p)); is {
			all.Skipped = append(all.Skipped, run.Skip{Point: p, Why: why})
			continue
		}
		for _, one := range pointsIn(p) {
			line, is := lines.Result(identityOf(one))
			if !is {
				missing = append(missing, one.ID)
				continue
			}
			results++
			text = append(text, line.Text...)
			for _, w := range line.Warnings {
				all.Warnings = append(all.Warnings, one.ID+": "+w)
			}
		}
	}
	all.Dropped = results
	last, err := report.JSONSummary(all)
	return append(text, last...), missing, err
}

// missingError says which points no file has.
func missingError(s *run.Scenario, missing []string) error {
	const most = 10
	text := fmt.Sprintf("%d of %d points are missing", len(missing), len(s.Points))
	hint := strings.Join(missing[:min(most, len(missing))], ", ")
	if more := len(missing) - most; more > 0 {
		hint += fmt.Sprintf(", and %d more", more)
	}
	return &usageError{File: s.File, Text: text, Hint: hint + "; collsim " + s.File +
		" --jsonl --resume FILE.jsonl runs them"}
}
