package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/page"
	"collsim/plots"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// onPage is a result with its timeline.
type onPage struct {
	of    *subject
	links []run.LinkUse
	took  unit.Time
}

// keep keeps a result for the page.
func (out *outputs) keep(of *subject, links []run.LinkUse, took unit.Time) {
	if out.flags.wantsPage() && of.trace != nil {
		var err error
		if of, err = out.part.of(of); err != nil {
			out.lose(err)
			return
		}
		out.onPage = append(out.onPage, onPage{of, links, took})
	}
}

// drawSome simulates some results of a scenario again, whose timelines the page has: of each
// collective and algorithm the one in the middle. They are proven and computed already.
func (out *outputs) drawSome(ctx context.Context, index int, s *run.Scenario) error {
	if !out.flags.wantsPage() || out.drawsAll(index) {
		return nil
	}
	var alike [][]*scenarios.Point
	for _, p := range s.Points {
		if tooLarge(p) || p.Algorithm.Name == "all" {
			continue
		}
		at := slices.IndexFunc(alike, func(list []*scenarios.Point) bool {
			return rest(p) == rest(list[0]) && p.Algorithm.String() == list[0].Algorithm.String()
		})
		if at < 0 {
			at = len(alike)
			alike = append(alike, nil)
		}
		alike[at] = append(alike[at], p)
	}
	var chosen []*scenarios.Point
	for _, list := range alike[:min(len(alike), mostChosen)] {
		middle := *list[len(list)/2]
		middle.Check.Proof, middle.Check.Numbers = false, false
		chosen = append(chosen, &middle)
	}
	if len(chosen) == 0 {
		return nil
	}
	keep := func(r *run.Result) { out.keep(resultSubject(r), r.Links, r.Time) }
	_, err := s.Of(chosen).Run(ctx, run.RunOptions{Trace: true, Links: true, Done: keep})
	return err
}

// writePage writes the page of reports.
func (out *outputs) writePage(reports []*run.Report) {
	if !out.flags.wantsPage() {
		return
	}
	p := &page.Page{Repeat: repeat(out.app)}
	var names []string
	for _, r := range reports {
		names = append(names, r.Scenario.Name)
		p.Notes = append(p.Notes, r.Warnings...)
		p.Summary = append(p.Summary, report.Summary(r)...)
		p.Verdicts = append(p.Verdicts, verdictOf(r))
		for _, one := range r.Programs {
			p.Parts = append(p.Parts, page.Part{Title: "Ops of " + one.Point.ID,
				Table: &page.Table{Columns: report.OpGrid(one)}})
		}
	}
	p.Title = strings.Join(slices.Compact(names), ", ")
	p.Lead = leadOf(reports)
	if grid := report.ResultGrid(reports...); grid != nil {
		p.Parts = append(p.Parts, tablePart("Results", page.Table{Columns: grid, Heat: true}))
	}
	p.Parts = append(p.Parts, winnerParts(reports)...)
	p.Parts = append(p.Parts, out.curveParts(reports)...)
	p.Parts = append(p.Parts, out.timelineParts(reports)...)
	out.lose(writePageFile(out.flags.report, p))
}

// verdictOf says whether all checks of a report are passed.
func verdictOf(r *run.Report) page.Verdict {
	all, bad := len(r.Results)+len(r.Programs), 0
	for _, one := range r.Results {
		if !one.Good() {
			bad++
		}
	}
	for _, one := range r.Programs {
		if !one.Good() {
			bad++
		}
	}
	v := page.Verdict{Bad: !r.Good(), Text: r.Scenario.File + ": "}
	switch {
	case bad > 0:
		v.Text += fmt.Sprintf("a check failed in %d of %s", bad, prose.Plural(all, "result"))
	case v.Bad:
		v.Text += strings.Join(r.Misses, "; ")
	default:
		v.Text += prose.Plural(all, "result") + ", every check that was asked for is passed"
	}
	return v
}

// leadOf names what was simulated, and on what.
func leadOf(reports []*run.Report) string {
	var leads []string
	add := func(network string, p *scenarios.Point) {
		leads = append(leads, fmt.Sprintf("%s, device %s, seed %d", network, p.Device.Name, p.Seed))
	}
	for _, r := range reports {
		for _, one := range r.Results {
			add(one.Network, one.Point)
		}
		for _, one := range r.Programs {
			add(one.Network, one.Point.Point)
		}
	}
	slices.Sort(leads)
	leads = slices.Compact(leads)
	switch n := len(leads); n {
	case 0:
		return ""
	case 1:
		return leads[0]
	default:
		return fmt.Sprintf("%s; and %s", leads[0], prose.Plural(n-1, "other machine"))
	}
}

