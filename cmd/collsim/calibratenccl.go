package main

import (
	"path/filepath"
	"slices"
	"strconv"

	"collsim/formats/measured"
	"collsim/formats/topofile"
	"collsim/machine"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

// calibrateNCCL fits the figures of a machine to tables of NCCL's calls on it.
func (a *app) calibrateNCCL(names []string, options run.TableOptions, o *calibrateFlags) error {
	all := run.NCCLOptions{TableOptions: options, Nodes: o.nodes, Process: o.processes, Set: o.set}
	var err error
	if all.Machine, err = a.machineNamed(o.machine); err != nil {
		return err
	}
	if err := a.takeOne(o.output, "--output"); err != nil {
		return err
	}
	var tables []*measured.Table
	var numbers []int
	for _, name := range names {
		list, of, err := a.tablesOf(name, o.table, options)
		if err != nil {
			return err
		}
		for _, n := range of {
			if _, err := run.ReadNCCLTable(&list[n-1], all); err != nil {
				return lacking(name, n, len(list), err)
			}
			tables, numbers = append(tables, &list[n-1]), append(numbers, n)
		}
	}
	f, err := run.FitNCCL(tables, all)
	if err != nil {
		return lacking(names[0], 1, 1, err)
	}
	for i, n := range numbers {
		f.Tables[i].Number = n
	}
	object, err := report.NCCLFitJSON(f)
	if err != nil {
		return err
	}
	if !o.quiet {
		a.print(a.err, report.NCCLFitText(f))
	}
	return a.writePresets([]preset{{name: o.output, text: f.Text()}}, object, o)
}

// machineNamed returns the machine of a name, or that which a file describes.
func (a *app) machineNamed(name string) (*machine.Machine, error) {
	if slices.Contains(machine.Names(), name) || filepath.Ext(name) == "" {
		m, err := machine.Find(name)
		if err != nil {
			return nil, &usageError{Text: "--machine " + strconv.Quote(name) + ": " +
				err.Error(), Hint: "collsim list machines has all; a file of one ends in .toml " +
				"or .xml"}
		}
		return m, nil
	}
	text, err := a.read(name)
	if err != nil {
		return nil, withoutCommand(name, err)
	}
	m, err := topofile.Read(filepath.Base(name), text, "")
	if err != nil {
		return nil, &usageError{File: name, Text: err.Error()}
	}
	return m, nil
}

// processes lists the ways in which processes issue calls.
func processes() []string {
	return []string{scenarios.ProcessPerGPU.String(), scenarios.OneProcess.String()}
}
