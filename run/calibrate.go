package run

import (
	"context"
	"fmt"
	"slices"

	"collsim/hw"
	"collsim/hw/calibrate"
	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// CalibrateOptions holds the options of measuring a machine.
type CalibrateOptions struct {
	// Sizes of messages; if there are none, powers of 4 up to what the network takes measuringTime
	// for, by the scenario's bandwidth, at most 16 MiB; in a lab the four largest of them and 256
	// B, since its wires let a few frames through at no cost where they were idle.
	Sizes []unit.Bytes
	// Budget bounds what an experiment sends from a rank; the largest size if 0.
	Budget unit.Bytes
	// Repetitions and Warmup are the scenario's if they are 0 and negative.
	Repetitions, Warmup int
	// Executor is the one to be measured where the points of the scenario differ; "" is the
	// first's.
	Executor string
}

// measuringTime is about how long the default sizes are on the wires.
const measuringTime = 45 * unit.Second

// Calibration holds the measurements of a scenario's hardware, and the figures fitted to them.
type Calibration struct {
	Scenario *Scenario
	Point    *scenarios.Point // whose network and hardware were measured
	Campaign *calibrate.Campaign
	Sizes    []unit.Bytes
	Env      hw.Env
	Left     int      // ways that messages take and that were not measured
	Notes    []string // what a reader should know
	Graph    *topology.Graph
	Fit      *calibrate.Fit // nil before Measure
	RanOn    hw.RanOn
	Skew     unit.Time // at most so far were the clocks of two ranks apart
}

// Calibration plans the experiments that determine the figures of a scenario's network and
// hardware: those of [hardware] and [topology]. It refuses a scenario with several networks, as
// the figures of one would be taken for those of another.
func (s *Scenario) Calibration(o CalibrateOptions) (_ *Calibration, err error) {
	defer func() { err = s.located(err) }()
	c := &Calibration{Scenario: s}
	if err := c.choose(o.Executor); err != nil {
		return nil, err
	}
	if c.Graph, err = c.Point.Topology.Graph(); err != nil {
		return nil, err
	}
	h := &c.Point.Hardware
	c.Env = hw.Env{Repetitions: h.Repetitions, Warmup: h.Warmup, Timeout: h.Timeout}
	if o.Repetitions > 0 {
		c.Env.Repetitions = o.Repetitions
	}
	if o.Warmup >= 0 {
		c.Env.Warmup = o.Warmup
	}
	classes, rates, left := linkClasses(s, c.Point, c.Graph)
	if c.Left = left; left > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%s that messages take through the network: the nearest "+
			"ones are measured, %d are not", prose.Plural(len(classes)+left, "way"), left))
	}
	if c.Sizes = o.Sizes; len(c.Sizes) == 0 {
		c.Sizes = c.sizes(rates)
	}
	budget := o.Budget
	if budget == 0 {
		budget = slices.Max(c.Sizes)
	}
	c.Campaign, err = calibrate.NewCampaign(calibrate.CampaignOptions{Ranks: len(c.Graph.Ranks),
		Classes: classes, Sizes: c.Sizes, Budget: budget, Local: max(budget, localBudget)})
	return c, err
}

// choose finds the point whose hardware is measured.
func (c *Calibration) choose(executor string) error {
	points := c.Scenario.Points
	if len(points) == 0 {
		return fmt.Errorf("the scenario has no point, so there is nothing to be measured for")
	}
	networks, hardware := map[*scenarios.Topology]bool{}, map[setting]bool{}
	for _, p := range points {
		networks[p.Topology] = true
		if executor != "" && string(p.Hardware.Executor) != executor {
			continue
		}
		hardware[settingOf(p)] = true
		if c.Point == nil {
			c.Point = p
		}
	}
	switch {
	case c.Point == nil:
		return points[0].Refuse("hardware.executor", "no point is executed on "+executor, "")
	case len(networks) > 1:
		return fmt.Errorf("the scenario has %d networks: one is measured at a time",
			len(networks))
	case c.Point.Topology.Ranks < 2:
		return c.Point.Refuse("topology", "one rank has nobody to talk to: 2 or more are expected", "")
	}
	if most := c.Point.Hardware.Ranks; most > 0 && c.Point.Topology.Ranks > most {
		return c.Point.Refuse("hardware.ranks",
			fmt.Sprintf("the network has %d ranks, the hardware fewer",
				c.Point.Topology.Ranks), "")
	}
	if len(hardware) > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("points of the scenario are executed in %d ways: measured "+
			"is that of the first, %s", len(hardware), c.executedOn()))
	}
	return nil
}

// Names the executor of the experiments, in short: "host (tcp) in a lab".
func (c *Calibration) executedOn() string {
	h := &c.Point.Hardware
	text := string(h.Executor)
	if h.Transport != scenarios.NoTransport {
		text += " (" + h.Transport.String() + ")"
	}
	if h.Network == scenarios.Lab {
		text += " in a lab"
	}
	return text
}

// What sizes are bounded by.
const (
	leastSize   = 64 * unit.Byte
	mostSize    = 16 * unit.MiB
	mostMemory  = 512 * unit.MiB // of all ranks' messages
	largest     = 4              // sizes of a lab, and then
	labSize     = 256 * unit.Byte
	localBudget = 64 * unit.MiB // of copies and sums, which take no network
	// sent is about how many times the largest size a class has on its wires, one after the other,
	// in a repetition of all experiments with sizes 4 times as large each and a budget of the
	// largest.
	sent = 26
)

