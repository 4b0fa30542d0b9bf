package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/bounds"
	"collsim/collective"
	"collsim/formats/arrays"
	"collsim/internal/prose"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/trace"
	"collsim/unit"
)

// What became of a check. Of numbers the package reference has more words.
const (
	Proved = "proved"
	Failed = "failed"
	Off    = "off" // not asked for, or impossible as the schedule cannot be carried out
)

// Result holds the results of a point.
type Result struct {
	Point      *scenarios.Point
	Algorithm  scenarios.Algorithm // that was carried out: Point's, or that which "fastest" chose
	Candidates []Candidate         // of "fastest", in the order of the table; else nil
	// Picked is the choice of an algorithm that chooses by itself, as NCCL's and Open MPI's do.
	Picked algos.Pick
	// Teams do the collective at once, each on its own; 1 is all ranks. As nccl-tests has it, ranks,
	// sizes and bandwidths are those of one communicator: of the largest team, in the time of the
	// slowest. Steps, messages, bytes sent and what is wrong are those of all teams.
	Teams int

	Proof      string // Proved, Failed or Off
	Violations []Violation
	Rounds     int // −1 where neither a proof nor a count succeeded
	Slots      int // messages that a connection held at most; 0 is any number
	MinSlots   int // the least with which nothing stalls; −1 without a proof

	Numbers string // "exact", "bounded" (within the proven rounding error), "mismatch" or Off
	Checked int64  // count on which they were checked
	Sampled int    // or output elements that were, all others left out; 0 elsewhere
	Wrong   int64  // elements, on all ranks
	MaxULP  float64
	// MeanULP, MaxRelative, Depth and Bound are those of reference.Report, of teams the largest.
	MeanULP, MaxRelative float64
	Depth                int
	Bound                float64
	RanksAgree           bool // where ranks should have the same, they have the same bits

	Mismatch *reference.Mismatch // the first wrong element, nil if none

	Comparison *Comparison    // with the file that the scenario names; nil if it names none
	Outputs    []arrays.Array // of each rank of the network, where a file for them is named; else nil

	// Numerics holds the effects of rounding; nil unless asked for, or where numbers are off.
	Numerics *Numerics

	Logged   *Logged   // in the file of measured times that the scenario names; else nil
	Measured *Measured // of a result to be executed on hardware; else nil
	Backward *Result   // of the backward pass, where the scenario asks for one; else nil
	Gradient *Gradient // of the result of a backward pass; else nil

	Calls *Calls // in a benchmark's loop; nil unless the scenario asks for one

	Faulted *Faulted // nil unless the scenario has faults
	Arrived *Arrived // nil unless ranks arrive at random

	Timed                bool // false: the schedule came to no end, and all that follows is zero
	Time                 unit.Time
	Engine               string
	Steps, Messages      int64
	BytesSent, LinkBytes unit.Bytes // each message once; once for each link
	Limit                Limit
	Held                 *Held        // what holds it up, where no link is busy for most of the time
	Trace                *trace.Trace // nil unless asked for
	Devices              []string     // by rank: names in the topology; nil unless Trace is asked for
	Critical             []sim.Piece  // the critical path; nil unless Trace is asked for
	Links                []LinkUse    // all of them, by index; nil unless asked for

	// Bounds are times that no schedule with as many lanes beats on this network. With teams they
	// are the largest of one team's bounds, as if it ran alone, or those of all teams together if
	// these are larger.
	Bounds     bounds.Bounds
	ClosedForm unit.Time // as published; −1 where links differ, or for a schedule from a file
	Warnings   []string

	Network    string      // what it was understood as
	ran        *sim.Result // nil unless it is to be explained
	Walked     int         // ranks that the proof carried out, 1 if that stands for all; 0 if none
	Proven     string      // what Proof holds, but for deadlocks and races
	Unbounded  bool        // no bounds are known: of what has no definition
	skipped    string      // why there is no result; empty where there is one
	Data       string      // that numbers were checked on: its kind, or a file
	NumbersOff string      // why Numbers is Off though they were asked for; empty elsewhere
	sampled    bool        // a check was made on a sample, to take less time
	checkedAll bool        // no schedule was checked on fewer elements than it has
}

// Violation is a reason why a schedule is wrong: one of package schedule's, or "stall" where only
// the simulation found that lanes wait for one another.
type Violation struct {
	Kind              string
	Rank              int
	Lane, Step, Chunk int // −1 where it is none in particular
	Text              string
	*Place            // where that is in a file of another format; nil elsewhere
}

