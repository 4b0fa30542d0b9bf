package collsim

import (
	"math"

	"collsim/hw/calibrate"
)

// The JSON form of calibrations: as with that of results, keys may be added, never renamed. Errors
// are shares of what was measured.
type (
	jsonTables struct {
		Collsim string      `json:"collsim"`
		Schema  int         `json:"schema"`
		Tables  []jsonTable `json:"tables"`
		Machine any         `json:"machine"` // a jsonMachine, if one preset was fitted to all of them
	}
	jsonMachine struct {
		Ranks     int            `json:"ranks"`
		Launch    jsonFigure     `json:"launch"`
		Ranges    []jsonRange    `json:"ranges"`
		Fitted    jsonFitted     `json:"fitted"`
		HeldOut   jsonFitted     `json:"held_out"`
		Residuals []jsonResidual `json:"residuals"`
		Notes     []string       `json:"notes"`
		Preset    string         `json:"preset"` // TOML
	}
	jsonTable struct {
		File      string         `json:"file"`
		Table     int            `json:"table"` // from 1, in its file
		Kind      string         `json:"kind"`
		Algorithm string         `json:"algorithm"`
		Called    string         `json:"called"` // what the table calls its algorithm, "" if nothing
		Ranks     int            `json:"ranks"`
		DType     string         `json:"dtype"` // this and op as the table has them
		Op        string         `json:"op"`
		InPlace   bool           `json:"in_place"`
		Ranges    []jsonRange    `json:"ranges"`
		Fitted    jsonFitted     `json:"fitted"`
		HeldOut   jsonFitted     `json:"held_out"`
		Residuals []jsonResidual `json:"residuals"`
		Notes     []string       `json:"notes"`
		Preset    string         `json:"preset"` // TOML
	}
	jsonRange struct {
		From      int64      `json:"from_bytes"` // of a call
		To        int64      `json:"to_bytes"`
		UpTo      any        `json:"message_up_to_bytes"` // null of the last, which has all longer ones
		Latency   jsonFigure `json:"latency"`
		Bandwidth jsonFigure `json:"bandwidth"`
	}
	// jsonFigure is a time in picoseconds, or a rate in GB/s of 10⁹, with its 95 % interval; null is
	// what nothing bounds.
	jsonFigure struct {
		Name   string `json:"name"`
		Unit   string `json:"unit"` // "ps" or "GB/s"
		Value  any    `json:"value"`
		Low    any    `json:"low"`
		High   any    `json:"high"`
		Known  bool   `json:"known"`
		Why    string `json:"why"`          // it is not
		Points int    `json:"points"`       // that rest on it
		Error  any    `json:"median_error"` // of these
	}
	jsonFitted struct {
		Points int `json:"points"`
		Median any `json:"median"` // null of no points
		P90    any `json:"p90"`
	}
	jsonResidual struct {
		Name     string  `json:"name"`
		Measured float64 `json:"measured_ps"`
		Fitted   float64 `json:"fitted_ps"`
		Error    float64 `json:"error"`
		HeldOut  bool    `json:"held_out"`
	}
	jsonCalibration struct {
		Collsim   string         `json:"collsim"`
		Schema    int            `json:"schema"`
		Scenario  string         `json:"scenario"`
		Name      string         `json:"name"`
		Set       []string       `json:"set"`
		RanOn     *jsonRanOn     `json:"ran_on"`
		Classes   []jsonClass    `json:"classes"`
		Sizes     []int64        `json:"sizes"`
		Reps      int            `json:"repetitions"`
		Warmup    int            `json:"warmup"`
		Figures   []jsonFigure   `json:"figures"`
		Fitted    jsonFitted     `json:"fitted"`
		HeldOut   jsonFitted     `json:"held_out"`
		Residuals []jsonResidual `json:"residuals"`
		Notes     []string       `json:"notes"`
		Preset    string         `json:"preset"`
	}
	jsonClass struct {
		Name  string   `json:"name"`
		Table string   `json:"table"` // of a scenario
		Wires int      `json:"wires"` // that a message takes
		Pairs [][2]int `json:"pairs"`
	}
)

// TableFitsJSON writes what was fitted to published tables. It ends with a newline.
func TableFitsJSON(fits ...*TableFit) ([]byte, error) { return encode(tablesJSON(fits), "  ") }