// sizes returns the message sizes to measure, the largest first. All repetitions at the largest,
// over one route of each rate, take at most measuringTime.
func (c *Calibration) sizes(rates []unit.Rate) (sizes []unit.Bytes) {
	takes := func(n unit.Bytes) (t unit.Time) {
		for _, rate := range rates {
			t += (n * unit.Bytes(sent*(c.Env.Repetitions+c.Env.Warmup))).Over(rate)
		}
		return t
	}
	most, bound := leastSize, min(mostSize, mostMemory/unit.Bytes(len(c.Graph.Ranks)))
	for 2*most <= bound && takes(2*most) <= measuringTime {
		most *= 2
	}
	for n := most; n >= leastSize; n /= 4 {
		sizes = append(sizes, n)
	}
	if c.Point.Hardware.Network == scenarios.Lab && len(sizes) > largest {
		sizes = append(sizes[:largest], labSize)
	}
	slices.Reverse(sizes)
	return sizes
}

// Hardware returns the hardware that executes the experiments: that of the point, which takes our
// own steps and no library's.
func (c *Calibration) Hardware() scenarios.Hardware {
	h := c.Point.Hardware
	h.Library = false
	return h
}

// Measure executes all experiments on a device and fits the figures; it calls done after each
// unless it is nil. An *hw.Error says what went wrong on the device. If the context ends, Measure
// fits the figures to the experiments finished by then, where these are enough.
func (c *Calibration) Measure(ctx context.Context, d hw.Executor, done func()) error {
	if err := c.fits(d); err != nil {
		return err
	}
	c.Campaign.Done = func(_ *calibrate.Experiment, r *hw.Result) {
		c.RanOn, c.Skew = r.RanOn, max(c.Skew, r.Skew)
		if done != nil {
			done()
		}
	}
	if lab, ok := d.(interface{ SendBuffer() unit.Bytes }); ok {
		c.Notes = append(c.Notes, fmt.Sprintf("a socket of this lab takes %v (send_buffer under "+
			"[device]); that follows from its fastest wire, so every lab has its own", lab.SendBuffer()))
	}
	samples, err := c.Campaign.Measure(ctx, d, c.Env)
	if ctx.Err() != nil && len(samples) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("interrupted: %d of %s were executed, and the figures "+
			"rest on these alone", len(samples), prose.Plural(len(c.Campaign.Experiments),
			"experiment")))
		if fit, failed := calibrate.Solve(c.Campaign.Parameters, samples,
			calibrate.Options{}); failed == nil {
			c.Fit = fit
		}
	}
	if err != nil {
		return err
	}
	c.Fit, err = calibrate.Solve(c.Campaign.Parameters, samples, calibrate.Options{})
	return err
}

// fits refuses an experiment that takes more memory than there is, before any is executed.
func (c *Calibration) fits(d hw.Executor) error {
	sizer, sized := d.(hw.Sizer)
	if !sized {
		return nil
	}
	for i := range c.Campaign.Experiments {
		e := &c.Campaign.Experiments[i]
		t := Takes{Executing: unit.Bytes(sizer.Needs(e.Schedule))}
		if err := c.Scenario.Free.lacks(t); err != nil {
			return c.Scenario.located(c.Point.Refuse("topology.ranks",
				e.Name+": "+err.Error(), "smaller messages (--sizes, --budget) or fewer "+
					"ranks need less"))
		}
	}
	return nil
}

// Plan says in a line what is measured: "12 ranks, 2 wires: 4 pairs; 8 sizes from 64 B to 2 MiB".
func (c *Calibration) Plan() string {
	text := prose.Plural(c.Campaign.Ranks, "rank") + " on " + c.executedOn()
	for i := range c.Campaign.Classes {
		class := &c.Campaign.Classes[i]
		text += fmt.Sprintf(", %s: %s", class.Name, prose.Plural(len(class.Pairs), "pair"))
	}
	from, to := slices.Min(c.Sizes), slices.Max(c.Sizes)
	return fmt.Sprintf("%s; %s from %v to %v; %s, each %d times and %d before", text,
		prose.Plural(len(c.Sizes), "size"), from, to,
		prose.Plural(len(c.Campaign.Experiments), "experiment"),
		c.Env.Repetitions, c.Env.Warmup)
}

// AllNotes returns the notes of the plan, and those on figures that the data do not determine.
func (c *Calibration) AllNotes() []string {
	return append(c.Notes[:len(c.Notes):len(c.Notes)], c.Campaign.Doubts(c.Fit)...)
}

// Preset returns the tables of a scenario with the fitted figures, as TOML. Where the network
// itself is built from the scenario, as a lab is, the figures it is built from stay the
// scenario's.
func (c *Calibration) Preset() string {
	head := calibrate.Head{
		Title:  fmt.Sprintf("%s: what was measured for --with", c.Scenario.Name),
		Source: c.RanOn.String() + "\nScenario: " + c.Scenario.File + "\nMeasured: " + c.Plan()}
	for _, note := range c.Notes {
		head.Source += "\nNote: " + note
	}
	return c.Campaign.Preset(head, c.Fit)
}
