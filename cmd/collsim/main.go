package main

import (
	"context"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func main() {
	if code, is := child(); is {
		os.Exit(code)
	}
	keepWithin()
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(a.main(context.Background(), os.Args[1:]))
}

// keepWithin has garbage be collected more often where memory gets scarce, rather than when there
// is as much of it as of what is in use. GOMEMLIMIT has its usual meaning.
func keepWithin() {
	if _, given := os.LookupEnv("GOMEMLIMIT"); given {
		return
	}
	if free, _, known := memoryLeft(); known {
		debug.SetMemoryLimit(max(free-free/16, 64<<20)) // with less, it would do little else
	}
}

// main carries out a command line and returns the exit code.
func (a *app) main(ctx context.Context, args []string) (code int) {
	a.args = args
	a.stdout = &stream{w: a.out}
	a.out = a.stdout
	defer func() { code = a.close(code) }()
	return a.protect(func() int {
		root := a.root()
		root.SetArgs(args)
		root.SetIn(a.in)
		root.SetErr(a.err)
		return a.report(root.ExecuteContext(ctx))
	})
}

// close closes standard output, and makes the exit code say if something of it was lost.
func (a *app) close(code int) int {
	a.endWithReader()
	if f, ok := a.stdout.w.(*os.File); ok { // some file systems report errors only now
		if err := f.Close(); a.stdout.err == nil {
			a.stdout.err = err
		}
	}
	if a.stdout.err == nil || code == exitBug {
		return code
	}
	return a.report(&lostError{writeError("standard output", a.stdout.err)})
}

// protect turns a panic into a report that somebody can send.
func (a *app) protect(f func() int) (code int) {
	defer func() {
		if p := recover(); p != nil {
			a.bug(p, debug.Stack())
			code = exitBug
		}
	}()
	return f()
}

// root makes the command itself, which runs scenarios.
func (a *app) root() *cobra.Command {
	o := &runFlags{}
	root := &cobra.Command{
		Use:               "collsim FILE|example:NAME|-",
		Short:             "simulate collective communication",
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		ValidArgsFunction: completeScenarios,
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && cmd.Flags().NFlag() == 0 {
			return errHelp
		}
		for _, arg := range args {
			if bare(arg) {
				return unknownCommand(root, arg)
			}
		}
		return a.run(cmd.Context(), args, o)
	}
	o.register(root.Flags())
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root {
			a.print(a.out, helpText)
			return
		}
		if cmd.HasSubCommands() || cmd.Parent() != root { // completion, which is cobra's
			help(cmd, args)
			return
		}
		a.print(a.out, helpOf(cmd, columnsOf(a.out)))
	})
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(a.helpCommand(root))
	reading := []*cobra.Command{a.runCommand(), a.checkCommand(), a.explainCommand(),
		a.verifyCommand(), a.validateCommand(), a.calibrateCommand(), a.tuneCommand(),
		a.importCommand(), a.exportCommand(), compareCommand(a), diagnoseCommand(a),
		mergeCommand(a), sweepCommand(a), reportCommand(a), mapCommand(a)}
	for _, cmd := range append(reading, root) {
		cmd.Flags().Var(&a.inputLimit, "input-limit", "read no more than `SIZE` of a file, unpacked (1 "+
			"GiB, or input.limit of a scenario for the files that it names)")
	}
	root.AddCommand(reading...)
	root.AddCommand(a.workerCommand(), a.initCommand(), a.listCommand(), a.schemaCommand(),
		a.versionCommand(), manCommand(a))
	root.SetOut(a.out) // completion keeps it
	root.InitDefaultCompletionCmd(a.args...)
	refuseShells(root)
	if len(a.args) > 0 && strings.HasPrefix(a.args[0], cobra.ShellCompRequestCmd) {
		for _, cmd := range append(root.Commands(), root) {
			completeValues(cmd)
			completePairs(cmd)
		}
	}
	return root
}

// helpCommand prints the help of a command.
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TERM|terms]",
		Short: "print the help of a command, or what a term means",
		Example: "  collsim help compare\n" +
			"  collsim help busbw\n" +
			"  collsim help terms",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(termNames(), "terms"), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, _, err := root.Find(args)
			if err == nil && (cmd != root || len(args) == 0) {
				return cmd.Help()
			}
			name := strings.Join(args, " ")
			if name == "terms" {
				for _, t := range terms() {
					a.print(a.out, termText(t))
				}
				return nil
			}
			t, ok := findTerm(name)
			if !ok {
				return unknownTopic(name, root.Commands())
			}
			a.print(a.out, termText(t))
			return nil
		},
	}
}

// helpText is printed by collsim without arguments. Its first commands work as typed.
const helpText = `collsim simulates collective communication: proof, numbers, time, picture.

  collsim example:ring                run an example
  collsim example:ring --timeline -   and draw who does what when
  collsim FILE|example:NAME|- …       run scenarios (= collsim run): one table
  collsim check|explain|tune FILE …   its cost, what decides it, NCCL's best way
  collsim verify|import|export FILE   prove, read, write schedules of others
  collsim validate|calibrate FILE     execute it for real and compare; measure
  collsim compare|diagnose A B        two logs or runs; why it is slow, or hangs
  collsim map|report|merge|sweep …    who wins where; results read back, merged
  collsim init|list|schema|help …     begin; what there is; help busbw: a term

  --json, --csv FILE|-             JSON instead of the table; a line a result
  --report FILE.html               all of it as a page that can be sent
  --timeline FILE.svg|-, --trace   draw each result, - as text; for Perfetto
  --curves, --topology FILE.svg    busbw against size; the network as a picture
  --pivot COLUMN [--across KEY]    a table of swept values, down and across
  --links FILE|-, --numerics       what links carried; what rounding does
  --set PATH=VALUE, --only KEY=…   replace a key; keep the results that have it

Scenario keys: collsim list keys, docs/scenario.md. All flags: docs/cli.md.
Exit codes: 0 all is well, 1 a check failed, 2 wrong input or usage, 3 not
available here, 4 a bug, 5 an output lost, 130 interrupted (rest is written).
`
