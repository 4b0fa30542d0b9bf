package collsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"collsim/collective"
	"collsim/scenarios"
	"collsim/unit"
)

// The JSON form: names and meanings are a contract. Keys may be added, never renamed.
type (
	jsonReport struct {
		Collsim  string       `json:"collsim"`
		Schema   int          `json:"schema"`
		Scenario string       `json:"scenario"`
		Name     string       `json:"name"`
		Seed     any          `json:"seed"` // here and below: null where results differ
		Set      []string     `json:"set"`
		Topology jsonTopology `json:"topology"`
		Device   any          `json:"device"`
		Sharing  any          `json:"sharing"`
		Results  []jsonResult `json:"results"`
		Skipped  []jsonSkip   `json:"skipped"`
		Warnings []string     `json:"warnings"`
		// Fidelity sums up what was measured; it is left out of a simulation.
		Fidelity *jsonFidelity `json:"fidelity,omitempty"`
	}
	jsonTopology struct {
		Preset any `json:"preset"`
		Nodes  any `json:"nodes"`
		Ranks  any `json:"ranks"`
	}
	jsonResult struct {
		ID         string      `json:"id"`
		Point      jsonPoint   `json:"point"`
		Variant    string      `json:"variant"`
		Kind       string      `json:"kind"`
		Algorithm  string      `json:"algorithm"`
		Ranks      int         `json:"ranks"`
		Bytes      int64       `json:"bytes"`
		Count      int64       `json:"count"`
		DType      string      `json:"dtype"`
		Op         string      `json:"op"`
		Root       int         `json:"root"`
		InPlace    bool        `json:"in_place"`
		Executor   string      `json:"executor"`
		Engine     any         `json:"engine"`
		Time       any         `json:"time_ps"`
		AlgBW      any         `json:"algbw_GBps"`
		BusBW      any         `json:"busbw_GBps"`
		PeakLink   any         `json:"peak_link_GBps"`
		Rounds     any         `json:"rounds"`
		Steps      any         `json:"steps"`
		Messages   any         `json:"messages"`
		BytesSent  any         `json:"bytes_sent"`
		LinkBytes  any         `json:"link_bytes"`
		ClosedForm any         `json:"closed_form_ps"`
		LowerBound unit.Time   `json:"lower_bound_ps"` // 0 for custom, of which nothing is known
		Bounds     jsonBounds  `json:"bounds"`
		Proof      string      `json:"proof"`
		Slots      int         `json:"slots"`
		MinSlots   any         `json:"min_slots"`
		Violations []Violation `json:"violations"`
		Numbers    string      `json:"numbers"`
		Checked    any         `json:"checked_count"`
		Wrong      any         `json:"wrong"`
		MaxULP     any         `json:"max_ulp"`
		RanksAgree any         `json:"ranks_agree"`
		// Numerics is null where numbers are off.
		Numerics *jsonNumerics `json:"numerics"`
		Limit    *jsonLimit    `json:"limit"`
		HW       any           `json:"hw"`
		// NumbersWhy is why numbers are off though they were asked for, left out elsewhere.
		NumbersWhy string `json:"numbers_why,omitempty"`
		// Asked is the algorithm as the scenario has it: "fastest" where Algorithm was chosen from
		// Candidates, which are null otherwise.
		Asked      string          `json:"asked"`
		Candidates []jsonCandidate `json:"candidates"`
		Teams      int             `json:"teams"`

		Shape    []int64         `json:"shape,omitempty"` // of inputs, where they are tensors
		Axis     int             `json:"axis,omitempty"`
		Concat   int             `json:"concat,omitempty"`
		Compare  *jsonComparison `json:"compare,omitempty"`  // with the file of the key compare
		Gradient *jsonGradient   `json:"gradient,omitempty"` // of a backward pass
	}
	jsonCandidate struct {
		Algorithm string `json:"algorithm"`
		Time      any    `json:"time_ps"` // null where it was left out
		Why       string `json:"why"`
	}
	jsonSkip struct {
		ID        string    `json:"id"`
		Point     jsonPoint `json:"point"`
		Kind      string    `json:"kind"`
		Algorithm string    `json:"algorithm"`
		Ranks     int       `json:"ranks"`
		Bytes     int64     `json:"bytes"`
		Why       string    `json:"why"`
	}
	jsonLimit struct {
		What string `json:"what"`
		Name string `json:"name"`
		Like int    `json:"like"`
		Busy any    `json:"busy"`
	}
)

// jsonPoint writes what [sweep] set, in its order.
type jsonPoint []scenarios.Axis

