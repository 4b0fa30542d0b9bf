package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collsim/formats/fx"
	"collsim/formats/simai"
)

// foreign names what others' tools write and a command does not read, and says what reads it; empty
// for all else.
func foreign(text []byte) (what, hint string) {
	const inTopology = "in a scenario: [topology] file = \"FILE\""
	has := func(words ...string) bool {
		head := text[:min(len(text), 1<<14)]
		return !slices.ContainsFunc(words, func(w string) bool {
			return !bytes.Contains(head, []byte(w))
		})
	}
	switch {
	case has("<system", "<cpu"):
		return "a topology of NCCL is no scenario", inTopology
	case has("<graphs", "<graph"):
		return "graphs of NCCL, which collsim does not read", "what it reads is NCCL's topology " +
			"(NCCL_TOPO_DUMP_FILE), " + inTopology
	case has("GPU0", "CPU Affinity"):
		return "what nvidia-smi topo -m prints is no scenario", inTopology
	case has("<platform", "simgrid"):
		return "a platform of SimGrid, which collsim does not read", "write its links into a " +
			"scenario: [[topology.link]] with from, to, bandwidth and latency"
	case has("NCCL INFO") && !bytes.Contains(text, []byte("busbw")):
		return "a log of NCCL without a table of nccl-tests", "run one of nccl-tests; what it prints " +
			"is for collsim calibrate --from, compare and diagnose"
	case fx.IsGraph(text):
		return "a graph of PyTorch is no scenario", "in a scenario: [program] file = \"FILE\""
	case simai.IsWorkload(text):
		return "a workload of SimAI is no scenario", "in a scenario: [program] file = \"FILE\""
	case has("topology:", "npus_count:"):
		return "a network of ASTRA-sim, which collsim does not read", astraNetwork(string(text))
	case has("-implementation\"", "scheduling-policy"):
		return "a system of ASTRA-sim, which collsim does not read", astraSystem(text)
	case has("\"logical-dims\""):
		return "logical dimensions of ASTRA-sim, which collsim does not read", "in a scenario: " +
			"[topology] preset = \"torus\", shape = [8, 2], say; or nodes = 2 of a machine of 8"
	case isHosts(text):
		return "a list of hosts is no scenario", "in a scenario: [hardware] hosts = [\"HOST\", …]; or " +
			"collsim validate SCENARIO --hosts HOST,…"
	}
	return "", ""
}

// isHosts reports whether a text is a list of hosts as mpirun takes it: "node1 slots=8", or names
// with a digit.
func isHosts(text []byte) bool {
	line := regexp.MustCompile(`^[\w.-]*[0-9][\w.-]*(:[0-9]+)?(\s+(max_)?slots=[0-9]+)*$`)
	hosts := 0
	for l := range strings.Lines(string(text)) {
		l, _, _ = strings.Cut(l, "#")
		switch l = strings.TrimSpace(l); {
		case l == "":
		case !line.MatchString(l):
			return false
		default:
			hosts++
		}
	}
	return hosts > 0
}

// foreignFlags says, by the name of a flag that a command lacks, what does the same: nccl-tests'
// number of GPUs, and an output.
func foreignFlags(cmd *cobra.Command, letter bool) map[string]string {
	has := func(name string) bool { return cmd.Flags().Lookup(name) != nil }
	others := map[string]string{}
	switch {
	case letter && has("ranks"):
		others["g"] = "--ranks N is the number of GPUs"
	case letter && has("set"):
		others["g"] = "the number of GPUs is a key: --set topology.ranks=N"
	}
	if has("csv") && has("json") {
		output := "--csv FILE.csv writes a line for each result; the table and --json are printed: " +
			"> FILE"
		for _, name := range []string{"o", "output", "out"} {
			if letter == (len(name) == 1) {
				others[name] = output
			}
		}
	}
	return others
}

// meantAsOutput refuses a file that is not there behind a flag that takes none.
func meantAsOutput(args []string, name string, err error) error {
	var e *usageError
	at := slices.Index(args, name)
	if at < 1 || !slices.Contains([]string{"--json", "--jsonl"}, args[at-1]) ||
		!errors.As(err, &e) || e.Text != noSuchFile {
		return err
	}
	return &usageError{File: name, Text: noSuchFile, Hint: args[at-1] + " takes no file, it prints: " +
		args[at-1] + " > " + quotedForShell(name)}
}

// checkCSV refuses a file of --csv whose ending is another format's.
func checkCSV(name string) error {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".parquet", ".feather", ".arrow", ".xlsx", ".xls", ".json", ".jsonl", ".html":
		return &usageError{File: name, Text: "--csv writes CSV, and " + ext + " is another format",
			Hint: "--csv " + quotedForShell(strings.TrimSuffix(name, filepath.Ext(name))+".csv")}
	}
	return nil
}

// notSchedule refuses a scenario where a schedule is expected.
func notSchedule(name string) error {
	return &usageError{File: name, Text: "a scenario is no schedule", Hint: "to run it: collsim " +
		quotedForShell(name) + "\n  to write its schedule: collsim export " + quotedForShell(name) +
		" --format schedule"}
}
