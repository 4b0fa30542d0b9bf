package hw

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"collsim/internal/input"
)

// RanOn describes the machine that a job ran on. It identifies a measurement.
type RanOn struct {
	Executor, Transport string   // such as "host", "tcp"
	CPU                 string   // model; of several machines, that of rank 0
	Cores               int      // that the process may use
	OS                  string   // with the processor's architecture: "linux/amd64"
	Go                  string   // version
	Hosts               []string // names, if more than one
}

// String formats the description, as in "host (tcp) on 2 cores of Xeon, linux/amd64, go1.26".
func (r RanOn) String() string {
	text := fmt.Sprintf("%s (%s) on %d cores of %s, %s, %s", r.Executor, r.Transport, r.Cores, r.CPU,
		r.OS, r.Go)
	if len(r.Hosts) > 0 {
		text += ", hosts " + strings.Join(r.Hosts, " ")
	}
	return text
}

// Here describes this machine, for an executor and a transport.
func Here(executor, transport string) RanOn {
	return RanOn{Executor: executor, Transport: transport, CPU: model(), Cores: runtime.GOMAXPROCS(0),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
}

// model returns the processor's name as Linux reports it, "unknown" elsewhere. It is read once.
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
