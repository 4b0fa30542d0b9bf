package main

import (
	"path/filepath"
	"slices"
	"strings"

	"collsim/page"
	"collsim/run"
	"collsim/scenarios"
)

// Limits of a page.
const (
	mostDrawn  = 12    // results of a scenario with a timeline each; of more, some are simulated again
	mostChosen = 6     // of these
	mostRanks  = 4096  // of a result with a timeline
	mostBars   = 20000 // of all timelines together
	mostSeries = 100   // curves of a figure
	// timelines that are shown without script
	mostPictures = 3
)

// wantsPage reports whether a flag asks for a page, rather than Markdown.
func (o *runFlags) wantsPage() bool {
	return strings.EqualFold(filepath.Ext(o.report), ".html") || filepath.Ext(o.report) == ".htm"
}

// claimPage refuses a page that cannot be written.
func claimPage(a *app, name string) error {
	if name == "" {
		return nil
	}
	if name == "-" {
		return &usageError{Text: "--report - would write a page to standard output",
			Hint: "give --report a file: --report result.html"}
	}
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".html" && ext != ".htm" {
		return &usageError{File: name, Text: "a page has no such format",
			Hint: "let the name end in .html"}
	}
	return a.takeOne(name, "--report")
}

// drawsAll reports whether all results of a scenario have a timeline on the page.
func (out *outputs) drawsAll(index int) bool {
	points := run.AllPoints(out.scenarios[index])
	return out.flags.wantsPage() && len(points) <= mostDrawn && !slices.ContainsFunc(points, tooLarge)
}

func tooLarge(p *scenarios.Point) bool { return p.Topology.Ranks > mostRanks }

// writePageFile writes a page to a file.
func writePageFile(name string, p *page.Page) error {
	content, err := page.HTML(p)
	if err != nil {
		return &usageError{File: name, Text: err.Error()}
	}
	return writeFile(name, content)
}

// repeat says how to get what a command gives again.
func repeat(a *app) page.Repeat {
	return page.Repeat{Command: a.commandLine(), Version: run.Version, Files: a.texts}
}
