package main

import (
	"fmt"
	"strings"

	"collsim/internal/prose"
	"collsim/machine"
	"collsim/plots"
	"collsim/run"
	"collsim/scenarios"
)

// networkFigure is the picture of a network: of all points that have it.
type networkFigure struct {
	name  string // of the file
	index int    // of the scenario
	point *scenarios.Point
}

// claimNetworks claims the files of --topology: one for each network.
func (out *outputs) claimNetworks() error {
	pattern := out.flags.topology
	if pattern == "" {
		return nil
	}
	seen := map[*scenarios.Topology]string{}
	for index, s := range out.scenarios {
		for _, p := range run.AllPoints(s) {
			name := p.FileName(pattern)
			if unknown := placeholder().FindString(name); unknown != "" {
				return &usageError{File: pattern, Text: unknown + " stands for nothing"}
			}
			if _, err := plots.FormatOf(name); err != nil {
				return &usageError{File: name, Text: "a picture of a network has no such format",
					Hint: "let the name end in .svg, .png or .pdf"}
			}
			if seen[p.Topology] == name {
				continue
			}
			seen[p.Topology] = name
			err := out.app.take(name, "the network of "+p.ID)
			if sharesFile(err) {
				return &usageError{File: name, Text: "several networks, one file",
					Hint: "choose with --only, or put what they differ in into the name: {ranks}, " +
						"{topology.nodes} or another swept key in braces ({id} tells all apart)"}
			}
			if err != nil {
				return usage(err)
			}
			out.networks = append(out.networks, networkFigure{name, index, p})
		}
	}
	return nil
}

// writeNetworks draws all networks.
func (out *outputs) writeNetworks() {
	for _, f := range out.networks {
		content, err := out.network(f)
		if err != nil {
			out.lose(&usageError{File: f.name, Text: err.Error()})
			continue
		}
		out.lose(writeFile(f.name, content))
	}
}

// network draws a network.
func (out *outputs) network(f networkFigure) ([]byte, error) {
	format, err := plots.FormatOf(f.name)
	if err != nil {
		return nil, err
	}
	g, err := f.point.Topology.Graph()
	if err != nil {
		return nil, err
	}
	changed, err := f.point.Topology.ChangedLinks(g)
	if err != nil {
		return nil, err
	}
	s := out.scenarios[f.index]
	return plots.Network(g, plots.NetworkOptions{
		Title: networkTitle(s, f.point),
		Caption: fmt.Sprintf("%s, collsim %s", strings.Join(append([]string{s.File}, s.Set...), ", "),
			run.Version),
		Format: format, Figure: out.figure, Changed: changed,
	})
}

// networkTitle names the machine and its device, or else the scenario.
func networkTitle(s *run.Scenario, p *scenarios.Point) string {
	t := p.Topology
	title := s.Name
	if m, err := machine.Find(t.Machine); err == nil && t.Machine != "" {
		title = fmt.Sprintf("%s (%s)", m.Name, m.Device)
	}
	if t.Nodes > 1 {
		title += fmt.Sprintf(", %d nodes", t.Nodes)
	}
	gpus := prose.Plural(t.Ranks, "GPU")
	if t.Nodes == 1 && t.Machine == "" && t.Preset != "links" {
		return fmt.Sprintf("%s: %s of %s", title, t.Preset, gpus)
	}
	return title + ": " + gpus
}
