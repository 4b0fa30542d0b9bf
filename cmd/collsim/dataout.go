package main

import (
	"errors"
	"path/filepath"
	"strings"

	"collsim"
	"collsim/data"
	"collsim/scenarios"
)

// dataOut is the file for the output data of a point, "" for none.
func (out *outputs) dataOut(index int, p *scenarios.Point) string {
	return out.file(out.scenarios[index], p.FileName(p.Data.Output))
}

// claimData claims the file of a point's output data, and refuses what could not be written.
func (out *outputs) claimData(c claims, index int, p *scenarios.Point) error {
	name := out.dataOut(index, p)
	if name == "" {
		return nil
	}
	switch ext := filepath.Ext(name); ext {
	case ".npy", ".npz", ".safetensors":
	default:
		return p.Error("collective.output", "no format of arrays has this ending",
			"let the name end in .npy, .npz or .safetensors")
	}
	if filepath.Ext(name) == ".npy" && !strings.Contains(name, "{rank}") && !alike(p) {
		return p.Error("collective.output", "a .npy is one array of all ranks, and their outputs "+
			"differ in size", "put {rank} into the name, or let it end in .npz or .safetensors")
	}
	if p.Data.Input != "" && out.scenarios[index].Resolve(p.Data.Input) == name {
		return p.Error("collective.output", "the input would be overwritten", "")
	}
	if c.claim(name, "the output of "+p.ID) != nil {
		return out.manyPictures(name)
	}
	return nil
}

// alike reports whether all ranks of the network have outputs of one size.
func alike(p *scenarios.Point) bool {
	ranks, size := 0, int64(-1)
	for _, team := range p.Members() {
		spec := p.TeamSpec(len(team))
		for place := range team {
			n := spec.Out(place)
			if size >= 0 && n != size {
				return false
			}
			size = n
			ranks++
		}
	}
	return ranks == p.Topology.Ranks
}

// writeData writes what a result's ranks have, where the scenario names a file.
func (out *outputs) writeData(index int, r *collsim.Result) error {
	if r.Outputs == nil {
		return nil
	}
	err := data.WriteRanks(out.dataOut(index, r.Point), r.Outputs)
	var wrong *data.Error
	if errors.As(err, &wrong) {
		return &usageError{file: wrong.File, text: wrong.Text}
	}
	return err
}
