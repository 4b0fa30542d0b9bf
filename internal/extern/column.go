package extern

import (
	"fmt"

	"collsim/report"
	"collsim/run"
)

// Cost returns a new column: the cost of a collective, given the price of an hour of a rank. It is
// the last column of the table and of CSV; in JSON it is "cost.usd".
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
