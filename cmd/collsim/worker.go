package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collsim/hw/cuda"
	"collsim/hw/host"
	"collsim/hw/rank"
	"collsim/scenarios"
)

// maxWorkers is the most ranks that one call starts.
const maxWorkers = 1024

func (a *app) workerCommand() *cobra.Command {
	var at, ranks string
	machine := -1
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "worker --at ADDRESS --ranks 4-7|--machine 1",
		Short: "be ranks that another machine's validate waits for",
		Long: "Worker executes ranks of a validation that was started on another machine, as that says " +
			"on its standard error: some ranks of host, or with --machine all that cuda has on the GPUs " +
			"of this one. It ends when that one ends. Both must know the same secret, from " +
			secretVariable + " or from a file that " + secretFile + " names: validate says what to set, " +
			"unless it has found one there itself.",
		Example: "  COLLSIM_SECRET=… collsim worker --at 10.0.0.1:7000 --ranks 4-7\n" +
			"  COLLSIM_SECRET=… collsim worker --at 10.0.0.1:7000 --machine 1\n" +
			"  srun --nodelist=node2 --ntasks=1 collsim worker --at 10.0.0.1:7000 --ranks 4-7",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wrong := scenarios.Address(at); wrong != "" {
				return &usageError{Text: fmt.Sprintf("--at %q: %s", at, wrong), Hint: "validate says which"}
			}
			if (ranks == "") == (machine < 0) {
				return &usageError{Text: "--ranks or --machine is expected, one of them",
					Hint: "validate says which"}
			}
			first, last := machine, machine
			if ranks != "" {
				var err error
				if first, last, err = rankRange(ranks); err != nil {
					return err
				}
			}
			secret, err := secretOfRun()
			if err != nil {
				return err
			}
			if secret.None() {
				return &usageError{Text: "no secret: " + secretVariable + " or " + secretFile + " is expected",
					Hint: "validate says which, or has it from there itself"}
			}
			ctx, stop := a.interruptible(cmd.Context())
			defer stop()
			ctx, unbind := bound(ctx)
			defer unbind()
			if machine >= 0 {
				return unavailable(cuda.Worker(ctx, rank.Rendezvous{Network: "tcp", Address: at,
					Worker: machine, Secret: secret, Timeout: timeout}))
			}
			r := host.Rendezvous{Network: "tcp", Address: at, Rank: first, Secret: secret,
				Timeout: timeout}
			return unavailable(work(ctx, r, last))
		},
	}
	f := cmd.Flags()
	f.StringVar(&at, "at", "", "`ADDRESS` at which validate waits, as host:port")
	f.StringVar(&ranks, "ranks", "", "`N` or FIRST-LAST: which ranks of host to be")
	f.IntVar(&machine, "machine", -1, "`N`: which machine of cuda to be")
	f.DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait for validate to be there")
	f.SortFlags = false
	return cmd
}

// rankRange reads "4" or "4-7".
func rankRange(text string) (first, last int, err error) {
	from, to, many := strings.Cut(text, "-")
	first, err1 := strconv.Atoi(from)
	last = first
	var err2 error
	if many {
		last, err2 = strconv.Atoi(to)
	}
	if err1 != nil || err2 != nil || first < 0 || last < first || last-first >= maxWorkers {
		return 0, 0, &usageError{Text: fmt.Sprintf("--ranks %q: a rank, or the first and the last of at "+
			"most %d, is expected", text, maxWorkers), Hint: "for example --ranks 4-7"}
	}
	return first, last, nil
}

// boundVariable is set for a rank that another worker has started: its standard input is that
// worker's life.
const boundVariable = "COLLSIM_WORKER_BOUND"

// errBound is why a rank ends that was bound to a worker.
var errBound = errors.New("the worker that has started this rank has ended")

// bound returns a context that ends with the process that has started this worker, however that
// ends: the system closes the pipe. Work that cannot be interrupted ends with the process a
// little later.
func bound(ctx context.Context) (context.Context, func()) {
	if os.Getenv(boundVariable) == "" {
		return ctx, func() {}
	}
	os.Unsetenv(boundVariable)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		var b [1]byte
		for {
			if _, err := os.Stdin.Read(b[:]); err != nil {
				break
			}
		}
		cancel(errBound)
		time.AfterFunc(boundGrace, func() { os.Exit(exitFailed) })
	}()
	return ctx, func() { cancel(nil) }
}

// boundGrace bounds the time in which a rank ends by itself when its worker has ended.
const boundGrace = 5 * time.Second

// work executes one rank in this process, or several in a child process each. The children end when
// this process does.
func work(ctx context.Context, r host.Rendezvous, last int) error {
	if r.Rank == last {
		return host.Worker(ctx, r)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	all := make(chan error)
	first := r.Rank
	for ; r.Rank <= last; r.Rank++ {
		cmd := exec.CommandContext(ctx, self, "worker", "--at", r.Address, "--ranks",
			strconv.Itoa(r.Rank), "--timeout", r.Timeout.String())
		cmd.Stderr = os.Stderr
		cmd.Env = append(os.Environ(), boundVariable+"=yes")
		if _, err := cmd.StdinPipe(); err != nil { // which nobody writes to
			return err
		}
		go func() { all <- cmd.Run() }()
	}
	var failed []error
	for range last - first + 1 {
		if err := <-all; err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