// tablePart makes the part of a table, which is sampled if it is long.
func tablePart(title string, t page.Table) page.Part {
	shown, note := t.Sampled()
	return page.Part{Title: title, Note: note, Table: shown}
}

// curveParts makes a part of curves of each collective that has any.
func (out *outputs) curveParts(reports []*run.Report) (parts []page.Part) {
	var keys []string
	var figures []*figure
	for _, add := range []bool{false, true} { // facts of all results come before any curve
		for i, r := range reports {
			for _, one := range r.Results {
				if one.Gradient != nil || one.Point.Spec.Bytes() < 1 {
					continue
				}
				key := rest(one.Point)
				at := slices.Index(keys, key)
				if at < 0 {
					at = len(keys)
					keys, figures = append(keys, key), append(figures, &figure{first: one.Point})
				}
				f := figures[at]
				if add {
					out.plotIn(f, i, one)
					continue
				}
				if !slices.Contains(f.indices, i) {
					f.indices = append(f.indices, i)
				}
				f.facts = append(f.facts, out.facts(i, one.Point))
			}
		}
	}
	for _, f := range figures {
		if !areCurves(f.series) {
			continue
		}
		o := out.curveOptions(f)
		all, note := f.withBounds(), ""
		if n := len(all); n > mostSeries {
			all, note = all[:mostSeries], fmt.Sprintf("the first %d of %d curves", mostSeries, n)
		}
		parts = append(parts, page.Part{Title: o.Title, Note: note,
			Curves: &page.Curves{Series: all, Options: o}})
	}
	return parts
}

// areCurves reports whether any series has more than a point.
func areCurves(series []plots.Series) bool {
	return slices.ContainsFunc(series, func(s plots.Series) bool { return len(s.X) > 1 })
}

// timelineParts makes the parts of timelines. It says which results have one.
func (out *outputs) timelineParts(reports []*run.Report) (parts []page.Part) {
	all := 0
	for _, r := range reports {
		all += len(r.Results) + len(r.Programs)
	}
	if left := all - len(out.onPage); left > 0 && all > 0 {
		note := fmt.Sprintf("Timelines of %d of %d results follow: of each collective and algorithm "+
			"the one in the middle. --only chooses others, up to %d of them and %d ranks.",
			len(out.onPage), all, mostDrawn, mostRanks)
		if out.fromLines {
			note = "Timelines need a run; these results were read back."
		}
		parts = append(parts, page.Part{Title: "Timelines", Note: note})
	}
	return append(parts, timelines(out.onPage)...)
}

// timelines makes a part of each timeline, and of the traffic of its links and ranks.
func timelines(drawn []onPage) (parts []page.Part) {
	for n, one := range drawn {
		for k, panel := range one.of.panels {
			title := one.of.title
			if k > 0 {
				title = panel.Heading
			}
			parts = append(parts, page.Part{Title: title, Timeline: &page.Timeline{Panel: panel,
				Most: max(mostBars/len(drawn), 2000), Picture: n < mostPictures,
				Options: plots.Options{Title: title}}})
		}
		if m := trafficOf(one.of); m != nil {
			parts = append(parts, page.Part{Title: "Bytes from rank to rank: " + one.of.point.ID,
				Minor: true, Matrix: m})
		}
		if one.links != nil {
			grid, note := report.LinkGrid(one.links, one.took)
			parts = append(parts, page.Part{Title: "Links: " + one.of.point.ID, Minor: true,
				Note: note, Table: &page.Table{Columns: grid}})
		}
	}
	return parts
}

// trafficOf sums up the messages of a result by sender and receiver; nil where a rank stands for
// others, or there are none.
func trafficOf(of *subject) *page.Matrix {
	t, ranks := of.trace, 0
	for _, track := range t.Tracks {
		if track.Alike > 1 {
			return nil
		}
		ranks = max(ranks, int(track.Rank)+1)
	}
	if len(t.Messages) == 0 {
		return nil
	}
	name := func(first, last int) string {
		if first == last {
			return fmt.Sprintf("rank %d", first)
		}
		return fmt.Sprintf("ranks %d–%d", first, last)
	}
	return page.Traffic(ranks, name, func(yield func(from, to int, bytes unit.Bytes)) {
		for _, m := range t.Messages {
			yield(int(t.Tracks[m.From].Rank), int(t.Tracks[m.To].Rank), m.Bytes)
		}
	})
}
