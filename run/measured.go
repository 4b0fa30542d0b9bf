package run

import (
	"fmt"

	"collsim/fidelity"
	"collsim/hw"
	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/trace"
	"collsim/unit"
)

// Measured holds the outcome of executing a result's schedule on hardware.
type Measured struct {
	Executor  scenarios.Executor
	Algorithm string    // of the library that did it, where that had its own way
	Chose     string    // what a library says of how it has done it
	Estimate  unit.Time // that the library predicts by a model of its own; 0 where it does not say
	Skipped   string    // why it was not executed: then all that follows is zero; else empty
	Failure   *hw.Error
	Bits      string // as package fidelity calls it
	Why       string // bits are not comparable though all went well

	Time, Spread, Fastest unit.Time // median of the repetitions, between their quartiles, least
	Skew                  unit.Time // at most so far are the clocks of two ranks apart
	Repetitions           int
	Error                 float64     // simulated over measured, less 1
	Comparison            *Comparison // theirs are the hardware's; nil where there is none
	Trace                 *trace.Trace
	RanOn                 hw.RanOn
	Told                  []Told // by rank, of a run with faults
	Float32               bool   // steps were combined in float32, as the point asks
}

// take takes in what an executor has done so many times in a row, and how long each should have
// taken.
func (m *Measured) take(done *hw.Result, times int, simulated unit.Time) {
	m.Time, m.Spread = done.Median()
	m.Fastest = done.Repetitions[done.Fastest()].Time
	for _, t := range []*unit.Time{&m.Time, &m.Spread, &m.Fastest} {
		*t /= unit.Time(times)
	}
	m.Repetitions, m.RanOn, m.Trace = len(done.Repetitions), done.RanOn, done.Trace
	m.Skew, m.Float32, m.Chose = done.Skew, done.Float32, done.Chose
	m.Estimate = done.Estimate
	if m.Time > 0 {
		m.Error = float64(simulated-m.Time) / float64(m.Time)
	}
}

// SameChoice reports whether the library has chosen the algorithm, the protocol and as many
// channels as were picked for the simulation; not known where one of the two says nothing.
func (r *Result) SameChoice() (same, known bool) {
	m, p := r.Measured, &r.Picked
	if !m.Executed() || m.Chose == "" || p.Algorithm == "" {
		return false, false
	}
	way := p.Algorithm + " " + p.Protocol
	return m.Chose == way || m.Chose == way+", "+prose.Plural(p.Channels, "channel"), true
}

// Executed reports whether the schedule was executed without failure.
func (m *Measured) Executed() bool {
	return m != nil && m.Skipped == "" && m.Failure == nil && (m.Told == nil || m.Repetitions > 0)
}

// Cases returns the results of a report that were executed on hardware.
func (r *Report) Cases() []fidelity.Case {
	var all []fidelity.Case
	for _, result := range r.Results {
		m := result.Measured
		if !m.Executed() {
			continue
		}
		p := result.Point
		c := fidelity.Case{Network: r.Scenario.Name, ID: p.ID, Executor: m.executor(p),
			Kind: p.Spec.Kind.String(), Algorithm: result.Algorithm.String(), Bytes: p.Spec.Bytes(),
			Simulated: result.measurable(), Measured: m.Time, Spread: m.Spread, Repetitions: m.Repetitions,
			Bits: m.Bits, Uncompared: m.Why}
		for i := range r.Scenario.Known {
			if k := &r.Scenario.Known[i]; c.Why == "" && k.Matches(p) {
				c.Why = k.Why
			}
		}
		all = append(all, c)
	}
	return all
}

// executor names what executed the schedule: "host (tcp)", "host (lab)", "mpi", "mpi library
// (lab)".
func (m *Measured) executor(p *scenarios.Point) string {
	text := string(m.Executor)
	if m.Algorithm != "" {
		text += " library"
	}
	switch {
	case p.Hardware.Network == scenarios.Lab:
		return text + " (lab)"
	case m.Executor == scenarios.Host:
		return text + " (" + m.RanOn.Transport + ")"
	}
	return text
}

// Tolerance returns the tolerance that the scenario allows.
func (r *Report) Tolerance() fidelity.Tolerance {
	t := r.Scenario.Tolerance
	return fidelity.Tolerance{Bits: t.Bits, TimeMedian: t.TimeMedian, TimeP90: t.TimeP90}
}

// uncalibrated says that measured times are far from simulated ones whose figures are the
// scenario's own: no calibration has found them. Of several results it names the one that is
// farthest.
func (r *Report) uncalibrated() {
	if len(r.Scenario.With) > 0 {
		return
	}
	var worst *Result
	far, most := 0, 0.0
	for _, result := range r.Results {
		if !result.Measured.Executed() {
			continue
		}
		ratio, isFar := disagree(result.measurable(), result.Measured.Time)
		if isFar {
			far++
		}
		if isFar && ratio > most {
			worst, most = result, ratio
		}
	}
	if worst == nil {
		return
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("%s: simulated %s, measured %s, %+.1f %%, a factor "+
		"of %.3g%s: latency, bandwidth and device are the scenario's, and nobody has calibrated them "+
		"on this hardware (collsim calibrate, then --with what it writes)", worst.Point.ID,
		inMicroseconds(worst.measurable()), inMicroseconds(worst.Measured.Time),
		100*worst.Measured.Error, most, others(far-1)))
}

// others returns a phrase for n more results that are far apart, "" for none.
func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more beyond %d)", n, farApart)
}

// judge holds what was measured against the tolerance.
func (r *Report) judge() {
	r.Misses = r.Tolerance().Judge(r.Cases())
	if !r.Scenario.Tolerance.SameChoice {
		return
	}
	others, asked, first := 0, 0, ""
	for _, result := range r.Results {
		same, known := result.SameChoice()
		if known {
			asked++
		}
		if known && !same {
			if others++; others == 1 {
				first = result.Point.ID
			}
		}
	}
	switch {
	case asked == 0:
		r.Misses = append(r.Misses, `no library has said what it chose; choice = "equal" is asked for`)
	case others > 0:
		r.Misses = append(r.Misses, fmt.Sprintf(`the library chose otherwise in %d of %d cases, first `+
			`in %s; choice = "equal" is asked for`, others, asked, first))
	}
}