func tablesJSON(fits []*TableFit) jsonTables {
	j := jsonTables{Collsim: Version, Schema: 1, Tables: []jsonTable{}}
	for _, f := range fits {
		t := jsonTable{File: f.Table.File, Table: f.Number, Kind: f.Kind.String(),
			Algorithm: f.Algorithm.String(), Called: f.Table.Algorithm, Ranks: f.Ranks,
			DType: f.Table.Type, Op: f.Table.Op, InPlace: f.InPlace,
			Fitted: qualityJSON(f.Ranges.Trained), HeldOut: qualityJSON(f.Ranges.HeldOut),
			Residuals: residualsJSON(f.Ranges.Residuals), Notes: orEmpty(f.Notes), Preset: f.Preset()}
		t.Ranges = rangesJSON(f.Ranges)
		j.Tables = append(j.Tables, t)
	}
	return j
}

func rangesJSON(r *calibrate.Ranges) (list []jsonRange) {
	for i := range r.Ranges {
		one := &r.Ranges[i]
		j := jsonRange{From: int64(one.From), To: int64(one.To),
			Latency: figureJSON(one.Fit, 0), Bandwidth: figureJSON(one.Fit, 1)}
		if i+1 < len(r.Ranges) {
			j.UpTo = int64(one.UpTo)
		}
		list = append(list, j)
	}
	return list
}

// JSON writes what was fitted to all tables of a machine, and to each. It ends with a newline.
func (m *MachineFit) JSON() ([]byte, error) {
	j := tablesJSON(m.Tables)
	e := m.Ranges.Launch
	j.Machine = jsonMachine{Ranks: m.Ranks, Launch: jsonFigure{Name: e.Name, Unit: "ps",
		Known: e.Known, Why: e.Why, Value: finite(e.Value), Low: finite(e.Low), High: finite(e.High)},
		Ranges: rangesJSON(m.Ranges), Fitted: qualityJSON(m.Ranges.Trained),
		HeldOut: qualityJSON(m.Ranges.HeldOut), Residuals: residualsJSON(m.Ranges.Residuals),
		Notes: orEmpty(m.Notes), Preset: m.Preset()}
	return encode(j, "  ")
}

// JSON writes what was measured and found. It ends with a newline.
func (c *Calibration) JSON() ([]byte, error) {
	s := c.Scenario
	j := jsonCalibration{Collsim: Version, Schema: 1, Scenario: s.File, Name: s.Name,
		Set: orEmpty(s.Set), Reps: c.Env.Repetitions,
		Warmup: c.Env.Warmup, Fitted: qualityJSON(c.Fit.Trained), HeldOut: qualityJSON(c.Fit.HeldOut),
		Residuals: residualsJSON(c.Fit.Residuals), Notes: orEmpty(c.allNotes()), Preset: c.Preset()}
	on := c.RanOn
	j.RanOn = &jsonRanOn{on.Executor, on.Transport, on.CPU, on.Cores, on.OS, on.Go, orEmpty(on.Hosts)}
	for _, class := range c.Campaign.Classes {
		j.Classes = append(j.Classes, jsonClass{class.Name, class.Table, class.Wires, class.Pairs})
	}
	for _, n := range c.Sizes {
		j.Sizes = append(j.Sizes, int64(n))
	}
	for i := range c.Fit.Estimates {
		if c.Campaign.Asks(i) {
			j.Figures = append(j.Figures, figureJSON(c.Fit, i))
		}
	}
	return encode(j, "  ")
}

func qualityJSON(q calibrate.Quality) jsonFitted {
	return jsonFitted{q.Points, known(q.Points > 0, q.Median), known(q.Points > 0, q.P90)}
}

func residualsJSON(all []calibrate.Residual) []jsonResidual {
	list := []jsonResidual{}
	for _, r := range all {
		list = append(list, jsonResidual{r.Name, r.Measured, r.Predicted, r.Error, r.HeldOut})
	}
	return list
}

// figureJSON is a parameter of a fit.
func figureJSON(f *calibrate.Fit, parameter int) jsonFigure {
	e, q := &f.Estimates[parameter], f.Depends(parameter)
	j := jsonFigure{Name: e.Name, Unit: "ps", Known: e.Known, Why: e.Why, Points: q.Points,
		Error: known(q.Points > 0, q.Median), Value: finite(e.Value), Low: finite(e.Low),
		High: finite(e.High)}
	if perByte(e) { // the slowest byte is the lowest rate
		j.Unit = "GB/s"
		j.Value, j.Low, j.High = gbps(e.Value), gbps(e.High), gbps(e.Low)
	}
	return j
}

// gbps is the rate of a byte that takes so many picoseconds, in GB/s.
func gbps(perByte float64) any {
	if perByte <= 0 {
		return nil
	}
	if math.IsInf(perByte, 1) {
		return 0.0
	}
	return 1000 / perByte
}
