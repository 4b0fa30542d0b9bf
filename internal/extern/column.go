package extern

import (
	"fmt"

	"collsim/report"
	"collsim/run"
)

// Cost is a column that collsim does not have: what a collective costs where an hour of a rank has
// this price. It stands last in the table, in JSON as "cost.usd", and last in CSV.
func Cost(perRankHour float64) report.Column {
	dollars := func(r *run.Result) float64 {
		return float64(r.Time) * 1e-12 / 3600 * float64(r.Point.Spec.Ranks) * perRankHour
	}
	return report.Column{
		Key: "cost.usd", CSV: "cost_usd", Heading: "cost", Unit: "(USD)", Width: 10,
		Value: func(r *run.Result) report.Value {
			if !r.Timed {
				return report.Value{} // null in JSON, N/A in the table
			}
			return report.Number(dollars(r))
		},
		Print: func(r *run.Result) string { return fmt.Sprintf("%.2g", dollars(r)) },
	}
}
