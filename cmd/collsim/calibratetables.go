package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/formats/measured"
	"collsim/report"
	"collsim/run"
)

// tableInName stands for the number of a table in the name of a file.
const tableInName = "{table}"

// calibrateTables fits published tables.
func (a *app) calibrateTables(names []string, o *calibrateFlags) error {
	options, err := o.tableOptions()
	switch {
	case err != nil:
		return err
	case o.machine != "":
		return a.calibrateNCCL(names, options, o)
	}
	var fits []*run.TableFit
	for _, name := range names {
		some, err := a.fitTables(name, o.table, options)
		if err != nil {
			return err
		}
		fits = append(fits, some...)
	}
	if o.together {
		return a.calibrateMachine(fits, o)
	}
	object, err := report.TableFitsJSON(fits...)
	if err != nil {
		return err
	}
	presets, err := presetsOf(fits, o.output)
	if err != nil {
		return err
	}
	for _, p := range presets {
		if err := a.takeOne(p.name, "--output"); err != nil {
			return err
		}
	}
	if !o.quiet {
		a.print(a.err, report.TableFitsText(fits...))
		if len(fits) > 1 && o.output == "" && !o.json {
			a.print(a.err, fmt.Sprintf("note: %d presets, of which a scenario takes one: --table N, "+
				"--together, or --output 'NAME-%s.toml'\n", len(fits), tableInName))
		}
	}
	return a.writePresets(presets, object, o)
}

// tableOptions holds the flags on tables.
func (o *calibrateFlags) tableOptions() (run.TableOptions, error) {
	options := run.TableOptions{Ranks: o.ranks, Algorithm: o.algorithm, Derived: o.derived}
	switch {
	case o.inPlace:
		options.Place = "in"
	case o.outOfPlace:
		options.Place = "out"
	}
	if o.kind != "" {
		var err error
		if options.Kind, err = collective.ParseKind(o.kind); err != nil {
			return options, kindError(o.kind)
		}
	}
	return options, nil
}

// calibrateMachine fits one preset to several tables.
func (a *app) calibrateMachine(fits []*run.TableFit, o *calibrateFlags) error {
	if err := a.takeOne(o.output, "--output"); err != nil {
		return err
	}
	m, err := run.FitMachine(fits)
	if err != nil {
		return &usageError{Text: "--together: " + err.Error()}
	}
	object, err := report.MachineFitJSON(m)
	if err != nil {
		return err
	}
	if !o.quiet {
		a.print(a.err, report.MachineFitText(m))
	}
	return a.writePresets([]preset{{name: o.output, text: m.Preset()}}, object, o)
}

// fitTables fits the tables of a file: that of this number, or all if it is 0.
func (a *app) fitTables(name string, number int,
	o run.TableOptions) (fits []*run.TableFit, err error) {
	list, of, err := a.tablesOf(name, number, o)
	if err != nil {
		return nil, err
	}
	for _, n := range of {
		f, err := run.FitTable(&list[n-1], o)
		if err != nil {
			return nil, lacking(name, n, len(list), err)
		}
		f.Number = n
		fits = append(fits, f)
	}
	return fits, nil
}

// tablesOf reads the tables of a file, and says which of them are meant, from 1: that of this
// number, or all of the kind and ranks that are asked for if it is 0.
func (a *app) tablesOf(name string, number int,
	o run.TableOptions) (list []measured.Table, of []int, err error) {
	text, err := a.read(name)
	if err != nil {
		return nil, nil, withoutCommand(name, err)
	}
	if list, err = measured.ReadTables(name, text); err != nil {
		return nil, nil, tableError(name, text, err)
	}
	if number > len(list) {
		return nil, nil, &usageError{File: name, Text: fmt.Sprintf("--table %d: there are %d", number,
			len(list))}
	}
	several := slices.ContainsFunc(list, func(t measured.Table) bool {
		return t.Ranks != list[0].Ranks
	})
	for i := range list {
		t := &list[i]
		if number > 0 && number != i+1 || o.Kind != 0 && t.Kind != 0 && t.Kind != o.Kind ||
			several && o.Ranks != 0 && t.Ranks != 0 && t.Ranks != o.Ranks {
			continue
		}
		of = append(of, i+1)
	}
	switch {
	case len(of) > 0:
		return list, of, nil
	case o.Kind == 0:
		return nil, nil, &usageError{File: name, Text: fmt.Sprintf("no table of %d ranks is to be "+
			"taken; the first of %d is of %d", o.Ranks, len(list), list[0].Ranks)}
	}
	return nil, nil, &usageError{File: name, Text: fmt.Sprintf("no table of %v is to be taken; the "+
		"first of %d is of %v", o.Kind, len(list), list[0].Kind)}
}

// tableError gives what is wrong with a table its place, as an error of a scenario has it, and says
// what to do with a file that is none.
func tableError(name string, text []byte, err error) error {
	if what, hint := foreign(text); what != "" {
		return &usageError{File: name, Text: what, Hint: hint}
	}
	var at *measured.ParseError
	if !errors.As(err, &at) {
		return err
	}
	if filepath.Ext(name) == ".toml" {
		at.Hint = "a scenario is measured without --from: collsim calibrate " + quotedForShell(name)
	}
	return at
}

// lacking says what to give for a table that does not have it.
func lacking(name string, number, of int, err error) error {
	var missing *run.TableError
	if !errors.As(err, &missing) {
		return err
	}
	e := &usageError{File: name, Text: missing.Text}
	if of > 1 {
		e.Text = fmt.Sprintf("table %d: %s", number, e.Text)
	}
	switch missing.Missing {
	case "kind":
		e.Hint = "give it by --kind, as --kind all_reduce"
	case "ranks":
		e.Hint = "give it by --ranks"
	case "nodes":
		e.Hint = "give them by --nodes, or another --machine"
	case "machine":
		e.Hint = "collsim list machines has machines, with their devices"
	case "place":
		e.Hint = "leave out --in-place and --out-of-place"
	case "algorithm":
		e.Hint = "collsim list algorithms has those for --algorithm"
	}
	return e
}

// presetsOf makes the presets of tables, each with its destination.
func presetsOf(fits []*run.TableFit, output string) ([]preset, error) {
	if output != "" && len(fits) > 1 && !strings.Contains(output, tableInName) {
		return nil, &usageError{Text: fmt.Sprintf("%d tables make as many presets; --output names one "+
			"file", len(fits)), Hint: "choose one by --table N, or name all as in --output 'NAME-" +
			tableInName + ".toml'"}
	}
	var all []preset
	for i, f := range fits {
		p := preset{name: strings.ReplaceAll(output, tableInName, strconv.Itoa(i+1)), text: f.Preset()}
		if output == "" && len(fits) > 1 {
			p.text = fmt.Sprintf("# ==== preset %d of %d ====\n%s\n", i+1, len(fits), p.text)
		}
		all = append(all, p)
	}
	return all, nil
}
