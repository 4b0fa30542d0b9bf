package collsim

import (
	"fmt"
	"slices"
	"strings"

	"collsim/fidelity"
	"collsim/hw"
)

// The JSON form of what was measured: the object "hw" of a result.
type (
	jsonMeasured struct {
		Executor    string      `json:"executor"`
		Algorithm   string      `json:"algorithm"` // of the library; empty where our steps were played
		Bits        string      `json:"bits"`
		Why         string      `json:"why"` // not comparable
		Time        any         `json:"time_ps"`
		Spread      any         `json:"time_spread_ps"`
		Fastest     any         `json:"time_fastest_ps"`
		Repetitions int         `json:"repetitions"`
		Error       any         `json:"error"` // simulated over measured, less 1
		RanOn       *jsonRanOn  `json:"ran_on"`
		Skipped     string      `json:"skipped"` // why it was not played
		Failure     *jsonHWFail `json:"failure"`
		// Compare says of the bits where they differ.
		Compare *jsonComparison `json:"compare"`
	}
	jsonRanOn struct {
		Executor  string   `json:"executor"`
		Transport string   `json:"transport"`
		CPU       string   `json:"cpu"`
		Cores     int      `json:"cores"`
		OS        string   `json:"os"`
		Go        string   `json:"go"`
		Hosts     []string `json:"hosts"`
	}
	jsonFidelity struct {
		Algorithms []jsonQuality `json:"algorithms"`
		All        jsonQuality   `json:"all"`
		Misses     []string      `json:"misses"` // what is outside of the tolerance
	}
	jsonQuality struct {
		Executor  string `json:"executor,omitempty"`
		Kind      string `json:"kind,omitempty"`
		Algorithm string `json:"algorithm,omitempty"`
		Cases     int    `json:"cases"`
		Equal     int    `json:"bits_equal"`
		Differ    int    `json:"bits_differ"`
		Median    any    `json:"error_median"` // of errors without their signs; null if there is none
		P90       any    `json:"error_p90"`
		Worst     string `json:"worst"` // ID of the result with the largest
	}
	jsonHWFail struct {
		Call string `json:"call"`
		Code string `json:"code"`
		Rank int    `json:"rank"` // here and below: −1 stands for none
		Lane int    `json:"lane"`
		Step int    `json:"step"`
		Text string `json:"text"`
	}
)

func (m *Measured) json() any {
	if m == nil {
		return nil
	}
	j := jsonMeasured{Executor: m.Executor, Algorithm: m.Algorithm, Bits: m.Bits, Why: m.Why,
		Skipped: m.Skipped, Compare: m.Comparison.json(), Repetitions: m.Repetitions}
	if f := m.Failure; f != nil {
		j.Failure = &jsonHWFail{f.Call, f.Code, f.Rank, f.Lane, f.Step, f.Text}
	}
	if !m.Played() {
		return j
	}
	j.Time, j.Spread, j.Fastest = int64(m.Time), int64(m.Spread), int64(m.Fastest)
	j.Error = known(m.Time > 0, m.Error)
	on := m.RanOn
	j.RanOn = &jsonRanOn{on.Executor, on.Transport, on.CPU, on.Cores, on.OS, on.Go,
		orEmpty(on.Hosts)}
	return j
}

// fidelityJSON is the summary of a validation, nil of a simulation.
func (r *Report) fidelityJSON() *jsonFidelity {
	if !slices.ContainsFunc(r.Results, func(r *Result) bool { return r.Measured != nil }) {
		return nil
	}
	cases := r.Cases()
	quality := func(q fidelity.Quality) jsonQuality {
		j := jsonQuality{Cases: q.Cases, Equal: q.Equal, Differ: q.Differ,
			Median: known(q.Timed > 0, q.Median), P90: known(q.Timed > 0, q.P90)}
		if q.Worst >= 0 {
			j.Worst = cases[q.Worst].ID
		}
		return j
	}
	summary := fidelity.Summarize(cases)
	j := &jsonFidelity{Algorithms: []jsonQuality{}, All: quality(summary.All),
		Misses: orEmpty(r.Misses)}
	for _, g := range summary.Groups {
		one := quality(g.Quality)
		one.Executor, one.Kind, one.Algorithm = g.Executor, g.Kind, g.Algorithm
		j.Algorithms = append(j.Algorithms, one)
	}
	return j
}

// hwKeys are the columns of what was measured.
func hwKeys() []string {
	return []string{"hw_executor", "hw_bits", "hw_time_ps", "hw_time_spread_ps", "hw_repetitions",
		"hw_error"}
}