// String returns a line such as "race: rank 3 lane 0 step 5: …"; for a file of another format,
// "my.xml:12: race: gpu 3 tb 0 step 5: rrc, chunk 2: …".
func (v Violation) String() string {
	if v.Place != nil && v.What != "" {
		at := v.What
		if v.Chunk >= 0 {
			at += fmt.Sprintf(", chunk %d", v.Chunk)
		}
		return fmt.Sprintf("%v: %s: %s: %s", v.Place, v.Kind, at, v.Text)
	}
	text := fmt.Sprintf("%s: %s: %s", v.Kind, v.where(), v.Text)
	if v.Place != nil {
		text = v.Place.String() + ": " + text
	}
	return text
}

// where names the step in the schedule: "rank 3 lane 0 step 5 chunk 2".
func (v Violation) where() string {
	text := fmt.Sprintf("rank %d", v.Rank)
	for _, at := range []struct {
		name string
		n    int
	}{{"lane", v.Lane}, {"step", v.Step}, {"chunk", v.Chunk}} {
		if at.n >= 0 {
			text += fmt.Sprintf(" %s %d", at.name, at.n)
		}
	}
	return text
}

func violation(v *schedule.Violation) Violation {
	return Violation{Kind: v.Kind.String(), Rank: v.Rank, Lane: v.Lane, Step: v.Step,
		Chunk: v.Chunk, Text: v.Text}
}

// refuted reports whether an error says that the schedule is wrong, and keeps it unless the proof
// has said so already.
func (r *Result) refuted(err error) bool {
	var stall *schedule.StallError
	var wrong *schedule.Violation
	var v Violation
	switch {
	case errors.As(err, &stall):
		w := stall.Waits[0]
		v = Violation{Kind: "stall", Rank: w.Rank, Lane: w.Lane, Step: w.Step, Chunk: w.Chunk,
			Text: stall.Error()}
	case errors.As(err, &wrong):
		v = violation(wrong)
	default:
		return false
	}
	if len(r.Violations) == 0 {
		r.Violations = append(r.Violations, v)
	}
	return true
}

// Good reports whether no check has failed. A run that a fault keeps from its end is not good,
// unless it was executed, with outcomes for all ranks as in the simulation.
func (r *Result) Good() bool {
	told := r.Measured != nil && r.Measured.Told != nil
	return r.sound() && (!told || agrees(r.Measured.Told)) &&
		(told || r.Faulted == nil || !r.Faulted.Hangs)
}

// sound reports whether no check has failed, faults aside.
func (r *Result) sound() bool {
	return len(r.Violations) == 0 && r.Numbers != string(reference.NumbersMismatch) &&
		(r.Comparison == nil || r.Comparison.Equal()) &&
		(r.Measured == nil || r.Measured.Failure == nil) &&
		(r.Gradient == nil || r.Gradient.Law != string(reference.NumbersMismatch))
}

// AlgBW returns nccl-tests' algorithm bandwidth in GB/s (10⁹ bytes per second): the bytes over
// the time PerCall. ok is false where that time is 0.
func (r *Result) AlgBW() (gbps float64, ok bool) {
	t := r.PerCall()
	if t == 0 {
		return 0, false
	}
	return float64(r.Point.Spec.Bytes()) / (float64(t) * 1e-12) / 1e9, true
}

// BusBW returns nccl-tests' bus bandwidth in GB/s: AlgBW times a factor of the kind, with which a
// perfect ring reaches the speed of its links.
func (r *Result) BusBW() (gbps float64, ok bool) {
	return busBW(r.Point.Spec, r.PerCall())
}

// busBW returns the bus bandwidth in GB/s of a collective that takes the time t. ok is false
// where t is 0.
func busBW(spec collective.Spec, t unit.Time) (gbps float64, ok bool) {
	if t == 0 {
		return 0, false
	}
	num, den := spec.BusFactor()
	gbps = float64(spec.Bytes()) / (float64(t) * 1e-12) / 1e9
	return gbps * float64(num) / float64(den), true
}

// Busy returns the share of the time in which the busiest link was busy. ok is false where there
// is no time.
func (r *Result) Busy() (share float64, ok bool) {
	if r.Time == 0 {
		return 0, false
	}
	return float64(r.Limit.Busy) / float64(r.Time), true
}

// PeakLink returns the rate in GB/s of the busiest link while it was busy, which is its bandwidth
// but for rounding. ok is false where no link was busy.
func (r *Result) PeakLink() (gbps float64, ok bool) {
	if r.Limit.Busy == 0 {
		return 0, false
	}
	return float64(r.Limit.Rate) / 1e9, true
}

// closedForm evaluates the published cost, where the network has one α and one β, and where
// messages meet on no other links than the cost knows of. α has what a step costs the device.
func (r *Result) closedForm(n *network) {
	p := r.Point
	if r.Algorithm.FromFile() || !n.uniform() || !n.equalTeams() || r.passes() > 1 ||
		n.meets() == sharedLinks {
		return
	}
	a, err := find(p.Spec.Kind, r.Algorithm.Name)
	if err != nil {
		return
	}
	model := algos.Model{Alpha: n.latency[0] + p.Device.Overhead, Rate: n.rate[0],
		Reduce: p.Device.ReduceRate, Wires: n.meets()}
	if t, err := a.ClosedForm(p.Spec, optionsOn(p, r.Algorithm, a), model); err == nil {
		r.ClosedForm = t
	}
}

