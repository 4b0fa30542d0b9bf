package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/run"
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

// refuseShells has completion refuse a shell that it knows nothing of.
func refuseShells(root *cobra.Command) {
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil || cmd == root {
		panic("completion is cobra's") // a command of ours has subcommands
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		return &usageError{Text: fmt.Sprintf("completion %s: no completion for that shell", args[0]),
			Hint: "there are " + strings.Join(names, ", ")}
	}
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
		"format": formatNames(cmd.Name()), "hw": executorNames(), "kind": kinds,
		"figure": {"page", "column", "slide"}, "algorithm": algorithmNames(),
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

// completePairs completes the keys and values of --set and --only.
func completePairs(cmd *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{"set": completeSet,
		"only": completeOnly} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // a flag of ours
		}
	}
}

// completeSet completes the path of a key, and behind = its values.
func completeSet(_ *cobra.Command, _ []string, begun string) (list []string,
	how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp
	path, _, valued := strings.Cut(begun, "=")
	for _, k := range scenarios.Keys() {
		switch {
		case !valued && strings.HasPrefix(k.Path, begun):
			list = append(list, k.Path+"=")
		case valued && k.Path == path:
			for _, value := range keyValues(k) {
				list = append(list, k.Path+"="+value)
			}
		}
	}
	if !valued {
		how |= cobra.ShellCompDirectiveNoSpace
	}
	return list, how
}

// keyValues lists the values of a key that has a few, and the names of algorithms.
func keyValues(k scenarios.Key) []string {
	if k.Path == "collective.algorithm" {
		return algorithmNames()
	}
	return k.Values
}

// completeOnly completes a key that results differ in, and behind = its values.
func completeOnly(_ *cobra.Command, _ []string, begun string) (list []string,
	how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp
	done := begun[:strings.LastIndexByte(begun, ',')+1] // KEY=VALUE, that are whole
	key, _, valued := strings.Cut(begun[len(done):], "=")
	if !valued {
		for _, k := range []string{"algorithm", "bytes", "dtype", "id", "kind", "op", "ranks"} {
			list = append(list, done+k+"=")
		}
		return list, how | cobra.ShellCompDirectiveNoSpace
	}
	for _, k := range scenarios.Keys() {
		if k.Path == "collective."+key {
			for _, value := range keyValues(k) {
				list = append(list, done+key+"="+value)
			}
		}
	}
	return list, how
}

// algorithmNames lists all algorithms, without their parameters.
func algorithmNames() (names []string) {
	for _, al := range run.Algorithms() {
		names = append(names, al.Name)
	}
	return names
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
