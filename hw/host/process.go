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

// A Rendezvous holds what a rank started by hand needs to find the coordinator.
type Rendezvous struct {
	Host    string // intended machine, for people
	Network string // "tcp" or "unix"
	Address string // of the coordinator
	Rank    int
	Secret  gate.Secret // shared by the run
	// Timeout bounds the wait for a coordinator that does not listen yet; hw.DefaultTimeout if 0.
	Timeout time.Duration
}

// environment names the variable that makes a process a rank: see Environ.
const environment = "COLLSIM_HOST_RANK"

// Environ returns the "key=value" that makes Child run this rank, if it is added to this program's
// environment. It contains the secret: other users can see a process's arguments, but not its
// environment. It does not contain the timeout.
func (r Rendezvous) Environ() string {
	return fmt.Sprintf("%s=%d %s %s %s", environment, r.Rank, r.Network, r.Secret.Text(), r.Address)
}

// Child runs a rank if this process was started as one, and returns the exit code. The main of a
// program that uses this package, and the TestMain of a test, must call it first.
func Child() (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), " ", 4)
	if len(words) != 4 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // a terminal sends it to the coordinator, too, which decides
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

// processes returns the launcher: it starts the ranks of this machine, and announces those of
// others.
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

// placed returns the rendezvous of a rank; each worker has one rank.
func placed(host string, r rank.Rendezvous) Rendezvous {
	return Rendezvous{Host: host, Network: r.Network, Address: r.Address, Rank: r.Worker,
		Secret: r.Secret}
}