// farApart is the factor between two figures of one time beyond which a warning says that they
// differ.
const farApart = 3

// disagree returns the ratio of two figures of one time, the larger to the smaller, and whether
// it exceeds farApart. The ratio is 0 where one of them is not known.
func disagree(a, b unit.Time) (ratio float64, far bool) {
	if a <= 0 || b <= 0 {
		return 0, false
	}
	ratio = float64(max(a, b)) / float64(min(a, b))
	return ratio, ratio > farApart
}

// doubt says where the library's own model predicts another time than the simulation: of a call in
// a benchmark's loop, where there is one, for such the models are made.
func (r *Result) doubt() {
	if ratio, far := disagree(r.PerCall(), r.Picked.Time); far && r.Timed {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s takes %s by its library's model and %s in "+
			"simulation, a factor of %.3g: the model knows machines of its own, the simulation the "+
			"network and the device of the scenario", r.Algorithm.Name, inMicroseconds(r.Picked.Time),
			inMicroseconds(r.PerCall()), ratio))
	}
}

// inMicroseconds formats a time as tables have it.
func inMicroseconds(t unit.Time) string { return fmt.Sprintf("%.1f us", float64(t)/1e6) }

// warn says what a reader of the numbers might stumble over.
func (r *Result) warn(n *network) {
	spec := r.Point.Spec
	r.doubt()
	if r.Numbers != Off && !r.checkedAll {
		text := fmt.Sprintf("numbers checked on count %d instead of %d", r.Checked, CountOf(spec))
		if r.Checked >= CountOf(spec) {
			text = "numbers of some teams checked on fewer elements"
		}
		why := fmt.Sprintf("check.memory = %v holds no more", r.Point.Check.Memory)
		if r.sampled {
			why = "all would take long (check.full = true checks them)"
		}
		if r.Sampled > 0 {
			text = fmt.Sprintf("numbers checked on %d output elements, with all that they depend on",
				r.Sampled)
			why = "all would take long (check.full = true checks them)"
		}
		r.Warnings = append(r.Warnings, text+": "+why)
	}
	r.warnOfNICs(n)
	bus, timed := r.BusBW()
	fastest := unit.Rate(0)
	for _, i := range n.graph.Samples() {
		fastest = max(fastest, n.graph.Link(i).Bandwidth)
	}
	if busy, _ := r.Busy(); timed && fastest > 0 && bus*1e9 > float64(fastest)*1.0001 &&
		spec.Kind != collective.SendRecv {
		peak, _ := r.PeakLink()
		r.Warnings = append(r.Warnings, fmt.Sprintf("busbw %.2f GB/s is above every link: it is "+
			"defined for rings; the busiest link carries %.2f GB/s (%.0f %% of the time)", bus, peak,
			busy*100))
	}
}

// warnOfNICs says where an algorithm has fewer channels than would take all NICs of a node.
func (r *Result) warnOfNICs(n *network) {
	a, err := find(r.Point.Spec.Kind, r.Algorithm.Name)
	sizes := unevenNodes(r.Point)
	if sizes != nil && strings.HasPrefix(r.Algorithm.Name, nccl.Prefix) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: NCCL's model has nodes of as many ranks each, "+
			"and takes these, of %d to %d, for one", r.Algorithm.Name, slices.Min(sizes),
			slices.Max(sizes)))
	}
	nics := min(n.graph.NICs(), inNode(r.Point))
	has := max(r.Algorithm.Channels, 1)
	if err != nil || !a.Turned() || has >= nics {
		return
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("%s: with %s it leaves a node by %d of %d NICs; "+
		"channels = %d takes all", r.Algorithm.Name, prose.Plural(has, "channel"), has,
		n.graph.NICs(), nics))
}

// CountOf returns the number of elements as in the NCCL call; where blocks differ, that of the
// largest buffer.
func CountOf(spec collective.Spec) int64 {
	if spec.Kind.Splits() {
		return int64(spec.Bytes() / unit.Bytes(spec.Type.Width()))
	}
	return spec.Count
}

// OpOf returns the operator as a scenario has it, "none" for kinds without one.
func OpOf(spec collective.Spec) string {
	switch {
	case spec.Op == 0:
		return "none"
	case spec.Op == collective.PremulSum && spec.Factor != 1:
		return fmt.Sprintf("premulsum(factor=%v)", spec.Factor)
	}
	return spec.Op.String()
}
