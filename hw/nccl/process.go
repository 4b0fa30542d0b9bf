package nccl

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
)

// environment names the variable that makes a process a worker. It has the worker's number, the
// coordinator's address, the secret, and the library files.
const environment = "COLLSIM_NCCL_WORKER"

// Child executes ranks if this process was started as a worker, and returns the exit code. The main
// of a program that uses this package, and the TestMain of a test, must call it first, in the main
// goroutine.
func Child() (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), "\n", 5)
	if len(words) != 5 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // a terminal sends it to the coordinator, too, which decides
	number, notOne := strconv.Atoi(words[0])
	secret, err := gate.ParseSecret(words[2])
	if notOne != nil || err != nil {
		return 2, true
	}
	runtime.LockOSThread() // the only thread that calls the libraries
	r := rank.Rendezvous{Network: "unix", Address: words[1], Worker: number, Secret: secret}
	if work(r, &Config{Library: words[3], Driver: words[4]}) != nil {
		return 1, true
	}
	return 0, true
}

// work connects to the coordinator and follows its orders.
func work(r rank.Rendezvous, c *Config) error {
	ctx := context.Background()
	w, err := rank.Come(ctx, r)
	if err != nil {
		return err
	}
	p, on, err := begin(c, w.Clock)
	if err != nil {
		w.Failed(err)
		w.Close()
		return err
	}
	return w.Serve(ctx, p, rank.Ready{RanOn: hw.Here("nccl", on)})
}

// processes returns the launcher, which may start processes once the number of GPUs is known. NCCL
// refuses two ranks of one host on a GPU, so ranks that share one get different host ids.
func (e *Executor) processes() *rank.Processes {
	return &rank.Processes{Environ: func(at rank.Rendezvous) []string {
		c := &e.config
		words := []string{strconv.Itoa(at.Worker), at.Address, at.Secret.Text(), c.Library, c.Driver}
		variables := []string{environment + "=" + strings.Join(words, "\n")}
		if node := at.Worker / max(e.devices, 1); node > 0 {
			variables = append(variables, fmt.Sprintf("NCCL_HOSTID=collsim-%d", node))
		}
		return slices.Concat(c.environ, e.journal.variables(), variables)
	}}
}
