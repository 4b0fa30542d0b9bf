// Package collsim is the front door: a scenario goes in, results come out.
//
//	scenario.toml ─► Load ─► Scenario.Run ─► Report ─► Table, JSON, CSV
//
// Every point of a scenario becomes a schedule. The schedule is proven (proof.Verify), computed on
// real numbers (reference.Check) and timed (sim.Run), and what they found is one Result. The three
// share the schedule and nothing else, so that their agreement means something.
//
// A Scenario also explains its times, proves its schedules alone, executes them, and says
// what they will cost: Explain, Verify, Validate, Estimate. All of it is package run's, and what is
// printed of it package report's; this package only says what most programs need.
package collsim

import (
	"context"

	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

// Version is the version of the program and of this package.
const Version = run.Version

// What goes in and what comes out.
type (
	LoadOptions = run.LoadOptions
	Scenario    = run.Scenario
	RunOptions  = run.RunOptions
	Report      = run.Report
	Result      = run.Result
)

// Load reads a scenario: its text, or if that is nil the embedded example ("example:ring") or the
// file of that name. What is wrong with the content is a *scenarios.Errors, each with its line.
func Load(file string, text []byte, o LoadOptions) (*Scenario, error) {
	return run.Load(file, text, o)
}

// New makes a scenario of points that a program has made: scenarios.NewPoint.
func New(name string, points ...*scenarios.Point) (*Scenario, error) {
	return run.New(name, points...)
}

// Run carries out all points of a scenario; see Scenario.Run.
func Run(ctx context.Context, s *Scenario, o RunOptions) (*Report, error) { return s.Run(ctx, o) }

// Table prints reports as lines of 80 columns where that is possible.
func Table(reports ...*Report) string { return report.Table(reports...) }

// JSON writes reports: an object for one, an array of them for several.
func JSON(reports ...*Report) ([]byte, error) { return report.JSON(reports...) }

// CSV writes a line for each result of all reports under a line of names.
func CSV(reports ...*Report) ([]byte, error) { return report.CSV(reports...) }
