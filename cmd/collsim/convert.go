package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collsim/formats"
	"collsim/internal/nearest"
	"collsim/report"
	"collsim/run"
)

func (a *app) importCommand() *cobra.Command {
	o := &fileFlags{}
	var output string
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "print somebody else's schedule in our text form",
		Long: "Import reads a schedule in any format (collsim list formats) and prints it in our text " +
			"form (docs/schedule.md), which verify and scenarios (file:x.schedule) read back. Comments " +
			"above it say what it was and what is proven of it.",
		Example: "  collsim import mine.xml\n" +
			"  collsim import mine.xml --bytes '1 MiB' -o mine.schedule",
		ValidArgsFunction: completeSchedules,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{Text: fmt.Sprintf("one schedule is expected, not %d", len(args)),
					Hint: "for example: collsim import mine.xml"}
			}
			return a.importOne(args[0], output, o)
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "", "write `FILE` instead of printing")
	return cmd
}

func (a *app) importOne(name, output string, o *fileFlags) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	in, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.close() }() // it was read only
	f, err := in.readSchedule(options)
	if err != nil {
		return err
	}
	if err := a.takeOne(output, "--output"); err != nil {
		return err
	}
	v := run.VerifyFile(name, f, run.VerifyOptions{})
	text, err := report.ImportText(v)
	if err != nil {
		return err
	}
	if !v.Good() {
		a.print(a.err, fmt.Sprintf("note: %s is wrong: see the comments, or collsim verify\n", name))
	}
	return a.put(output, text)
}

// put writes a file, or prints where there is none.
func (a *app) put(output, text string) error {
	if output == "" || output == "-" {
		a.printData([]byte(text))
		return nil
	}
	return writeFile(output, []byte(text))
}

func (a *app) exportCommand() *cobra.Command {
	var o run.LoadOptions
	var how formats.WriteOptions
	var format, output string
	cmd := &cobra.Command{
		Use:   "export FILE|example:NAME|-",
		Short: "write the schedule of a scenario's point, or its machine, for others",
		Long: "Export writes the schedule of the one point of a scenario: as MSCCL XML, which " +
			"Microsoft's and AMD's runtimes load; as an execution plan of MSCCL++; as GOAL, for " +
			"LogGOPSim and ATLAHS; or in our text form. What a format or a runtime cannot hold is " +
			"refused, with the limit. nccl-topo is no schedule: it is a node of the machine that " +
			"topology.preset or topology.file names, as NCCL and RCCL take it (NCCL_TOPO_FILE); " +
			"what links reach, and the network between nodes, stand in attributes that they pass " +
			"over, so that topology.file reads back the same machine.",
		Example: "  collsim export example:ring --format msccl -o ring.xml\n" +
			"  collsim export sweep.toml --only bytes=1MiB --format goal\n" +
			"  collsim export node.toml --format nccl-topo -o topo.xml",
		ValidArgsFunction: completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{Text: fmt.Sprintf("one scenario is expected, not %d", len(args)),
					Hint: "for example: collsim export example:ring --format msccl"}
			}
			if err := exportable(format); err != nil {
				return err
			}
			if format == ncclTopology {
				return a.exportMachine(args[0], output, o, how)
			}
			var err error
			if how.Runtime, err = oneOf("runtime", how.Runtime, "msccl", "rccl", "none"); err != nil {
				return err
			}
			how.Protocol, err = oneOf("protocol", how.Protocol, "Simple", "LL", "LL128")
			if err != nil {
				return err
			}
			return a.export(args[0], format, output, o, how)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "", "`NAME` of the format: "+
		strings.Join(exports(), ", "))
	f.StringVarP(&output, "output", "o", "", "write `FILE` instead of printing")
	f.StringVar(&how.Runtime, "runtime", "",
		"of msccl: keep to the limits of `NAME`: msccl, rccl, none")
	f.StringVar(&how.Protocol, "protocol", "", "of msccl: `NAME` of the protocol: Simple, LL, LL128")
	f.StringArrayVar(&o.Set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.Only, "only", nil, "keep points with these `KEY=VALUE,…`")
	f.SortFlags = false
	return cmd
}

// ncclTopology is the format of export that is no schedule.
const ncclTopology = "nccl-topo"

// exports lists what --format of export takes.
func exports() []string { return append(formats.Written(), ncclTopology) }

// exportMachine writes the machine of a scenario.
func (a *app) exportMachine(name, output string, o run.LoadOptions,
	how formats.WriteOptions) error {
	if how.Runtime != "" || how.Protocol != "" {
		return &usageError{Text: "runtime and protocol are for msccl, not for " + ncclTopology}
	}
	list, err := a.loadAll([]string{name}, o)
	if err != nil {
		return err
	}
	if err := a.takeOne(output, "--output"); err != nil {
		return err
	}
	text, notes, err := list[0].ExportMachine()
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.print(a.err, "note: "+note+"\n")
	}
	return a.put(output, string(text))
}

// exportable refuses formats that are not written.
func exportable(format string) error {
	formats := exports()
	if slices.Contains(formats, format) {
		return nil
	}
	e := &usageError{Text: fmt.Sprintf("--format %q: no format of that name is written", format),
		Hint: "formats are " + strings.Join(formats, ", ")}
	if format == "" {
		e.Text = "--format is expected"
	}
	if near := nearest.To(format, formats, 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return e
}

func (a *app) export(name, format, output string, o run.LoadOptions,
	how formats.WriteOptions) error {
	list, err := a.loadAll([]string{name}, o)
	if err != nil {
		return err
	}
	if err := a.takeOne(output, "--output"); err != nil {
		return err
	}
	text, notes, err := list[0].Export(format, how)
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.print(a.err, "note: "+note+"\n")
	}
	return a.put(output, string(text))
}