func (m *Measured) csv() []string {
	if !m.Played() {
		return make([]string, len(hwKeys()))
	}
	return []string{m.Executor, m.Bits, ps(m.Time), ps(m.Spread), fmt.Sprint(m.Repetitions),
		fmt.Sprint(m.Error)}
}

// ValidationText prints reports of Validate in lines of 80 columns where that is possible: every
// time simulated and measured, how far they are apart, whether bits are equal; then what differs,
// failed or was not played, and what is outside of the tolerance.
func ValidationText(reports ...*Report) string {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteString("\n")
		}
		r.validation(&b)
	}
	return b.String()
}

func (r *Report) validation(b *strings.Builder) {
	comment(b, "collsim "+Version, r.Scenario.Name, seedText(r.Scenario.Points))
	for _, set := range r.Scenario.Set {
		comment(b, "set "+set)
	}
	for _, section := range split(r.Results, sectionOf) {
		at := section[0].Point
		comment(b, append(halves(section[0].network), deviceText(at.Device), simText(at.Sim))...)
	}
	for _, on := range r.ranOn() {
		comment(b, on)
	}
	if cases := r.Cases(); len(cases) > 0 {
		b.WriteString(fidelity.Text(cases, r.Tolerance()))
	}
	b.WriteString("#\n")
	for _, line := range append(summary(r.Results), r.unplayed()...) {
		b.WriteString("# " + line + "\n")
	}
}

// ranOn lists what results ran on, each once.
func (r *Report) ranOn() (list []string) {
	seen := map[string]bool{}
	for _, result := range r.Results {
		if m := result.Measured; m.Played() && !seen[m.RanOn.String()] {
			seen[m.RanOn.String()] = true
			list = append(list, "played on "+m.RanOn.String())
		}
	}
	return list
}

// unplayed tells what differs, what has failed, and what was not played.
func (r *Report) unplayed() (lines []string) {
	for _, result := range r.Results {
		m := result.Measured
		if m == nil {
			continue
		}
		if c := m.Comparison; c != nil && c.Different > 0 {
			lines = append(lines, fmt.Sprintf("bits     DIFFER: %s: %d of %d elements, on %s",
				result.Point.ID, c.Different, c.Elements, plural(c.Ranks, "rank")))
			lines = append(lines, c.lines(result.Point.ID, "the hardware")...)
		}
		switch {
		case m.Failure != nil:
			text := "hardware FAILED: " + result.Point.ID + ": " + failure(m.Failure)
			lines = append(lines, wrapped(text, columns-len("# "), "", "         ")...)
		case m.Skipped != "":
			text := "hardware left out " + result.Point.ID + ": " + m.Skipped
			lines = append(lines, wrapped(text, columns-len("# "), "", "         ")...)
		case m.Why != "":
			lines = append(lines, "bits     not comparable: "+result.Point.ID+": "+m.Why)
		}
	}
	return lines
}

// failure is an executor's error for people.
func failure(e *hw.Error) string { return strings.TrimPrefix(e.Error(), "hw: ") }

// ValidationMarkdown prints reports of Validate as a page: what was run, in the words of whoever
// ran it, on what; and package fidelity's tables. Reports with another tolerance are a page of
// their own.
func ValidationMarkdown(command string, reports ...*Report) string {
	var b strings.Builder
	for i := 0; i < len(reports); {
		first := reports[i]
		var cases []fidelity.Case
		var on, networks []string
		for ; i < len(reports) && reports[i].Tolerance() == first.Tolerance(); i++ {
			r := reports[i]
			cases = append(cases, r.Cases()...)
			networks = append(networks, "* "+r.about())
			for _, one := range r.ranOn() {
				if !slices.Contains(on, one) {
					on = append(on, one)
				}
			}
		}
		text := "Written by\n\n    " + command + "\n\n" + strings.Join(networks, "\n") + "\n\n" +
			strings.Join(on, "; ") + "."
		b.WriteString(fidelity.Markdown(fidelity.Head{Title: "Fidelity", Text: text}, cases,
			first.Tolerance()))
	}
	return b.String()
}

// about is what a scenario is, in a line.
func (r *Report) about() string {
	text := r.Scenario.Name
	if len(r.Results) > 0 {
		text += ": " + r.Results[0].network
	}
	if d := r.Scenario.Description; d != "" {
		text += ". " + strings.TrimSpace(d)
	}
	return text
}
