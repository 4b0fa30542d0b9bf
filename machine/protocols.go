package machine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"collsim/device"
	"collsim/unit"
)

// fittedFigure is a figure that some machines have, fitted to times measured there.
type fittedFigure struct {
	kind
	key string // scenario key that takes the figure as written; empty if there is none
}

// fitted lists the figures that are fitted. It is read-only.
var fitted = sync.OnceValue(func() []fittedFigure {
	list := []fittedFigure{
		{kind{"multimem_efficiency", "what the switch's sums and copies reach of a link",
			aShare, nil}, "device.multimem_efficiency"},
		{kind{"issue", "of a process to issue a call, for each of its GPUs", aTime, nil},
			"benchmark.issue"},
		{kind{"issue_message", "likewise, for each message of a group", aTime, nil},
			"benchmark.issue_message"},
	}
	for _, p := range protocols() {
		list = append(list, fittedFigure{kind: kind{figureOf(&p),
			"calls and messages of this shape and protocol of NCCL's", aProtocol, nil}})
	}
	return list
})

// isOptional reports whether a machine may lack a figure.
func isOptional(name string) bool {
	return name == "env" || name == "tuner" ||
		slices.ContainsFunc(fitted(), func(f fittedFigure) bool { return f.name == name })
}

// aTime checks a time, which a scenario key takes.
func aTime(_ *Machine, s string) error {
	_, err := unit.ParseTime(s)
	return err
}

// aShare checks a share, which a scenario key takes.
func aShare(_ *Machine, s string) error {
	_, err := unit.ParseShare(s)
	return err
}

// aProtocol checks figures of a protocol.
func aProtocol(_ *Machine, s string) error { return setProtocol(&device.Protocol{}, s) }

// protocols lists NCCL's shapes and protocols for which a machine may have figures.
func protocols() (list []device.Protocol) {
	for _, shape := range device.Shapes() {
		for _, protocol := range device.Protocols() {
			list = append(list, device.Protocol{Shape: shape, Protocol: protocol})
		}
	}
	return list
}

// figureOf returns the name of a figure of a shape and a protocol: "ring_ll128".
func figureOf(p *device.Protocol) string { return p.Shape + "_" + p.Protocol }

// Protocols returns the protocols of a device with the machine's figures applied.
func (m *Machine) Protocols(of []device.Protocol) []device.Protocol {
	of = slices.Clone(of)
	for _, p := range protocols() {
		f := m.Figure(figureOf(&p))
		if f == nil {
			continue
		}
		i := slices.IndexFunc(of, func(q device.Protocol) bool {
			return q.Shape == p.Shape && q.Protocol == p.Protocol
		})
		if i < 0 {
			i = len(of)
			of = append(of, p)
		}
		if err := setProtocol(&of[i], f.Is); err != nil {
			panic(err) // it was checked when it was read
		}
		of[i].Source = f.Source
	}
	return of
}

// setProtocol parses "base 6.6 us, nvlink 600 ns, rate 10 GB/s". Figures that are not given stay.
func setProtocol(p *device.Protocol, s string) error {
	costs := p.Costs()
	for _, part := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), " ")
		i := slices.IndexFunc(costs, func(c device.Cost) bool { return c.Name == name })
		var err error
		switch {
		case i >= 0:
			*costs[i].Of, err = unit.ParseTime(value)
		case name == "rate":
			p.Rate, err = unit.ParseRate(value)
		default:
			var names []string
			for _, c := range costs {
				names = append(names, c.Name)
			}
			err = fmt.Errorf("%.20q: one of %s and rate, and a value are expected, such as base 6.6 us",
				part, strings.Join(names, ", "))
		}
		if err != nil {
			return err
		}
	}
	return p.Validate()
}

// ProtocolText formats figures for setProtocol, without costs of zero.
func ProtocolText(p *device.Protocol) string {
	var parts []string
	for _, c := range p.Costs() {
		if *c.Of > 0 || c.Name == "base" {
			parts = append(parts, c.Name+" "+c.Of.String())
		}
	}
	if p.Rate > 0 {
		parts = append(parts, "rate "+p.Rate.String())
	}
	return strings.Join(parts, ", ")
}
