package calibrate

import (
	"context"
	"fmt"
	"slices"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// A Class is a kind of link: pairs of ranks whose messages take the same kind of route, such as
// those inside a node. The first pair is also measured alone. No rank may be in two pairs.
type Class struct {
	Name  string // prefix of its parameters, such as "node"
	Pairs [][2]int
	// Table is the scenario's table for its figures; "topology" if empty. If several classes share
	// a table, the first sets its keys, and the others' figures are comments. Preset is the table's
	// preset; "full-mesh" if empty. AsIs leaves the preset and the ranks to the scenario. Wires is
	// the number of wires on a message's route, over which the latency is divided; 1 if 0. A switch
	// has 2.
	Table, Preset string
	Wires         int
	// Shaped is the rate of its narrowest wire, if the network was built to have it. The bandwidth
	// found is then a comment. 0 elsewhere.
	Shaped unit.Rate
	// Own says that every wire of a scenario has figures of its own. The figures found are then
	// comments.
	Own bool
}

// AsIs is the Preset of a class whose scenario sets preset and number of ranks.
const AsIs = "as is"

// CampaignOptions select what to measure.
type CampaignOptions struct {
	Ranks   int     // of the machine; every job has all of them; 2 if 0
	Classes []Class // if none, one of the first two ranks
	// Sizes lists the sizes of messages, multiples of 4 bytes; if none, 8 B to 64 MiB by factors of
	// 2.
	Sizes []unit.Bytes
	// Budget bounds the bytes that a rank sends or copies in an experiment, if more than one
	// repetition is due; 256 MiB if 0.
	Budget unit.Bytes
	// Local bounds the bytes that copies and reductions read, in place of Budget; Budget if 0.
	Local unit.Bytes
}

// A Campaign is a list of experiments. Their times are sums of its parameters.
type Campaign struct {
	Parameters  []string
	Experiments []Experiment
	Classes     []Class
	Ranks       int
	Done        func(*Experiment, *hw.Result) // called after each experiment; nil for none
}

// An Experiment is a schedule whose time is a sum of parameters in the time model.
type Experiment struct {
	Name     string
	Schedule *schedule.Schedule // proven
	Parts    []float64          // multiples of the parameters; bytes for a time per byte
}

// Parameters of every campaign. Parameters of a class begin with its name.
const (
	launch       = "launch"
	overhead     = "overhead"
	copyTime     = "copy time per byte"
	reduceTime   = "reduce time per byte"
	firstOfLinks = 4 // index of the first class's parameters
)

// The parameters of a class, in order. Load on the wires changes both latency and bandwidth, so
// each pattern of use has a latency and a time per byte of its own.
const (
	byLatency = iota // one pair, one direction at a time
	byByte           // the same
	byDuplex         // one pair, both directions at once
	byPairs          // all pairs, one direction at a time
	byAll            // all pairs, both directions at once
	byDuplexLatency
	byPairsLatency
	byAllLatency
	perClass
)

// latencyOf returns the index of the latency that goes with a time per byte.
func latencyOf(by int) int {
	if by == byByte {
		return byLatency
	}
	return by - byDuplex + byDuplexLatency
}

// NewCampaign plans the experiments. Every class and size has ping-pongs of one and of several
// rounds, streams in one direction, and exchanges in both. With several pairs, all pairs repeat the
// last two at once. Rank 0 also copies and reduces. Their times determine the parameters of the
// time model:
//
//	ping-pong of r rounds          launch + 4r·o + 2r·(l + n·β)
//	stream of k and one back       launch + (k+3)·o + 2l + (k+1)·n·β
//	exchange of r rounds           launch + 2r·o + r·(l + n·β)
//	k copies                       launch + k·(o + n·κ)
//	k reductions of m+1 sources    launch + k·(o + m·n·γ + n·κ)
func NewCampaign(o CampaignOptions) (*Campaign, error) {
	o = o.complete()
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Campaign{Classes: o.Classes, Ranks: o.Ranks,
		Parameters: []string{launch, overhead, copyTime, reduceTime}}
	for _, class := range o.Classes {
		uses := []string{" both ways at once", fmt.Sprintf(" of %d pairs at once", len(class.Pairs)),
			fmt.Sprintf(" of %d pairs both ways at once", len(class.Pairs))}
		c.Parameters = append(c.Parameters, class.Name+" "+latency, class.Name+" "+perByte)
		for _, what := range []string{perByte, latency} {
			for _, use := range uses {
				c.Parameters = append(c.Parameters, class.Name+" "+what+use)
			}
		}
	}
	p := planner{campaign: c, options: o}
	for i := range o.Classes {
		for _, n := range o.Sizes {
			p.messages(i, n)
		}
	}
	for _, n := range o.Sizes {
		p.local(n)
	}
	return c, p.err
}

// complete fills in defaults.
func (o CampaignOptions) complete() CampaignOptions {
	if o.Ranks == 0 {
		o.Ranks = 2
	}
	if len(o.Classes) == 0 {
		o.Classes = []Class{{Name: "link", Pairs: [][2]int{{0, 1}}}}
	}
	if len(o.Sizes) == 0 {
		for n := 8 * unit.Byte; n <= 64*unit.MiB; n *= 2 {
			o.Sizes = append(o.Sizes, n)
		}
	}
	if o.Budget == 0 {
		o.Budget = 256 * unit.MiB
	}
	if o.Local == 0 {
		o.Local = o.Budget
	}
	return o
}

// check validates the options.
func (o *CampaignOptions) check() error {
	if o.Ranks < 2 || o.Budget < 0 || o.Local < 0 {
		return fmt.Errorf("%d ranks, budgets of %v and %v: at least 2 and 0 are expected",
			o.Ranks, o.Budget, o.Local)
	}
	for _, n := range o.Sizes {
		if n <= 0 || n%4 != 0 || n > unit.GiB {
			return fmt.Errorf("a message of %v: a multiple of 4 B up to 1 GiB is expected", n)
		}
	}
	names := map[string]bool{}
	for _, class := range o.Classes {
		if class.Name == "" || names[class.Name] || len(class.Pairs) == 0 || class.Wires < 0 {
			return fmt.Errorf("class %q with %d pairs over %d wires: a name of its own, a pair "+
				"and no fewer than 0 wires are expected", class.Name, len(class.Pairs), class.Wires)
		}
		names[class.Name] = true
		taken := map[int]bool{}
		for _, pair := range class.Pairs {
			for _, rank := range pair {
				if rank < 0 || rank >= o.Ranks || taken[rank] {
					return fmt.Errorf("class %s: rank %d of pair %v: one of %d ranks is expected "+
						"that is in no other pair", class.Name, rank, pair, o.Ranks)
				}
				taken[rank] = true
			}
		}
	}
	return nil
}

// Asks reports whether any experiment depends on a parameter. None depends on those of several
// pairs if a class has one pair.
func (c *Campaign) Asks(parameter int) bool {
	return slices.ContainsFunc(c.Experiments, func(e Experiment) bool {
		return e.Parts[parameter] > 0
	})
}

// job returns the job of an experiment. Inputs are the zeros, which all ranks share.
func (e *Experiment) job(env hw.Env, zeros []byte) *hw.Job {
	s := e.Schedule
	job := &hw.Job{Schedule: s, Env: env, Inputs: make([][]byte, s.Spec.Ranks)}
	for rank := range job.Inputs {
		n := e.inputOf(rank)
		job.Inputs[rank] = zeros[:n:n]
	}
	return job
}

// inputOf returns the size of a rank's input in bytes.
func (e *Experiment) inputOf(rank int) int64 {
	return e.Schedule.Len(schedule.Input, rank) * int64(e.Schedule.Spec.Type.Width())
}

// input returns the size of the largest input in bytes.
func (e *Experiment) input() (most int64) {
	for rank := range e.Schedule.Spec.Ranks {
		most = max(most, e.inputOf(rank))
	}
	return most
}

// zeros returns an input that is long enough for every rank of all experiments. All ranks share it,
// since no executor changes an input.
func (c *Campaign) zeros() []byte {
	most := int64(0)
	for i := range c.Experiments {
		most = max(most, c.Experiments[i].input())
	}
	return hw.Memory(most)
}

// Sample returns the sample of an experiment: the median time of the repetitions, and their spread.
func (e *Experiment) Sample(r *hw.Result) Sample {
	time, spread := r.Median()
	return Sample{Name: e.Name, Time: float64(time), Spread: float64(spread), Parts: e.Parts}
}

// Measure executes all experiments in order, on an executor with at least the campaign's ranks.
// Slots must be 0, any number, as the formulas assume. With an error it returns the samples so far.
func (c *Campaign) Measure(ctx context.Context, d hw.Executor, env hw.Env) ([]Sample, error) {
	if env.Slots != 0 {
		return nil, fmt.Errorf("%d slots: experiments need any number of them, 0", env.Slots)
	}
	return c.measure(ctx, d, env, c.zeros())
}

// measure does the work of Measure with the given zeros as inputs.
func (c *Campaign) measure(
	ctx context.Context, d hw.Executor, env hw.Env, zeros []byte,
) (samples []Sample, err error) {
	for i := range c.Experiments {
		if err := ctx.Err(); err != nil {
			return samples, err
		}
		e := &c.Experiments[i]
		result, err := d.Run(ctx, e.job(env, zeros))
		if err != nil {
			return samples, fmt.Errorf("%s: %w", e.Name, err)
		}
		samples = append(samples, e.Sample(result))
		if c.Done != nil {
			c.Done(e, result)
		}
	}
	return samples, nil
}
