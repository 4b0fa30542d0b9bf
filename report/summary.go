package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/internal/prose"
	"collsim/reference"
	"collsim/run"
	"collsim/scenarios"
	"collsim/sim"
	"collsim/unit"
)

// fastest returns the shortest time of a row, among results that are right.
func fastest(row []*run.Result) unit.Time {
	best := unit.Forever
	for _, r := range row {
		if r != nil && perCall(r) != missing && r.Good() {
			best = min(best, r.PerCall())
		}
	}
	return best
}

// summary lists the outcome of the checks and what limits the time.
func summary(results []*run.Result) []string {
	if len(results) == 0 {
		return []string{"no results"}
	}
	lines := append(proofLines(results), numberLines(results)...)
	lines = append(lines, gradientLines(results)...)
	lines = append(lines, compareLines(results)...)
	lines = append(append(lines, faultedLines(results)...), arrivedLines(results)...)
	if limit := limitText(results); limit != "" {
		lines = append(lines, "limit    "+limit)
	}
	return append(append(lines, libraryLines(results)...), knownLines(results)...)
}

// skipLines lists the algorithms of "all" that do not support what was asked, and why.
func skipLines(reports []*run.Report) (lines []string) {
	counts := map[string]int{}
	for _, r := range reports {
		for _, s := range r.Skipped {
			line := "skipped  " + s.Point.Algorithm.String() + ": " + s.Why
			if counts[line]++; counts[line] == 1 {
				lines = append(lines, line)
			}
		}
	}
	for i, line := range lines {
		if n := counts[line]; n > 1 {
			lines[i] += fmt.Sprintf(" (%d points)", n)
		}
	}
	return lines
}

// proofLines sums up the proofs.
func proofLines(results []*run.Result) (lines []string) {
	var proved, wrong []*run.Result
	off := 0
	for _, r := range results {
		switch {
		case len(r.Violations) > 0:
			wrong = append(wrong, r)
		case r.Proof == run.Proved:
			proved = append(proved, r)
		default:
			off++
		}
	}
	for _, proved := range split(proved, func(r *run.Result) string { return r.Proven }) {
		slots := span(proved, func(r *run.Result) int { return r.MinSlots })
		rounds := span(proved, func(r *run.Result) int { return r.Rounds }) + " rounds"
		if rounds == "1 rounds" {
			rounds = "1 round"
		}
		lines = append(lines, fmt.Sprintf("proof    %s%s, no deadlock (FIFO depth %s), "+
			"no race: %s", share(len(proved), len(results)), proved[0].Proven, slots, rounds))
	}
	if off > 0 {
		lines = append(lines, "proof    "+share(off, len(results))+"off")
	}
	for i, r := range wrong {
		if i == run.MaxWrong {
			lines = append(lines, fmt.Sprintf("         and %d more", len(wrong)-i))
			break
		}
		check := "proof" // names the check that failed if there was no proof
		if r.Proof == run.Off {
			check = "run  "
		}
		lines = append(lines, check+"    FAILED: "+r.Point.ID)
		for j, v := range r.Violations {
			if j == run.MaxWrong {
				lines = append(lines, fmt.Sprintf("         and %d more", len(r.Violations)-j))
				break
			}
			for _, line := range strings.Split(v.String(), "\n") {
				lines = append(lines, "         "+line)
			}
		}
	}
	return lines
}

// share formats "n of several"; empty if there is one result.
func share(n, of int) string {
	switch {
	case of == 1:
		return ""
	case n == of:
		return fmt.Sprintf("all %d: ", of)
	}
	return fmt.Sprintf("%d of %d: ", n, of)
}

// span formats the range of a fact over results.
func span(results []*run.Result, fact func(*run.Result) int) string {
	least, most := fact(results[0]), fact(results[0])
	for _, r := range results {
		least, most = min(least, fact(r)), max(most, fact(r))
	}
	return prose.Between(least, most, " to ")
}

// numberLines sums up the checks of numbers.
func numberLines(results []*run.Result) (lines []string) {
	for _, verdict := range []string{string(reference.NumbersExact),
		string(reference.NumbersBounded), string(reference.NumbersMismatch), run.Off} {
		var with []*run.Result
		for _, r := range results {
			if r.Numbers == verdict {
				with = append(with, r)
			}
		}
		if len(with) == 0 {
			continue
		}
		text := "numbers  " + share(len(with), len(results)) + verdict
		if verdict == string(reference.NumbersMismatch) {
			text = "numbers  " + share(len(with), len(results)) + "MISMATCH"
		}
		switch {
		case verdict != run.Off:
			text += elements(with) + ulps(with) + " (" + dataText(with) + ")"
		case with[0].NumbersOff != "":
			text += ": " + with[0].NumbersOff
		case with[0].Point.Check.Numbers:
			text += ": the schedule cannot be carried out"
		}
		lines = append(lines, text)
		if verdict != string(reference.NumbersMismatch) {
			continue
		}
		for _, r := range with[:min(len(with), run.MaxWrong)] {
			lines = append(lines, fmt.Sprintf("         %s: %d wrong; %v", r.Point.ID, r.Wrong,
				r.Mismatch))
		}
	}
	return lines
}

