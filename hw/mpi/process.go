package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"collsim/hw"
)

// process is mpirun.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	output tail
}

// launch runs this very program again, as so many ranks.
func launch(c *Config, rendezvous string, ranks int) (*process, error) {
	path, err := exec.LookPath(c.launcher())
	if err != nil {
		return nil, &Missing{c.launcher(), err.Error(), get}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("mpi: this program's own file: %w", err)
	}
	args := []string{"--oversubscribe", "--bind-to", "none", "-x", environment}
	if os.Getuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	args = append(append(args, c.Arguments...), "-n", strconv.Itoa(ranks), self)
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), variablesOfOpenMPI()...), environment+"="+rendezvous)
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	apart(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", path, err)
	}
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// variablesOfOpenMPI are set for all runs: collectives are those of "tuned", which may be forced
// (han, adapt and sm would be asked first); a rank that waits lets others run; and the signals of a
// fault stay with Go's handlers. mpirun does not linger when it ends ranks.
func variablesOfOpenMPI() []string {
	return []string{
		"OMPI_MCA_coll=tuned,basic,libnbc,self,inter",
		"OMPI_MCA_coll_tuned_use_dynamic_rules=1",
		"OMPI_MCA_mpi_yield_when_idle=1",
		"OMPI_MCA_opal_signal=",
		"OMPI_MCA_odls_base_sigkill_timeout=0",
	}
}

// The words in which mpirun names a rank that has ended, and a host whose daemon has.
var (
	signalled = regexp.MustCompile(
		`process rank (\d+) with PID \d+ on node (\S+) exited on signal (\d+) \(([^)]*)\)`)
	deserted = regexp.MustCompile(`lost communication with a remote daemon.*Remote daemon\s*: ` +
		`\[\[[0-9,]+\],\d+\] on node (\S+)`)
)

// culprit is the rank that mpirun says has ended first, nil if it does not say.
func (p *process) culprit() *hw.Error {
	text := strings.Join(strings.Fields(p.output.String()), " ")
	m := signalled.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	rank, err := strconv.Atoi(m[1])
	if err != nil {
		return nil
	}
	return &hw.Error{Call: "process", Code: strings.ToLower(m[4]), Rank: rank, Lane: -1, Step: -1,
		Text: fmt.Sprintf("ended by signal %s on %s", m[3], m[2])}
}

// lost is the host that mpirun says it has lost, "" if it does not say.
func (p *process) lost() string {
	text := strings.Join(strings.Fields(p.output.String()), " ")
	if m := deserted.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// said is what mpirun and its ranks have said, in short.
func (p *process) said() string {
	text := strings.Join(strings.Fields(strings.ReplaceAll(p.output.String(), "--", "")), " ")
	return strings.Trim(text[:min(len(text), 400)], "- ")
}

// end waits for mpirun to end, then asks it to, then kills it.
func (p *process) end() {
	for _, force := range []func(){func() {}, func() { ask(p.cmd) }, func() { p.cmd.Process.Kill() }} {
		force()
		select {
		case <-p.done:
			return
		case <-time.After(grace):
		}
	}
	<-p.done
}

// tail keeps the beginning of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), 1<<14-len(t.text))]...)
	return len(b), nil
}

// String is what it has kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
