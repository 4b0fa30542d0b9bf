package run

import (
	"fmt"
	"strings"

	"collsim/device"
	"collsim/hw/calibrate"
	"collsim/internal/prose"
	"collsim/machine"
	"collsim/scenarios"
	"collsim/unit"
)

// ncclFigure is a figure of a machine that times of NCCL's calls may determine.
type ncclFigure struct {
	calibrate.Prior
	// spent reports whether a call spends it.
	spent func(c ncclCall) bool
	// into puts the figure among those of a machine.
	into func(c *changes, value float64)
	// text writes it for a reader; isNew says that nothing was known of it.
	text  func(value float64) string
	isNew bool
}

// ncclCall holds the facts that decide which figures a call spends.
type ncclCall struct {
	algorithm, protocol string // as a shape and a protocol are called; empty for sends and receives
	process             string
	nodes               int
}

// isSwitched reports whether NVSwitches add up.
func (c *ncclCall) isSwitched() bool { return strings.HasPrefix(c.algorithm, "nvls") }

// changes are figures of a machine in place of its own.
type changes struct {
	of        *machine.Machine
	protocols []device.Protocol
	figures   []machine.Figure
	round     bool // as a reader wants to see them
	tables    int  // that they are from
}

// each applies change to rows of NCCL's protocols: to those of NVLS if switched is set, else to
// all others of the protocol; "" stands for every protocol.
func (c *changes) each(protocol string, switched bool, change func(p *device.Protocol)) {
	for i := range c.protocols {
		p := &c.protocols[i]
		isOf := strings.HasPrefix(p.Shape, "nvls")
		if isOf == switched && (switched || protocol == "" || p.Protocol == protocol) {
			change(p)
		}
	}
}

// set gives the machine a figure.
func (c *changes) set(name, is string) {
	f := machine.Figure{Name: name, Is: is, Source: c.fitted()}
	if own := c.of.Figure(name); own != nil {
		f.Sheet = own.Sheet
	}
	c.figures = append(c.figures, f)
}

// fitted says where a figure is from.
func (c *changes) fitted() string { return "fitted to " + prose.Plural(c.tables, "table") }

// addProtocols adds the figures of protocols that are not as they were. Those of shapes that no
// table has are assumed: they have changed as the others have.
func (c *changes) addProtocols(was []device.Protocol, used map[string]bool) {
	for i := range c.protocols {
		p, old := &c.protocols[i], &was[i]
		if *p == *old {
			continue
		}
		var changed, same []string
		costs, before := p.Costs(), old.Costs()
		for k := range costs {
			switch {
			case *costs[k].Of != *before[k].Of:
				changed = append(changed, costs[k].Name)
			case *costs[k].Of > 0:
				same = append(same, costs[k].Name)
			}
		}
		if p.Rate != old.Rate {
			changed = append(changed, "rate")
		}
		how := c.fitted()
		if !used[p.Shape] {
			how = "assumed, changed as what was " + how
		}
		source := how + ": " + strings.Join(changed, ", ")
		if len(same) > 0 {
			source += "; " + strings.Join(same, ", ") + ": " + old.Source
		}
		c.figures = append(c.figures, machine.Figure{Name: p.Shape + "_" + p.Protocol,
			Is: machine.ProtocolText(p), Source: source})
	}
}

// Steps to which figures are rounded for a reader.
const (
	timeStep  = 10e3  // 10 ns
	rateStep  = 10e6  // 10 MB/s
	shareStep = 1000. // 0.1 %
)

func (c *changes) time(t float64) unit.Time { return unit.Time(c.rounded(t, timeStep)) }

func (c *changes) rate(r float64) unit.Rate { return max(unit.Rate(c.rounded(r, rateStep)), 1) }

func (c *changes) share(s float64) unit.Share { return unit.Share(c.rounded(s, shareStep)) }

// rounded returns the nearest whole number, or for a reader the nearest multiple of a step, if that
// is a small part of it.
func (c *changes) rounded(x, step float64) int64 {
	if !c.round || x < 20*step {
		return int64(x + 0.5)
	}
	return int64(x/step+0.5) * int64(step)
}

// scale multiplies times.
func (c *changes) scale(by float64, times ...*unit.Time) {
	for _, t := range times {
		*t = c.time(float64(*t) * by)
	}
}

// How far figures may be from what is known without tables: standard deviations of logarithms, but
// of the ramp, which NCCL's tables do not have.
const (
	wideBase, wideHop, wideRate = 0.4, 0.4, 0.6
	wideLink, wideFabric        = 0.15, 0.7
	wideIssue                   = 0.4
	wideRamp                    = float64(10 * unit.Microsecond)
)

// Texts of figures for a reader.
func timeText(t float64) string { return (&changes{round: true}).time(t).String() }

func rateText(r float64) string { return (&changes{round: true}).rate(r).String() }

func shareText(s float64) string { return (&changes{round: true}).share(s).String() }

// timesOf writes a factor as so many times what a time is.
func timesOf(t unit.Time) func(float64) string {
	return func(by float64) string { return timeText(float64(t) * by) }
}

// factor returns the prior of a figure that multiplies others: 1, with the given spread.
func factor(name string, spread float64) calibrate.Prior {
	return calibrate.Prior{Name: name, Value: 1, Spread: spread}
}

// ncclFigures lists what may be found of a machine whose device is d. Base and hop of a protocol
// are factors on what all shapes have, and are reported as a ring's.
func ncclFigures(m *machine.Machine, d *device.Device) []ncclFigure {
	var list []ncclFigure
	for _, protocol := range []string{"ll", "ll128", "simple"} {
		list = append(list, protocolFiguresOf(m, d, protocol)...)
	}
	list = append(list, rampOf("ramp", false))
	if m.Multicast && d.MultimemEfficiency > 0 {
		list = append(list, switchFigures(d)...)
	}
	return append(append(list, linkFigures(m)...), hostFigures()...)
}

