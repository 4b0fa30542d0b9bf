package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"collsim/run"
)

// mergeFlags are the flags of merge and of sweep.
type mergeFlags struct {
	output string
	tasks  int
	image  string
	load   run.LoadOptions
	with   []string
}

const mergeLong = `
Merge puts together what parts of a sweep have printed with --jsonl: shards of it, or a run that was
killed and what --resume has run afterwards. It writes the bytes that a run of the whole scenario
prints with --jsonl. Points that no file has are an error, which names them. A line counts where its
point still means the same: a scenario that was changed since is found out.`

func mergeCommand(a *app) *cobra.Command {
	o := &mergeFlags{}
	cmd := &cobra.Command{
		Use:   "merge FILE PART.jsonl …",
		Short: "put the parts of a sweep together",
		Long:  joined(mergeLong),
		Example: "  collsim merge sweep.toml part-*.jsonl > all.jsonl\n" +
			"  collsim merge sweep.toml killed.jsonl rest.jsonl -o all.jsonl",
		RunE: func(_ *cobra.Command, args []string) error { return o.merge(a, args) },
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write `FILE` instead of printing")
	o.register(cmd)
	return cmd
}

// register adds the flags that change the scenario.
func (o *mergeFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	registerWith(f, &o.with)
	f.StringArrayVar(&o.load.Set, "set", nil, "replace a key of the scenario: `PATH=VALUE`, in TOML")
	f.StringArrayVar(&o.load.Only, "only", nil, "keep points with these `KEY=VALUE,…`")
}

// scenario reads the scenario.
func (o *mergeFlags) scenario(a *app, name string) (s *run.Scenario, err error) {
	if o.load.With, err = a.readWith(o.with); err != nil {
		return nil, err
	}
	list, err := a.loadAll([]string{name}, o.load)
	if err != nil {
		return nil, err
	}
	if len(list[0].Programs) > 0 || len(list[0].Points) == 0 {
		return nil, &usageError{File: name, Text: "points of collectives are expected, and no program"}
	}
	return list[0], nil
}

// merge writes the merged lines of a scenario.
func (o *mergeFlags) merge(a *app, args []string) error {
	if len(args) < 2 {
		return &usageError{Text: "a scenario and the parts of its results are expected",
			Hint: "for example: collsim merge sweep.toml part-*.jsonl"}
	}
	if err := a.takeOne(o.output, "--output"); err != nil {
		return err
	}
	s, err := o.scenario(a, args[0])
	if err != nil {
		return err
	}
	lines, err := readLines(a, args[1:])
	if err != nil {
		return err
	}
	text, missing, err := merged(s, lines)
	switch {
	case err != nil:
		return err
	case len(missing) > 0:
		return missingError(s, missing)
	case o.output != "":
		return writeFile(o.output, text)
	}
	a.printJSON(a.out, text)
	return nil
}

func sweepCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep slurm|kubernetes FILE",
		Short: "print a job that runs a sweep on a cluster",
		Long: "Sweep prints a job for a cluster's own scheduler: for Slurm a batch script with a job " +
			"array and a job that merges, for Kubernetes an indexed Job. It submits nothing. Each task " +
			"runs a shard with --jsonl; one that is run again leaves out what its file has.",
		Example: "  collsim sweep slurm sweep.toml --tasks 16 | bash\n" +
			"  collsim sweep kubernetes sweep.toml --tasks 16 | kubectl apply -f -",
	}
	for _, one := range []struct {
		name, short string
		text        func(o *mergeFlags, file string, flags string) string
	}{{"slurm", "print a script that submits a job array and its merge", slurmText},
		{"kubernetes", "print an indexed Job", kubernetesText}} {
		o := &mergeFlags{}
		sub := &cobra.Command{Use: one.name + " FILE", Short: one.short,
			RunE: func(_ *cobra.Command, args []string) error {
				return o.sweep(a, args, one.text)
			}}
		sub.Flags().IntVar(&o.tasks, "tasks", 16, "`NUMBER` of tasks")
		if one.name == "kubernetes" {
			sub.Flags().StringVar(&o.image, "image", "collsim:latest", "`IMAGE` of the containers")
		}
		o.register(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// sweep prints a job.
func (o *mergeFlags) sweep(a *app, args []string,
	text func(o *mergeFlags, file, flags string) string) error {
	if len(args) != 1 || args[0] == "-" {
		return &usageError{Text: "a scenario's file is expected",
			Hint: "for example: collsim sweep slurm sweep.toml --tasks 16"}
	}
	if o.tasks < 1 || o.tasks > 100_000 {
		return &usageError{Text: fmt.Sprintf("--tasks %d: 1 to 100000 is expected", o.tasks)}
	}
	if _, err := o.scenario(a, args[0]); err != nil { // it is right before anything is submitted
		return err
	}
	var flags strings.Builder
	for _, one := range []struct {
		flag   string
		values []string
	}{{"--with", o.with}, {"--set", o.load.Set}, {"--only", o.load.Only}} {
		for _, value := range one.values {
			flags.WriteString(" " + one.flag + " " + shellQuoted(value))
		}
	}
	a.print(a.out, text(o, args[0], flags.String()))
	return nil
}

// shellQuoted returns a word as a POSIX shell reads it.
func shellQuoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// baseOf returns the name of a scenario's file without its folder and ending.
func baseOf(file string) string {
	base := filepath.Base(strings.TrimPrefix(file, "example:"))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// slurmText prints a shell script that submits a job array, and a job that merges when all of its
// tasks have ended well.
func slurmText(o *mergeFlags, file, flags string) string {
	base := baseOf(file)
	return fmt.Sprintf(`#!/bin/bash
# Runs %[1]s as %[2]d tasks of a Slurm job array, then merges their results into %[3]s.jsonl.
# A task that is requeued leaves out what its earlier attempts have. If one fails for good, the
# merge does not begin: run this script again, and only what is missing is run.
set -euo pipefail
mkdir -p %[3]s.parts
array=$(sbatch --parsable --requeue --open-mode=append --array=1-%[2]d --job-name=%[3]s \
	--cpus-per-task=1 --output=%[3]s.parts/%%a.log <<'TASK'
#!/bin/bash
set -uo pipefail
task=%[3]s.parts/$SLURM_ARRAY_TASK_ID
resume=()
for part in "$task".*.jsonl; do
	[ -e "$part" ] && resume+=(--resume "$part")
done
collsim %[4]s%[5]s --shard "$SLURM_ARRAY_TASK_ID/%[2]d" --jsonl --quiet "${resume[@]}" \
	>"$task.$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}.jsonl"
TASK
)
sbatch --parsable --dependency="afterok:$array" --job-name=%[3]s-merge \
	--output=%[3]s.parts/merge.log <<'MERGE'
#!/bin/bash
collsim merge %[4]s%[5]s %[3]s.parts/*.jsonl --output %[3]s.jsonl
MERGE
`, file, o.tasks, shellBase(base), shellQuoted(file), flags)
}

// shellBase keeps the characters of a name that no shell reads otherwise.
func shellBase(base string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			return '-'
		}
		return r
	}, base)
}

