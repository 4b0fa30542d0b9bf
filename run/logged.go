package run

import (
	"cmp"
	"slices"
	"strings"

	"collsim/fidelity"
	"collsim/formats/measured"
	"collsim/unit"
)

// Logged is the time of a result's call in the file of measured times that its scenario names.
type Logged struct {
	Time, Spread unit.Time // median of the rows, and between their quartiles
	Rows         int       // of the same call
	File         string
	Line         int     // of the first row
	BusBW        float64 // GB/s, by Time
	Error        float64 // simulated over measured, less 1
	// Chose is the algorithm and protocol that the library reported for the call, if its log has
	// that: "Ring LL128".
	Chose string
}

// readLogs reads the files of measured times that points name, each once.
func (s *Scenario) readLogs() error {
	for _, p := range s.Points {
		m := &p.Measured
		if m.Name == "" || s.logs[m.Name] != nil {
			continue
		}
		text, err := scenarioFile(s.file, m.Name, s.Resolve(m.Name), s.disk)
		var data *measured.Data
		if err == nil {
			data, err = measured.Read(m.Name, text)
		}
		if err != nil {
			return s.located(p.Refuse("measured.file", err.Error(), ""))
		}
		s.logs[m.Name] = data
	}
	return nil
}

// compareLogged sets Logged of a result, if its scenario names a file that has its call.
func (s *Scenario) compareLogged(r *Result) {
	m := &r.Point.Measured
	data := s.logs[m.Name]
	if data == nil || !r.Timed || r.PerCall() == 0 {
		return
	}
	var found []*measured.Row
	for i := range data.Rows {
		if row := &data.Rows[i]; r.isOf(row) {
			found = append(found, row)
		}
	}
	inPlace := func(want bool) []*measured.Row {
		return slices.DeleteFunc(slices.Clone(found), func(row *measured.Row) bool {
			return row.InPlace != want
		})
	}
	if wanted := inPlace(m.InPlace || r.Point.Spec.InPlace); len(wanted) > 0 {
		found = wanted
	}
	if len(found) == 0 {
		return
	}
	times := make([]float64, len(found))
	for i, row := range found {
		times[i] = float64(row.Time)
	}
	l := &Logged{Rows: len(found), File: m.Name, Line: found[0].Line,
		Time: unit.Time(fidelity.NearestRank(times, 0.5))}
	l.Spread = found[0].Spread
	l.Chose = strings.TrimSpace(found[0].Choice.Algorithm + " " + found[0].Choice.Protocol)
	if len(found) > 1 {
		l.Spread = unit.Time(fidelity.NearestRank(times, 0.75) - fidelity.NearestRank(times, 0.25))
	}
	l.BusBW, _ = busBW(r.Point.Spec, l.Time)
	l.Error = float64(r.PerCall()-l.Time) / float64(l.Time)
	r.Logged = l
}

// isOf reports whether a measured row may be of a result's call: what the row states agrees with
// the point. Rows of tables that state no collective are of Measured.Kind or of any.
func (r *Result) isOf(row *measured.Row) bool {
	own, stated := r.row(), *row
	stated.Kind = cmp.Or(row.Kind, r.Point.Measured.Kind)
	if row.Algorithm == r.Algorithm.String() {
		stated.Algorithm, stated.Protocol = "", "" // as collsim prints it
	} else if r.Picked.Algorithm == "" { // a log has neither the library nor parameters
		own.Algorithm = r.Algorithm.Name[strings.Index(r.Algorithm.Name, ":")+1:]
	}
	if measured.Agree(&own, &stated) {
		return true
	}
	own.Size = r.Point.Asked
	return measured.Agree(&own, &stated)
}

// Unmatched lists the sizes of a file of measured times that no result of a report has, in the
// order of the file, and counts its rows and those of results.
type Unmatched struct {
	File       string
	Rows, Used int
	Sizes      []unit.Bytes
	Notes      []measured.Note // on how the file was read
}

// Unmatched returns what the results of a report leave of the files of measured times.
func (r *Report) Unmatched() (list []Unmatched) {
	for _, p := range r.Scenario.Points {
		name := p.Measured.Name
		data := r.Scenario.logs[name]
		if data == nil || slices.ContainsFunc(list, func(u Unmatched) bool { return u.File == name }) {
			continue
		}
		u := Unmatched{File: name, Rows: len(data.Rows), Notes: data.Notes}
		for i := range data.Rows {
			row := &data.Rows[i]
			if slices.ContainsFunc(r.Results, func(one *Result) bool {
				return one.Point.Measured.Name == name && one.isOf(row)
			}) {
				u.Used++
			} else if !slices.Contains(u.Sizes, row.Size) {
				u.Sizes = append(u.Sizes, row.Size)
			}
		}
		list = append(list, u)
	}
	return list
}

// LoggedErrors returns the errors of the results of a report that have a measured time, by
// fidelity.SizeClasses.
func (r *Report) LoggedErrors() (byClass [][]float64) {
	byClass = make([][]float64, len(fidelity.SizeClasses()))
	for _, one := range r.Results {
		if one.Logged != nil {
			class := fidelity.ClassOf(one.Point.Spec.Bytes())
			byClass[class] = append(byClass[class], one.Logged.Error)
		}
	}
	return byClass
}

// Rows returns the results of a report as a table of times, as if they had been measured: of a
// benchmark those of a call in its loop. Results without a time are left out.
func (r *Report) Rows() (rows []measured.Row) {
	for i, one := range r.Results {
		if !one.Timed || one.PerCall() == 0 {
			continue
		}
		row := one.row()
		row.File, row.Line = r.Scenario.File, i+1
		rows = append(rows, row)
	}
	return rows
}

// row returns a result as a row of a table of times.
func (r *Result) row() measured.Row {
	p := r.Point
	spec := &p.Spec
	row := measured.Row{Of: measured.Of{Kind: spec.Kind, Algorithm: r.Algorithm.String(),
		Type: spec.Type.String(), Op: OpOf(*spec), Ranks: spec.Ranks}, Size: spec.Bytes(),
		Count: CountOf(*spec), Root: -1, InPlace: spec.InPlace, Time: r.PerCall(), Wrong: -1}
	if r.Picked.Algorithm != "" {
		row.Algorithm, row.Protocol = r.Picked.Algorithm, r.Picked.Protocol
	}
	if p.Teams == nil {
		row.Nodes = p.Topology.Nodes
	}
	if spec.Kind.Rooted() {
		row.Root = spec.Root
	}
	row.AlgBW, _ = r.AlgBW()
	row.BusBW, _ = r.BusBW()
	return row
}
