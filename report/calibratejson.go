package report

import (
	"math"
	"slices"

	"collsim/hw/calibrate"
	"collsim/run"
	"collsim/unit"
)

// TableFitsJSON writes the fits to published tables as JSON. It ends with a newline.
func TableFitsJSON(fits ...*run.TableFit) ([]byte, error) {
	return encode(tablesValue(fits, Value{}))
}

// MachineFitJSON writes the fit to all tables of a machine, and the fit to each table, as JSON. It
// ends with a newline.
func MachineFitJSON(m *run.MachineFit) ([]byte, error) {
	e := m.Ranges.Launch
	launch := estimateMembers(e, "ps", finite(e.Value), finite(e.Low), finite(e.High))
	machine := append(members{{"ranks", Int(m.Ranks)},
		{"launch", object(append(launch, members{{"points", Int(0)}, {"median_error", Value{}}}...))}},
		rangesMembers(m.Ranges, m.Notes, m.Preset())...)
	return encode(tablesValue(m.Tables, object(machine)))
}

// tablesValue makes the object of several fits: "tables", and "machine" for the fit to all of them,
// which may be null.
func tablesValue(fits []*run.TableFit, machine Value) Value {
	return object(append(version(), member{"tables", listOf(fits, tableValue)},
		member{"machine", machine}))
}

// tableValue makes the object of one fit. Its "table" is the table's number in its file, from 1;
// "called", "dtype" and "op" are spelt as in the table.
func tableValue(f *run.TableFit) Value {
	return object(append(members{{"file", Text(f.Table.File)}, {"table", Int(f.Number)},
		{"kind", Text(f.Kind.String())}, {"algorithm", Text(f.Algorithm.String())},
		{"called", Text(f.Table.Algorithm)}, {"ranks", Int(f.Ranks)}, {"dtype", Text(f.Table.Type)},
		{"op", Text(f.Table.Op)}, {"in_place", Bool(f.InPlace)}},
		rangesMembers(f.Ranges, f.Notes, f.Preset())...))
}

// rangesMembers lists the fits to ranges of message sizes. The last range has no upper end.
func rangesMembers(r *calibrate.Ranges, notes []string, preset string) members {
	ranges := array()
	for i := range r.Ranges {
		one := &r.Ranges[i]
		ranges.list = append(ranges.list, object(members{
			{"from_bytes", Int(one.From)}, {"to_bytes", Int(one.To)}, // of a call
			{"message_up_to_bytes", known(i+1 < len(r.Ranges), Int(one.UpTo))},
			{"latency", figureValue(one.Fit, 0)}, {"bandwidth", figureValue(one.Fit, 1)}}))
	}
	return append(members{{"ranges", ranges}},
		fitMembers(r.Trained, r.HeldOut, r.Residuals, notes, preset)...)
}

// fitMembers lists the quality of a fit, its notes and the preset, a text in TOML. Errors are
// shares of the measured value.
func fitMembers(trained, heldOut calibrate.Quality, residuals []calibrate.Residual, notes []string,
	preset string) members {
	return members{{"fitted", fittedValue(trained)}, {"held_out", fittedValue(heldOut)},
		{"residuals", listOf(residuals, residualValue)}, {"notes", listOf(notes, Text)},
		{"preset", Text(preset)}}
}

// CalibrationJSON writes the measurements and the fit of a calibration. It ends with a newline.
func CalibrationJSON(c *run.Calibration) ([]byte, error) {
	var figures []int
	for i := range c.Fit.Estimates {
		if c.Campaign.Asks(i) {
			figures = append(figures, i)
		}
	}
	return encode(object(slices.Concat(preamble(c.Scenario), members{
		{"set", listOf(c.Scenario.Set, Text)},
		{"ran_on", ranOnFields().write(&c.RanOn)},
		{"skew_ps", Int(c.Skew)},
		{"classes", listOf(c.Campaign.Classes, classValue)},
		{"sizes", listOf(c.Sizes, Int[unit.Bytes])},
		{"repetitions", Int(c.Env.Repetitions)},
		{"warmup", Int(c.Env.Warmup)},
		{"figures", listOf(figures, func(i int) Value { return figureValue(c.Fit, i) })},
	}, fitMembers(c.Fit.Trained, c.Fit.HeldOut, c.Fit.Residuals, c.AllNotes(), c.Preset()))))
}

// classValue makes the object of a class of equal links: its table in a scenario, and the number of
// wires that a message crosses.
func classValue(c calibrate.Class) Value {
	return object(members{{"name", Text(c.Name)}, {"table", Text(c.Table)}, {"wires", Int(c.Wires)},
		{"pairs", listOf(c.Pairs, func(p [2]int) Value { return array(Int(p[0]), Int(p[1])) })}})
}

func fittedValue(q calibrate.Quality) Value {
	return object(members{{"points", Int(q.Points)}, {"median", rate(q.Median, q.Points > 0)},
		{"p90", rate(q.P90, q.Points > 0)}})
}

func residualValue(r calibrate.Residual) Value {
	return object(members{{"name", Text(r.Name)}, {"measured_ps", Number(r.Measured)},
		{"fitted_ps", Number(r.Predicted)}, {"error", Number(r.Error)},
		{"held_out", Bool(r.HeldOut)}})
}

// figureValue makes the object of a fitted parameter: a time in picoseconds or a rate in GB/s of
// 10⁹. It has the 95 % interval, the number of points that depend on the parameter, and their
// error. An end of the interval that no measurement bounds is null.
func figureValue(f *calibrate.Fit, parameter int) Value {
	e, q := &f.Estimates[parameter], f.Depends(parameter)
	all := estimateMembers(e, "ps", finite(e.Value), finite(e.Low), finite(e.High))
	if perByte(e) { // the slowest byte is the lowest rate
		all = estimateMembers(e, "GB/s", gbps(e.Value), gbps(e.High), gbps(e.Low))
	}
	return object(append(all, member{"points", Int(q.Points)},
		member{"median_error", rate(q.Median, q.Points > 0)}))
}

// estimateMembers lists value, unit and interval of an estimate, and the reason where it is not
// known.
func estimateMembers(e *calibrate.Estimate, unit string, value, low, high Value) members {
	return members{{"name", Text(e.Name)}, {"unit", Text(unit)}, {"value", value}, {"low", low},
		{"high", high}, {"known", Bool(e.Known)}, {"why", Text(e.Why)}}
}

// gbps converts a time per byte, in picoseconds, to a rate in GB/s. It is null if the time is not
// positive.
func gbps(perByte float64) Value {
	if perByte <= 0 {
		return Value{}
	}
	if math.IsInf(perByte, 1) {
		return Number(0)
	}
	return Number(1000 / perByte)
}
