package host

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"collsim/hw/gate"
	"collsim/hw/rank"
)

// Rendezvous is how a rank finds the others: what the command line that starts one by hand needs.
type Rendezvous struct {
	Host    string // the machine that it is meant for, for people
	Network string // "tcp" or "unix"
	Address string // of the coordinator
	Rank    int
	Secret  gate.Secret // that all of the run know
	// Timeout bounds the wait for a coordinator that is not there yet; hw.DefaultTimeout if 0.
	Timeout time.Duration
}

// environment is how Child knows that it is one.
const environment = "COLLSIM_HOST_RANK"

// Environ is what to add to the environment of this very program so that Child makes it this rank:
// a "key=value" as of os.Environ. The secret is part of it: other users do not see a process's
// environment, as they see its arguments. The timeout is not.
func (r Rendezvous) Environ() string {
	return fmt.Sprintf("%s=%d %s %s %s", environment, r.Rank, r.Network, r.Secret.Text(), r.Address)
}

// Child does the work of a rank if this process was started for that, and returns the code to exit
// with. The main of a program that uses this package, and the TestMain of a test, must call it
// before anything else.
func Child() (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), " ", 4)
	if len(words) != 4 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // the coordinator gets it too, and knows what to do
	number, notOne := strconv.Atoi(words[0])
	secret, err := gate.ParseSecret(words[2])
	if notOne != nil || err != nil {
		return 2, true
	}
	r := Rendezvous{Network: words[1], Secret: secret, Address: words[3], Rank: number}
	if err := Worker(context.Background(), r); err != nil {
		return 1, true
	}
	return 0, true
}

// processes starts the ranks of this machine, and announces those of others.
func (c *Config) processes() *rank.Processes {
	return &rank.Processes{Host: c.hostOf,
		Environ: func(r rank.Rendezvous) []string { return []string{placed("", r).Environ()} },
		Announce: func(list []rank.Placed) {
			var all []Rendezvous
			for _, p := range list {
				all = append(all, placed(p.Host, p.Rendezvous))
			}
			c.Announce(all)
		}}
}

// placed is the rendezvous of a rank, one to a worker.
func placed(host string, r rank.Rendezvous) Rendezvous {
	return Rendezvous{Host: host, Network: r.Network, Address: r.Address, Rank: r.Worker,
		Secret: r.Secret}
}