// protocolFiguresOf lists those of a protocol.
func protocolFiguresOf(m *machine.Machine, d *device.Device, protocol string) []ncclFigure {
	ring := device.Protocol{}
	for _, p := range m.Protocols(d.Protocols) {
		if p.Shape == "ring" && p.Protocol == protocol {
			ring = p
		}
	}
	spent := func(c ncclCall) bool {
		return !c.isSwitched() && (c.protocol == protocol || c.protocol == "" && protocol != "ll128")
	}
	list := []ncclFigure{
		{Prior: factor("base of "+protocol, wideBase), spent: spent, text: timesOf(ring.Base),
			into: func(c *changes, by float64) {
				c.each(protocol, false, func(p *device.Protocol) { c.scale(by, &p.Base) })
			}},
		{Prior: factor("hop of "+protocol, wideHop), spent: spent, text: timesOf(ring.NVLink),
			into: func(c *changes, by float64) {
				c.each(protocol, false, func(p *device.Protocol) { c.scale(by, &p.NVLink, &p.PCIe) })
			}}}
	if protocol == "simple" || d.LaneRate >= unit.Unlimited {
		return list
	}
	return append(list, ncclFigure{Prior: calibrate.Prior{Name: "rate of a channel by " + protocol,
		Value: float64(d.LaneRate) / 2, Spread: wideRate, IsRate: true, Most: float64(d.LaneRate)},
		spent: spent, text: rateText, isNew: ring.Rate == 0,
		into: func(c *changes, value float64) {
			c.each(protocol, false, func(p *device.Protocol) { p.Rate = c.rate(value) })
		}})
}

// rampOf returns the figure of the protocols' ramp: of NVLS, which adds up in NVSwitches, or of
// all others.
func rampOf(name string, switched bool) ncclFigure {
	return ncclFigure{Prior: calibrate.Prior{Name: name, Spread: wideRamp, Added: true},
		spent: func(c ncclCall) bool { return c.isSwitched() == switched }, text: timeText, isNew: true,
		into: func(c *changes, value float64) {
			c.each("", switched, func(p *device.Protocol) { p.Ramp = c.time(value) })
		}}
}

// switchFigures lists those of NVSwitches that add up.
func switchFigures(d *device.Device) []ncclFigure {
	spent := func(c ncclCall) bool { return c.isSwitched() }
	base, _ := d.ProtocolOf("nvls", "simple")
	return []ncclFigure{rampOf("ramp of nvls", true),
		{Prior: factor("base and hops of nvls", wideBase), spent: spent, text: timesOf(base.Base),
			into: func(c *changes, by float64) {
				c.each("", true, func(p *device.Protocol) { c.scale(by, &p.Base, &p.NVLink) })
			}},
		{Prior: calibrate.Prior{Name: "multimem_efficiency", Value: float64(d.MultimemEfficiency),
			Spread: wideLink, IsRate: true, Most: float64(device.AllEfficiency)}, spent: spent,
			text: shareText, into: func(c *changes, value float64) {
				c.set("multimem_efficiency", c.share(value).String())
			}}}
}

// linkFigures lists those of links and NICs.
func linkFigures(m *machine.Machine) (list []ncclFigure) {
	for _, name := range []string{"gpu_rate", "link_rate", "pcie_rate", "cpu_rate"} {
		f := m.Figure(name)
		if f == nil {
			continue
		}
		was, err := unit.ParseRate(f.Is)
		if err != nil {
			panic(err) // it has been read
		}
		list = append(list, ncclFigure{Prior: calibrate.Prior{Name: name, Value: float64(was),
			Spread: wideLink, IsRate: true}, spent: func(ncclCall) bool { return true }, text: rateText,
			into: func(c *changes, value float64) { c.set(name, c.rate(value).String()) }})
	}
	between := func(c ncclCall) bool { return c.nodes > 1 }
	share := factor("nic_share", wideLink)
	share.IsRate = true
	return append(list,
		ncclFigure{Prior: calibrate.Prior{Name: "hop", Value: float64(m.Hop), Spread: wideFabric},
			spent: between, text: timeText,
			into: func(c *changes, value float64) { c.set("hop", c.time(value).String()) }},
		ncclFigure{Prior: share, spent: between,
			text: func(by float64) string { return (&changes{of: m, round: true}).shares(by) },
			into: func(c *changes, by float64) { c.set("nic_share", c.shares(by)) }})
}

// hostFigures lists those of a process for several GPUs.
func hostFigures() []ncclFigure {
	isOne := func(c ncclCall) bool { return c.process == oneProcess }
	issue := func(name string, value unit.Time, spent func(ncclCall) bool) ncclFigure {
		return ncclFigure{Prior: calibrate.Prior{Name: name, Value: float64(value), Spread: wideIssue},
			spent: spent, text: timeText,
			into: func(c *changes, value float64) { c.set(name, c.time(value).String()) }}
	}
	call, message := scenarios.IssueTimes()
	return []ncclFigure{issue("issue", call, isOne),
		issue("issue_message", message, func(c ncclCall) bool { return isOne(c) && c.algorithm == "" })}
}

// shares writes what is reached of a NIC's rate, so many times what the machine has.
func (c *changes) shares(by float64) string {
	var parts []string
	for _, s := range c.of.Shares {
		is := c.share(min(float64(s.Of)*by, float64(device.AllEfficiency))).String()
		if len(c.of.Shares) > 1 {
			is = fmt.Sprintf("%d: %s", s.Nodes, is)
		}
		parts = append(parts, is)
	}
	return strings.Join(parts, ", ")
}
