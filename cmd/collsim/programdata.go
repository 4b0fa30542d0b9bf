package main

import (
	"errors"
	"path/filepath"
	"strings"

	"collsim/formats/arrays"
	"collsim/run"
	"collsim/scenarios"
)

// claimProgramData claims the files of what tensors of a program hold, and refuses what could not
// be written, and what would overwrite an input. Several tensors may share an .npz or .safetensors.
func claimProgramData(out *outputs, index int, p *scenarios.ProgramPoint) error {
	for i := range p.TensorData { // they are read when the program runs
		for _, name := range []string{p.TensorData[i].Input, p.TensorData[i].Compare} {
			for _, name := range ofRanks(out.file(out.scenarios[index], name), p.Topology.Ranks) {
				out.app.wasRead(name)
			}
		}
	}
	taken := map[string]bool{}
	for i := range p.TensorData {
		d := &p.TensorData[i]
		name := out.file(out.scenarios[index], d.Output)
		if name == "" {
			continue
		}
		key := d.Key("output")
		if err := checkEnding(out, index, p.Point, key, name); err != nil {
			return err
		}
		switch {
		case taken[name] && filepath.Ext(name) == ".npy":
			return out.refuse(index, p.Point, key, "a .npy holds one tensor, and another one goes there",
				"let the name end in .npz or .safetensors")
		case taken[name]:
			continue
		}
		taken[name] = true
		if err := claimArrays(out, index, p.Point, key, d.Output); err != nil {
			return err
		}
	}
	return nil
}

// writeProgramData writes what tensors of a program hold, file by file. What cannot be written is
// lost, and the rest is there.
func writeProgramData(out *outputs, index int, r *run.ProgramResult) {
	files := map[string][]run.TensorOutput{}
	var names []string
	for _, one := range r.Outputs {
		name := out.file(out.scenarios[index], one.Of.Output)
		if name == "" {
			continue
		}
		if files[name] == nil {
			names = append(names, name)
		}
		files[name] = append(files[name], one)
	}
	for _, name := range names {
		err := writeTensors(name, files[name], r.Point.Topology.Ranks)
		var wrong *arrays.Error
		if errors.As(err, &wrong) {
			err = &usageError{File: wrong.File, Text: wrong.Text}
		}
		out.lose(err)
	}
}

// writeTensors writes tensors under their names: whole, or along a first axis of ranks; or each
// rank's into a file of its own.
func writeTensors(name string, list []run.TensorOutput, ranks int) error {
	if strings.Contains(name, rankInName) {
		for rank, name := range ofRanks(name, ranks) {
			var own []arrays.Array
			for _, one := range list {
				if a := one.Arrays[rank]; a.Shape != nil {
					own = append(own, a)
				}
			}
			if len(own) == 0 {
				continue
			}
			if err := arrays.WriteResults(name, own); err != nil {
				return err
			}
		}
		return nil
	}
	var all []arrays.Array
	for _, one := range list {
		a := one.Arrays[0]
		if !one.Of.Whole {
			stacked, err := arrays.Stack(one.Arrays)
			if err != nil {
				return &arrays.Error{File: name, Tensor: one.Name, Text: "its ranks have other lengths, or " +
					"some none of it; with {rank} in the name each rank has a file"}
			}
			a, a.Name = stacked, one.Name
		}
		all = append(all, a)
	}
	return arrays.WriteResults(name, all)
}