// kubernetesText prints an indexed Job. The scenario and the parts are in a volume that the user
// names.
func kubernetesText(o *mergeFlags, file, flags string) string {
	base := strings.ToLower(strings.ReplaceAll(shellBase(baseOf(file)), "_", "-"))
	return fmt.Sprintf(`# Runs %[1]s as %[2]d tasks. The claim "collsim" is a volume with the scenario;
# parts are written beside it. Afterwards: collsim merge %[1]s %[3]s.*.jsonl
apiVersion: batch/v1
kind: Job
metadata:
  name: %[3]s
spec:
  completions: %[2]d
  parallelism: %[2]d
  completionMode: Indexed
  backoffLimitPerIndex: 3
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: collsim
          image: %[4]s
          workingDir: /work
          command: ["/bin/sh", "-c"]
          args:
            - |
              task=%[3]s.$JOB_COMPLETION_INDEX
              set --
              for part in "$task".*.jsonl; do
                if [ -e "$part" ]; then set -- "$@" --resume "$part"; fi
              done
              collsim %[5]s%[6]s --shard auto/%[2]d --jsonl --quiet "$@" \
                >"$task.$HOSTNAME.jsonl"
          volumeMounts:
            - {name: work, mountPath: /work}
      volumes:
        - name: work
          persistentVolumeClaim: {claimName: collsim}
`, file, o.tasks, base, o.image, shellQuoted(file), flags)
}