// MarshalJSON makes an object of it.
func (axes jsonPoint) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, a := range axes {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(a.Path, "")
		if err != nil {
			return nil, err
		}
		value, err := encode(a.Value, "")
		if err != nil {
			return nil, err
		}
		b.Write(bytes.TrimSpace(key))
		b.WriteByte(':')
		b.Write(bytes.TrimSpace(value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON writes reports: an object for one, an array of them for several. It ends with a newline.
func JSON(reports ...*Report) ([]byte, error) {
	list := make([]jsonReport, len(reports))
	for i, r := range reports {
		list[i] = r.json()
	}
	if len(list) == 1 {
		return encode(list[0], "  ")
	}
	return encode(list, "  ")
}

// encode leaves <, > and & as they are: links are called a->b.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}

func (r *Report) json() jsonReport {
	s := r.Scenario
	j := jsonReport{Collsim: Version, Schema: 1, Scenario: s.File, Name: s.Name,
		Set: orEmpty(s.Set), Results: make([]jsonResult, 0, len(r.Results)),
		Skipped:  make([]jsonSkip, 0, len(r.Skipped)),
		Warnings: orEmpty(r.Warnings)}
	j.Seed = shared(s.Points, func(p *scenarios.Point) int64 { return p.Seed })
	j.Topology.Preset = shared(s.Points, func(p *scenarios.Point) string { return p.Topology.Preset })
	j.Topology.Nodes = shared(s.Points, func(p *scenarios.Point) int { return p.Topology.Nodes })
	j.Topology.Ranks = shared(s.Points, func(p *scenarios.Point) int { return p.Topology.Ranks })
	j.Device = shared(s.Points, func(p *scenarios.Point) string { return p.Device.Name })
	j.Sharing = shared(s.Points, func(p *scenarios.Point) string { return p.Sim.Sharing })
	j.Fidelity = r.fidelityJSON()
	for _, result := range r.Results {
		j.Results = append(j.Results, result.json())
	}
	for _, skip := range r.Skipped {
		p := skip.Point
		j.Skipped = append(j.Skipped, jsonSkip{ID: p.ID, Point: p.Axes, Kind: p.Spec.Kind.String(),
			Algorithm: p.Algorithm.String(), Ranks: p.Spec.Ranks, Bytes: int64(p.Spec.Bytes()),
			Why: skip.Why})
	}
	return j
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// shared is what all points have, nil if they differ.
func shared[T comparable](points []*scenarios.Point, fact func(*scenarios.Point) T) any {
	for _, p := range points {
		if fact(p) != fact(points[0]) {
			return nil
		}
	}
	if len(points) == 0 {
		return nil
	}
	return fact(points[0])
}

func (r *Result) json() jsonResult {
	p, spec := r.Point, r.Point.Spec
	j := jsonResult{ID: p.ID, Point: p.Axes, Kind: spec.Kind.String(),
		Algorithm: r.Algorithm.String(), Ranks: spec.Ranks, Bytes: int64(spec.Bytes()),
		Asked: p.Algorithm.String(), Teams: r.Teams,
		LowerBound: r.Bounds.Lower, Bounds: partsOf(r.Bounds),
		Count: r.count(), DType: spec.Type.String(), Op: r.op(), Root: r.root(),
		InPlace: spec.InPlace, Executor: "sim", Proof: r.Proof, Slots: r.Slots,
		Violations: r.Violations, Numbers: r.Numbers,
		Rounds: known(r.Rounds >= 0, r.Rounds), MinSlots: known(r.MinSlots >= 0, r.MinSlots),
		ClosedForm: known(r.ClosedForm >= 0, int64(r.ClosedForm))}
	j.NumbersWhy, j.HW = r.numbersOff, r.Measured.json()
	if c := p.Tensor; c != nil {
		j.Shape, j.Axis, j.Concat = c.Shape, c.Axis, c.Concat
	}
	j.Compare, j.Gradient = r.Comparison.json(), r.Gradient.json()
	if j.Violations == nil {
		j.Violations = []Violation{}
	}
	for _, c := range r.Candidates {
		j.Candidates = append(j.Candidates, jsonCandidate{c.Algorithm.String(),
			known(c.Time >= 0, int64(c.Time)), c.Why})
	}
	if r.Numbers != Off {
		j.Checked, j.Wrong, j.RanksAgree = r.Checked, r.Wrong, r.RanksAgree
		j.MaxULP = finite(r.MaxULP)
		j.Numerics = r.numericsJSON()
	}
	if !r.Timed {
		return j
	}
	j.Engine, j.Time = r.Engine, int64(r.Time)
	j.AlgBW, j.BusBW, j.PeakLink = rate(r.AlgBW()), rate(r.BusBW()), rate(r.PeakLink())
	j.Steps, j.Messages = r.Steps, r.Messages
	j.BytesSent, j.LinkBytes = int64(r.BytesSent), int64(r.LinkBytes)
	if busy, ok := r.Busy(); ok && r.Limit.Name != "" {
		j.Limit = &jsonLimit{"link", r.Limit.Name, r.Limit.Like, math.Round(busy*1e4) / 1e4}
	}
	return j
}

// known is a value, or nil where there is none.
func known[T any](ok bool, v T) any {
	if !ok {
		return nil
	}
	return v
}

// rate is a bandwidth, or nil where there is none.
func rate(gbps float64, ok bool) any { return known(ok, gbps) }

// finite is a number that JSON can hold, or nil.
func finite(x float64) any { return known(!math.IsNaN(x) && !math.IsInf(x, 0), x) }

// count is the number of elements as in the NCCL call; where blocks differ, of the largest buffer.
func (r *Result) count() int64 {
	return countOf(r.Point.Spec)
}

func countOf(spec collective.Spec) int64 {
	if spec.Kind.Splits() {
		return int64(spec.Bytes() / unit.Bytes(spec.Type.Width()))
	}
	return spec.Count
}

func (r *Result) op() string { return opOf(r.Point.Spec) }

// opOf is the operator as a scenario has it, "none" for kinds without one.
func opOf(spec collective.Spec) string {
	switch {
	case spec.Op == 0:
		return "none"
	case spec.Op == collective.PremulSum && spec.Factor != 1:
		return fmt.Sprintf("premulsum(factor=%v)", spec.Factor)
	}
	return spec.Op.String()
}

func (r *Result) root() int { return rootOf(r.Point.Spec) }

// rootOf is −1 for kinds without a root, as in nccl-tests.
func rootOf(spec collective.Spec) int {
	if !spec.Kind.Rooted() {
		return -1
	}
	return spec.Root
}
