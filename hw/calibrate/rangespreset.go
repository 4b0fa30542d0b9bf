package calibrate

import (
	"fmt"
	"math"

	"collsim/unit"
)

// wiresOfSwitch is the number of wires on a route of the preset.
const wiresOfSwitch = 2

// Preset formats the tables [topology] and [device] of a scenario that reproduces the fitted times.
// Ranks are connected by a switch. Ports have the bandwidth of the fastest range, and wires half of
// the least latency. A [[device.range]] for each range lowers the bandwidth and raises the latency.
// Costs that the fit assumed to be 0 are set to 0.
func (r *Ranges) Preset(h Head, ranks int) string { return r.print(h, ranks).String() }

// Doubts lists the figures of the preset that the data do not determine, and the values used
// instead, one a line.
func (r *Ranges) Doubts() []string { return r.print(Head{}, 2).doubts }

// print formats the preset.
func (r *Ranges) print(h Head, ranks int) *printer {
	p := &printer{}
	p.head(h, r.Trained, r.HeldOut)
	fast, near := r.base()
	p.table("topology")
	p.printf("preset = \"switch\"\nranks = %d\n", ranks)
	p.rate("bandwidth", fast.Fit, 1)
	known := near.Fit.Estimates[0].High
	wire := rounded(near.Wire.Alpha / wiresOfSwitch)
	switch {
	case math.IsInf(known, 1):
		p.time("latency", near.Fit, 0, wiresOfSwitch)
	default:
		p.printf("latency = %q  # of each of a message's %d wires\n", unit.Time(wire), wiresOfSwitch)
	}
	p.table("device")
	p.printf("preset = \"ideal\"\n# The fit took these to cost nothing.\noverhead = \"0 s\"\n" +
		"reduce_rate = \"unlimited\"\ncopy_rate = \"unlimited\"\nlane_rate = \"unlimited\"\n")
	p.launch(r.Launch)
	if len(r.Ranges) == 1 {
		p.printf("# Messages of all sizes.\n")
	} else {
		last := &r.Ranges[len(r.Ranges)-1]
		p.printf("# Messages that are longer than all ranges: %s.\n", last.seen())
	}
	base := Wire{Alpha: near.Wire.Alpha, Beta: fast.Wire.Beta}
	p.message(&r.Ranges[len(r.Ranges)-1], base)
	if len(r.Ranges) == 1 {
		p.printf("range = []\n")
	}
	for i := range r.Ranges[:len(r.Ranges)-1] {
		one := &r.Ranges[i]
		p.table("[device.range]")
		p.printf("up_to = %q  # %s\n", one.UpTo, one.seen())
		p.message(one, base)
	}
	p.residuals(r.Residuals)
	return p
}

// base returns the range with the fastest byte and the range with the least latency.
func (r *Ranges) base() (fast, near *Range) {
	fast, near = &r.Ranges[0], &r.Ranges[0]
	for i := range r.Ranges {
		one := &r.Ranges[i]
		if e := one.Fit.Estimates[1]; one.Wire.Beta <= fast.Wire.Beta && e.Value > 0 &&
			e.Value <= one.Wire.Beta {
			fast = one
		}
		if one.Wire.Alpha < near.Wire.Alpha {
			near = one
		}
	}
	return fast, near
}

// seen formats the sizes that a range was fitted to.
func (r *Range) seen() string {
	text := fmt.Sprintf("seen %v to %v", r.MessageFrom, r.MessageTo)
	if r.From != r.MessageFrom || r.To != r.MessageTo {
		text += fmt.Sprintf(", in calls of %v to %v", r.From, r.To)
	}
	return text
}

// message writes the figures of a range as differences from the network's, over all wires of a
// message.
func (p *printer) message(r *Range, network Wire) {
	e := r.Fit.Estimates
	alpha, beta := &e[0], &e[1]
	more := rounded(r.Wire.Alpha - network.Alpha)
	p.printf("latency = %q  # %s\n", unit.Time(more), p.doubt("latency", r, alpha,
		unit.Time(rounded(r.Wire.Alpha)).String(), func(v float64) string {
			return unit.Time(rounded(v)).String()
		}))
	efficiency := unit.Share(1_000_000)
	if r.Wire.Beta > network.Beta {
		efficiency = unit.Share(max(100, math.Round(1e6*network.Beta/r.Wire.Beta)))
	}
	p.printf("efficiency = %q  # %s\n", efficiency, p.doubt("bandwidth", r, beta,
		rateOf(r.Wire.Beta), rateOf))
}

// doubt formats how well a figure is known. It records a doubt if the figure is not known.
func (p *printer) doubt(what string, r *Range, e *Estimate, took string,
	show func(float64) string) string {
	low, high := e.Low, e.High
	if what == "bandwidth" {
		low, high = high, low
	}
	text := fmt.Sprintf("%s %s, 95 %%: %s to %s", what, took, show(low), show(high))
	if e.Known {
		return text
	}
	if math.IsInf(e.High, 1) {
		text = what + " " + took
	}
	text += "; not known: " + e.Why
	p.doubts = append(p.doubts, fmt.Sprintf("of messages of %v to %v, %s", r.MessageFrom, r.MessageTo,
		text+"; the preset has what the fit took"))
	return text
}

// launch writes the cost of a call.
func (p *printer) launch(e *Estimate) {
	switch {
	case e == nil:
		p.printf("launch = \"0 s\"  # a part of the latency: one table cannot tell it from that\n")
	case e.Known:
		p.printf("launch = %q  # 95 %%: %s to %s\n", psOf(e.Value), psOf(e.Low), psOf(e.High))
	default:
		p.printf("launch = %q  # not known: %s; what the fit took\n", psOf(e.Value), e.Why)
		p.doubts = append(p.doubts, fmt.Sprintf("launch is not known: %s; the preset has %s, which the "+
			"fit took", e.Why, psOf(e.Value)))
	}
}

// psOf formats a time in picoseconds.
func psOf(v float64) string { return unit.Time(rounded(v)).String() }
