package collsim

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"

	"collsim/unit"
)

// CSV writes a line for each result of all reports under a line of names. The columns are the
// scenario and the keys of a result in JSON, in their order; what is an object or a list there is
// left out but for limit, which is its name and its share, bounds, and numerics; null is nothing.
// Newer columns follow.
func CSV(reports ...*Report) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	names := append([]string{"scenario", "seed", "topology"}, csvKeys()...)
	names = append(names, "limit", "limit_busy", "point", "violation", "asked", "teams",
		"lower_bound_ps", "bound_latency_ps", "bound_bandwidth_ps", "bound_reduction_ps")
	names = append(append(names, numericsKeys()...), hwKeys()...)
	if err := w.Write(names); err != nil {
		return nil, err
	}
	for _, r := range reports {
		for _, result := range r.Results {
			line, err := result.csv(r.Scenario.File)
			if err != nil {
				return nil, err
			}
			if err := w.Write(line); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// csvKeys are the keys of a result in JSON that have one value.
func csvKeys() []string {
	return []string{"id", "kind", "algorithm", "ranks", "bytes", "count", "dtype", "op", "root",
		"in_place", "executor", "engine", "time_ps", "algbw_GBps", "busbw_GBps", "peak_link_GBps",
		"rounds", "steps", "messages", "bytes_sent", "link_bytes", "closed_form_ps", "proof", "slots",
		"min_slots", "numbers", "checked_count", "wrong", "max_ulp", "ranks_agree"}
}

// csv is a result's line. Values are spelt as in JSON.
func (r *Result) csv(scenario string) ([]string, error) {
	j := r.json()
	text, err := encode(j, "")
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	line := []string{scenario, fmt.Sprint(r.Point.Seed), r.Point.Topology.Preset}
	for _, key := range csvKeys() {
		line = append(line, plain(values[key]))
	}
	limit, busy := "", ""
	if j.Limit != nil {
		limit, busy = j.Limit.Name, fmt.Sprint(j.Limit.Busy)
	}
	var axes []string
	for _, a := range r.Point.Axes {
		axes = append(axes, fmt.Sprintf("%s=%v", a.Path, a.Value))
	}
	violation := ""
	if len(r.Violations) > 0 {
		violation = r.Violations[0].Kind
	}
	line = append(line, limit, busy, strings.Join(axes, " "), violation, j.Asked,
		fmt.Sprint(j.Teams), ps(j.LowerBound), ps(j.Bounds.Latency), ps(j.Bounds.Bandwidth),
		ps(j.Bounds.Reduction))
	return append(append(line, j.Numerics.csv()...), r.Measured.csv()...), nil
}

// numericsKeys are the columns of a result's numerics.
func numericsKeys() []string {
	return []string{"accumulate", "mean_ulp", "max_relative_error", "depth", "error_bound",
		"order_depends_on"}
}

func (n *jsonNumerics) csv() []string {
	if n == nil {
		return make([]string, len(numericsKeys()))
	}
	text := func(x any) string {
		if x == nil {
			return ""
		}
		return fmt.Sprint(x)
	}
	order := ""
	if n.Order != nil {
		order = strings.Join(n.Order.DependsOn, " ")
	}
	return []string{n.Accumulate, text(n.MeanULP), text(n.MaxRelative), fmt.Sprint(n.Depth),
		text(n.Bound), order}
}

// ps is a time in picoseconds.
func ps(t unit.Time) string { return fmt.Sprint(int64(t)) }

// plain is a JSON value without quotes; null is nothing.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s // also of null
	}
	return string(raw)
}
