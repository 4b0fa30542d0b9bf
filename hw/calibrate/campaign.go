package calibrate

import (
	"context"
	"fmt"
	"slices"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// Class is a kind of link: pairs of ranks whose messages go the same way, such as those inside a
// node. The first pair is measured alone, too; no rank may be in two pairs.
type Class struct {
	Name  string // "node": what its figures are called by
	Pairs [][2]int
	// Table, Preset and Wires say how a scenario has it: the table of the topology that its figures
	// stand in ("topology" if empty; of several classes in one table the first sets its keys, the
	// others are comments), the preset there ("full-mesh" if empty; AsIs leaves it and the ranks to
	// the scenario), and how many wires a message takes there, over which the latency is spread (1
	// if 0; a switch has 2).
	Table, Preset string
	Wires         int
	// Shaped is the rate of its narrowest wire where the network has been built to have it: then
	// the bandwidth that is found is a comment. 0 elsewhere.
	Shaped unit.Rate
	// Own says that every wire of a scenario has figures of its own: then those found are comments.
	Own bool
}

// AsIs is the Preset of a class whose preset and number of ranks are the scenario's to say.
const AsIs = "as is"

// CampaignOptions say what to measure.
type CampaignOptions struct {
	Ranks   int     // of the machine, all of which every job has; 2 if 0
	Classes []Class // one of the first two ranks if there are none
	// Sizes of messages, multiples of 4 bytes; 8 B to 64 MiB by factors of 2 if there are none.
	Sizes []unit.Bytes
	// Budget bounds what an experiment sends from a rank, or copies, but for the least that there
	// is to do; 256 MiB if 0.
	Budget unit.Bytes
	// Local bounds what copies and reductions read instead; Budget if 0.
	Local unit.Bytes
}

// Campaign is a list of experiments, and the parameters that their times are the sums of.
type Campaign struct {
	Parameters  []string
	Experiments []Experiment
	Classes     []Class
	Ranks       int
	Done        func(*Experiment, *hw.Result) // called after each; nil for none
}

// Experiment is a schedule whose time, in the time model, is a sum of parameters.
type Experiment struct {
	Name     string
	Schedule *schedule.Schedule // proven
	Parts    []float64          // of each parameter of the campaign; a time per byte counts bytes
}

// Parameters of every campaign. Those of a class follow its name.
const (
	launch       = "launch"
	overhead     = "overhead"
	copyTime     = "copy time per byte"
	reduceTime   = "reduce time per byte"
	firstOfLinks = 4 // parameters
)

// The parameters of a class, in their order after the first. What wires are busy with changes both
// figures of a message, so each way of using them has a latency and a time per byte of its own.
const (
	byLatency = iota // of a message of one pair alone
	byByte           // likewise
	byDuplex         // with messages both ways at once
	byPairs          // with all pairs at once
	byAll            // with all pairs both ways at once
	byDuplexLatency
	byPairsLatency
	byAllLatency
	perClass
)

// latencyOf is the latency that goes with a time per byte.
func latencyOf(by int) int {
	if by == byByte {
		return byLatency
	}
	return by - byDuplex + byDuplexLatency
}

// NewCampaign makes the experiments: for every class and size ping-pongs of one round and of
// several, streams of messages one way, exchanges both ways at once, ping-pongs and exchanges of
// all pairs at once; and copies and reductions on rank 0. Together they tell the figures of the
// time model apart: a ping-pong of r rounds is launch + 4r·o + 2r·(l + n·β), a stream of k messages
// and one back launch + (k+3)·o + 2l + (k+1)·n·β, an exchange half of a ping-pong; k copies are
// launch + k·(o + n·κ), k reductions of m+1 sources launch + k·(o + m·n·γ + n·κ).
func NewCampaign(o CampaignOptions) (*Campaign, error) {
	o = o.complete()
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Campaign{Classes: o.Classes, Ranks: o.Ranks,
		Parameters: []string{launch, overhead, copyTime, reduceTime}}
	for _, class := range o.Classes {
		ways := []string{" both ways at once", fmt.Sprintf(" of %d pairs at once", len(class.Pairs)),
			fmt.Sprintf(" of %d pairs both ways at once", len(class.Pairs))}
		c.Parameters = append(c.Parameters, class.Name+" "+latency, class.Name+" "+perByte)
		for _, what := range []string{perByte, latency} {
			for _, way := range ways {
				c.Parameters = append(c.Parameters, class.Name+" "+what+way)
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

func (o *CampaignOptions) check() error {
	if o.Ranks < 2 || o.Budget < 0 || o.Local < 0 {
		return fmt.Errorf("calibrate: %d ranks, budgets of %v and %v: at least 2 and 0 are expected",
			o.Ranks, o.Budget, o.Local)
	}
	for _, n := range o.Sizes {
		if n <= 0 || n%4 != 0 || n > unit.GiB {
			return fmt.Errorf("calibrate: a message of %v: a multiple of 4 B up to 1 GiB is expected", n)
		}
	}
	names := map[string]bool{}
	for _, class := range o.Classes {
		if class.Name == "" || names[class.Name] || len(class.Pairs) == 0 || class.Wires < 0 {
			return fmt.Errorf("calibrate: class %q with %d pairs over %d wires: a name of its own, a pair "+
				"and no fewer than 0 wires are expected", class.Name, len(class.Pairs), class.Wires)
		}
		names[class.Name] = true
		taken := map[int]bool{}
		for _, pair := range class.Pairs {
			for _, rank := range pair {
				if rank < 0 || rank >= o.Ranks || taken[rank] {
					return fmt.Errorf("calibrate: class %s: rank %d of pair %v: one of %d ranks is expected "+
						"that is in no other pair", class.Name, rank, pair, o.Ranks)
				}
				taken[rank] = true
			}
		}
	}
	return nil
}

// Asks reports whether any experiment depends on a parameter: none does on those of several pairs
// at once where a class has one.
func (c *Campaign) Asks(parameter int) bool {
	return slices.ContainsFunc(c.Experiments, func(e Experiment) bool {
		return e.Parts[parameter] > 0
	})
}

// Job is what a device is to play for an experiment. Inputs are zeros, the same of all ranks.
func (e *Experiment) Job(env hw.Env) *hw.Job {
	return e.job(env, hw.Memory(e.input()))
}

// job is Job with zeros that there are.
func (e *Experiment) job(env hw.Env, zeros []byte) *hw.Job {
	s := e.Schedule
	job := &hw.Job{Schedule: s, Env: env, Inputs: make([][]byte, s.Spec.Ranks)}
	for rank := range job.Inputs {
		n := e.inputOf(rank)
		job.Inputs[rank] = zeros[:n:n]
	}
	return job
}

// inputOf is how many bytes a rank is given.
func (e *Experiment) inputOf(rank int) int64 {
	return e.Schedule.Len(schedule.Input, rank) * int64(e.Schedule.Spec.Type.Width())
}

// input is how many bytes the rank is given that is given the most.
func (e *Experiment) input() (most int64) {
	for rank := range e.Schedule.Spec.Ranks {
		most = max(most, e.inputOf(rank))
	}
	return most
}

// zeros are enough for every rank of all experiments: no device changes an input, so that all ranks
// may be given the same memory.
func (c *Campaign) zeros() []byte {
	most := int64(0)
	for i := range c.Experiments {
		most = max(most, c.Experiments[i].input())
	}
	return hw.Memory(most)
}

// Sample is what a device's result says of an experiment: the median of its repetitions.
func (e *Experiment) Sample(r *hw.Result) Sample {
	time, spread := r.Median()
	return Sample{Name: e.Name, Time: float64(time), Spread: float64(spread), Parts: e.Parts}
}

// Measure plays all experiments, one after the other, on a device of at least the campaign's ranks.
// Slots must be any number (0), as the experiments' times have it. With an error come the samples
// until then.
func (c *Campaign) Measure(ctx context.Context, d hw.Executor, env hw.Env) ([]Sample, error) {
	if env.Slots != 0 {
		return nil, fmt.Errorf("calibrate: %d slots: experiments need any number of them, 0", env.Slots)
	}
	return c.measure(ctx, d, env, c.zeros())
}

// measure is Measure with zeros that there are.
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
			return samples, fmt.Errorf("calibrate: %s: %w", e.Name, err)
		}
		samples = append(samples, e.Sample(result))
		if c.Done != nil {
			c.Done(e, result)
		}
	}
	return samples, nil
}
