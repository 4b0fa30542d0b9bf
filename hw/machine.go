package hw

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"collsim/internal/input"
)

// RanOn is what a job ran on, so that a measurement can be told from another.
type RanOn struct {
	Executor, Transport string   // as in "host", "tcp"
	CPU                 string   // model; of several machines, that of rank 0
	Cores               int      // that the process may use
	OS                  string   // with the processor's architecture: "linux/amd64"
	Go                  string   // version
	Hosts               []string // names, if there are several
}

// String is one line, as in "host (tcp) on 2 cores of Xeon, linux/amd64, go1.26".
func (r RanOn) String() string {
	text := fmt.Sprintf("%s (%s) on %d cores of %s, %s, %s", r.Executor, r.Transport, r.Cores, r.CPU,
		r.OS, r.Go)
	if len(r.Hosts) > 0 {
		text += ", hosts " + strings.Join(r.Hosts, " ")
	}
	return text
}

// Here is this machine, for an executor and a transport.
func Here(executor, transport string) RanOn {
	return RanOn{Executor: executor, Transport: transport, CPU: model(), Cores: runtime.GOMAXPROCS(0),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
}

// model is the processor's name, where the system tells it, which it is asked once.
var model = sync.OnceValue(func() string {
	text, _ := input.Limit{}.File("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown " + runtime.GOARCH
})