// elements says how many elements were checked; empty if all were.
func elements(results []*run.Result) string {
	if len(results) == 1 {
		r := results[0]
		if r.Sampled > 0 {
			return fmt.Sprintf(" on %d output elements", r.Sampled)
		}
		if r.Checked < run.CountOf(r.Point.Spec) {
			return fmt.Sprintf(" on %d of %d elements a rank", r.Checked, run.CountOf(r.Point.Spec))
		}
		return fmt.Sprintf(" on %d elements a rank", r.Checked)
	}
	fewer := 0
	for _, r := range results {
		if r.Checked < run.CountOf(r.Point.Spec) {
			fewer++
		}
	}
	if fewer == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them on fewer elements", fewer)
}

// ulps formats the largest error of inexact results.
func ulps(results []*run.Result) string {
	most, agree, order := 0.0, true, false
	for _, r := range results {
		most, agree = max(most, r.MaxULP), agree && r.RanksAgree
		order = order || r.Data != reference.Exact.String()
	}
	text := ""
	if most > 0 {
		text = fmt.Sprintf(", error up to %.3g ulp", most)
	}
	if order && !agree {
		text += ", ranks differ in bits"
	} else if order {
		text += ", ranks agree in bits"
	}
	return text
}

func dataText(results []*run.Result) string {
	data := results[0].Data
	for _, r := range results {
		if r.Data != data {
			return "several kinds of data"
		}
	}
	if results[0].Point.Data.Input != "" {
		return "data: " + data
	}
	if data == reference.Exact.String() {
		return "nccl-tests data"
	}
	return data + " data"
}

// limitText names the busiest link, where all results have the same.
func limitText(results []*run.Result) string {
	var limits []run.Limit
	least, most := 1.0, 0.0
	for _, r := range results {
		busy, ok := r.Busy()
		if !ok || r.Limit.Name == "" {
			continue
		}
		l := run.Limit{Name: r.Limit.Name, Like: r.Limit.Like}
		if !slices.Contains(limits, l) {
			limits = append(limits, l)
		}
		least, most = min(least, busy), max(most, busy)
	}
	if len(limits) != 1 {
		return ""
	}
	held := heldText(results)
	if held != "" {
		held += "; "
	}
	text := limits[0].Name
	if more := limits[0].Like - 1; more == 1 {
		text += " and 1 more link"
	} else if more > 1 {
		text += fmt.Sprintf(" and %d more links", more)
	}
	low, high := fmt.Sprintf("%.1f", least*100), fmt.Sprintf("%.1f", most*100)
	if most < 0.5 && held == "" { // latency, the device, or one link after the other
		text = "no single link: " + text
	}
	return held + fmt.Sprintf("%s, busy %s %% of the time", text, prose.Between(low, high, " to "))
}

// heldText names what limits results where no link does, and the key that lifts the limit. It is
// empty where results differ in it.
func heldText(results []*run.Result) string {
	text, least, most := "", 1.0, 0.0
	for _, r := range results {
		h := r.Held
		if h == nil {
			return ""
		}
		share := float64(h.Time) / float64(h.Of)
		name := heldName(h)
		if text != "" && name != text {
			return ""
		}
		text, least, most = name, min(least, share), max(most, share)
	}
	if text == "" {
		return ""
	}
	shares := prose.Between(percent(least), percent(most), " to ")
	if results[0].Held.Slots {
		return fmt.Sprintf("%s, more would save %s %% of the time", text, shares)
	}
	return fmt.Sprintf("%s, %s %% of the critical path", text, shares)
}

// heldName returns the key that lifts the limit of a run.
func heldName(h *run.Held) string {
	switch {
	case h.Slots:
		return "sim.slots"
	case h.What == sim.Start:
		return "ranks that begin late"
	case h.What == sim.Compute:
		return "the schedule's own compute steps"
	case h.Link != "" && h.What == sim.Latency:
		return "latency of " + h.Link
	case h.Link != "":
		return h.What.String() + " of " + h.Link
	}
	return shareKey(h.Share)
}

// nextLine suggests the next command, for a scenario whose file can be read again.
func nextLine(r *run.Report) string {
	s := r.Scenario
	if s.File == "-" || s.File == "" || len(r.Results) == 0 {
		return ""
	}
	command := quote(s.File)
	for _, set := range s.Set {
		command += " --set " + quote(set)
	}
	if len(s.Points) > 1 || len(s.Only) > 0 {
		command += " --only " + quote("id="+r.Results[0].Point.ID)
	}
	draw := "collsim " + command + " --timeline -"
	switch e := r.Results[0].Point.Sim.Engine; {
	case e == scenarios.SweepEngine: // it neither draws nor explains
		return ""
	case e == scenarios.FoldEngine || r.Results[0].Steps > run.MostDrawn: // nor does it explain
		return "next     " + draw
	}
	line := "next     collsim explain " + command + "     "
	if utf8.RuneCountInString(line+draw) > lineWidth {
		line = strings.TrimSpace(line) + "\n#          "
	}
	return line + draw
}

// quote writes an argument so that a shell takes it as one.
func quote(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("-_=+.,:/@%", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
