package collsim

import "collsim/unit"

// jsonExplanation and what it consists of are a contract as jsonReport is.
type (
	jsonExplanation struct {
		ID        string      `json:"id"`
		Point     jsonPoint   `json:"point"`
		Kind      string      `json:"kind"`
		Algorithm string      `json:"algorithm"`
		Ranks     int         `json:"ranks"`
		Bytes     int64       `json:"bytes"`
		Time      any         `json:"time_ps"` // null where the run came to no end
		BusBW     any         `json:"busbw_GBps"`
		Shares    []jsonShare `json:"shares"`
		Unlimited *jsonWhatIf `json:"if_unlimited"`
		NoLatency *jsonWhatIf `json:"if_no_latency"`

		ClosedForm any         `json:"closed_form_ps"`
		Formula    any         `json:"closed_form"`
		LowerBound unit.Time   `json:"lower_bound_ps"`
		Bounds     jsonBounds  `json:"bounds"`
		Cut        string      `json:"bandwidth_cut"` // the links that bound the bandwidth
		Reached    any         `json:"bound_reached"`
		Violations []Violation `json:"violations"`
	}
	jsonShare struct {
		What  string    `json:"what"`
		Link  any       `json:"link"` // null where it is none; so are like and busy
		Like  any       `json:"like"`
		Time  unit.Time `json:"time_ps"`
		Share float64   `json:"share"`
		Busy  any       `json:"busy"`
	}
	jsonWhatIf struct {
		What string    `json:"what"`
		Link any       `json:"link"`
		Like any       `json:"like"`
		Time unit.Time `json:"time_ps"`
		Then any       `json:"then"` // the largest share
	}
)

// ExplainJSON is explanations of one scenario as an object: "explanations", each with "shares",
// whose "time_ps" sum up to the time.
func ExplainJSON(s *Scenario, list []*Explanation) ([]byte, error) {
	all := make([]jsonExplanation, len(list))
	for i, e := range list {
		all[i] = e.json()
	}
	return encode(struct {
		Collsim      string            `json:"collsim"`
		Schema       int               `json:"schema"`
		Scenario     string            `json:"scenario"`
		Name         string            `json:"name"`
		Explanations []jsonExplanation `json:"explanations"`
	}{Version, 1, s.File, s.Name, all}, "  ")
}

func (e *Explanation) json() jsonExplanation {
	r := e.Result
	p, spec := r.Point, r.Point.Spec
	j := jsonExplanation{ID: p.ID, Point: p.Axes, Kind: spec.Kind.String(),
		Algorithm: r.Algorithm.String(), Ranks: spec.Ranks, Bytes: int64(spec.Bytes()),
		Time: known(r.Timed, r.Time), BusBW: rate(r.BusBW()), Shares: []jsonShare{},
		ClosedForm: known(r.ClosedForm >= 0, r.ClosedForm), Formula: known(e.Formula != "", e.Formula),
		LowerBound: r.Bounds.Lower, Bounds: partsOf(r.Bounds), Cut: r.Bounds.Cut,
		Reached: rate(r.BoundReached()), Violations: r.Violations,
		Unlimited: e.Unlimited.json(), NoLatency: e.NoLatency.json()}
	if j.Violations == nil {
		j.Violations = []Violation{}
	}
	for _, s := range e.Shares {
		j.Shares = append(j.Shares, s.json(r.Time))
	}
	return j
}

func (s Share) json(total unit.Time) jsonShare {
	link := s.Link != ""
	return jsonShare{s.What.String(), known(link, s.Link), known(link, s.Like), s.Time,
		float64(s.Time) / float64(total), known(link, float64(s.Busy)/float64(total))}
}

func (w *WhatIf) json() *jsonWhatIf {
	if w == nil {
		return nil
	}
	c := w.Changed
	j := &jsonWhatIf{What: c.What.String(), Link: known(c.Link != "", c.Link),
		Like: known(c.Like > 0, c.Like), Time: w.Time}
	if w.Then != nil {
		j.Then = w.Then.json(w.Time)
	}
	return j
}
