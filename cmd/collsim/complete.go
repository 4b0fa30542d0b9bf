package main

import (
	"collsim/formats"
	"strings"

	"github.com/spf13/cobra"

	"collsim/collective"
	"collsim/dtype"
	"collsim/scenarios"
)

// completeScenarios completes the names of examples once they are begun, and else those of files.
func completeScenarios(_ *cobra.Command, _ []string, begun string) ([]string,
	cobra.ShellCompDirective) {
	return complete(begun, []string{"toml"})
}

// completeSchedules completes scenarios, and files of all formats of schedules.
func completeSchedules(cmd *cobra.Command, _ []string, begun string) ([]string,
	cobra.ShellCompDirective) {
	var extensions []string
	if cmd.Name() == "verify" {
		extensions = append(extensions, "toml")
	}
	known := map[string]bool{}
	for _, f := range formats.Table() {
		for _, e := range f.Extensions {
			if !known[e] {
				extensions = append(extensions, e)
			}
			known[e] = true
		}
	}
	return complete(begun, extensions)
}

func complete(begun string, extensions []string) ([]string, cobra.ShellCompDirective) {
	if begun == "" || !strings.HasPrefix("example:", begun) && !strings.HasPrefix(begun, "example:") {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
	var names []string
	for _, name := range scenarios.Examples() {
		names = append(names, "example:"+name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeValues completes the values of flags that have a few. Cobra remembers them for ever: only
// a shell that completes needs them.
func completeValues(cmd *cobra.Command) {
	var kinds, ops, types []string
	for _, k := range append(collective.Kinds(), collective.Custom) {
		kinds = append(kinds, k.String())
	}
	for _, o := range collective.Ops() {
		ops = append(ops, o.String())
	}
	for _, t := range dtype.All() {
		types = append(types, t.String())
	}
	for flag, values := range map[string][]string{"as": kinds, "op": ops, "dtype": types,
		"protocol": {"Simple", "LL", "LL128"}, "runtime": {"msccl", "rccl", "none"},
		"format": formatNames(cmd.Name()), "hw": executorNames(),
		"pivot":  {"time", "algbw", "busbw", "%bound", "algorithm"},
		"across": {"bytes", "count", "ranks", "algorithm", "dtype", "kind"}} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(flag,
			cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		if err != nil {
			panic(err) // a flag of ours
		}
	}
}

// formatNames lists what --format of a command takes.
func formatNames(command string) []string {
	switch command {
	case "export":
		return exports()
	case "tune":
		return tuneFormats()
	}
	return []string{"table", "nccl-tests", "nccl-tests-json"}
}
