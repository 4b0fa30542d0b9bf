package main

import (
	"errors"
	"path/filepath"
	"strings"

	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/internal/output"
	"collsim/run"
	"collsim/scenarios"
)

// dataOut returns the file for the output data of a point, "" for none.
func (out *outputs) dataOut(index int, p *scenarios.Point) string {
	return out.file(out.scenarios[index], p.FileName(p.Data.Output))
}

// refuse returns an error at a key of a point, with its line.
func (out *outputs) refuse(index int, p *scenarios.Point, key, text, hint string) error {
	return out.scenarios[index].Locate(p.Refuse(key, text, hint))
}

// claimData claims the files of a point's output data, and refuses what could not be written, and
// what would overwrite an input.
func (out *outputs) claimData(index int, p *scenarios.Point) error {
	name := out.dataOut(index, p)
	if name == "" {
		return nil
	}
	if err := checkEnding(out, index, p, "collective.output", name); err != nil {
		return err
	}
	if filepath.Ext(name) == ".safetensors" && p.Spec.Type == dtype.Complex128 {
		return out.refuse(index, p, "collective.output", "a .safetensors cannot have complex128",
			"let the name end in .npy or .npz")
	}
	given := p // whose outputs these are
	if p.Local() {
		given = p.Carried()
	}
	if filepath.Ext(name) == ".npy" && !strings.Contains(name, "{rank}") && !alike(given) {
		return out.refuse(index, p, "collective.output",
			"a .npy is one array of all ranks, and their outputs differ in size",
			"put {rank} into the name, or let it end in .npz or .safetensors")
	}
	key := "collective.output"
	if p.Forward != nil {
		key = "collective.gradient_of_input"
	}
	return claimArrays(out, index, p, key, p.Data.Output)
}

// checkEnding refuses a file for arrays with the ending of no format of arrays.
func checkEnding(out *outputs, index int, p *scenarios.Point, key, name string) error {
	switch filepath.Ext(name) {
	case ".npy", ".npz", ".safetensors":
		return nil
	}
	return out.refuse(index, p, key, "no format of arrays has this ending",
		"let the name end in .npy, .npz or .safetensors")
}

// claimArrays claims the file that a key names, or one of each rank, and refuses what must not be
// written.
func claimArrays(out *outputs, index int, p *scenarios.Point, key, file string) error {
	if err := out.mayWrite(index, p, key, file); err != nil {
		return err
	}
	name := out.file(out.scenarios[index], p.FileName(file))
	for _, name := range ofRanks(name, p.Topology.Ranks) {
		err := out.app.take(name, "the output of "+p.ID)
		var clash *output.Clash
		switch {
		case errors.As(err, &clash) && clash.Kept:
			return out.refuse(index, p, key, "the input would be overwritten", "")
		case clash != nil:
			return out.sharedFileError(name)
		case err != nil:
			return err
		}
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
func (out *outputs) writeData(index int, r *run.Result) error {
	if r.Outputs == nil {
		return nil
	}
	err := arrays.WriteRanks(out.dataOut(index, r.Point), r.Outputs)
	var wrong *arrays.Error
	if errors.As(err, &wrong) {
		return &usageError{File: wrong.File, Text: wrong.Text}
	}
	return err
}
