package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"collsim/hw"
	"collsim/hw/rank"
)

// grace is the time that ranks and mpirun have to end by themselves.
const grace = 2 * time.Second

// patience bounds the wait for mpirun's report of a lost rank.
const patience = 10 * time.Second

// A launcher starts ranks by mpirun.
type launcher struct {
	config  Config
	at      rank.Rendezvous
	ranks   int
	mpirun  *process // nil for none
	running sync.WaitGroup
}

// Start implements rank.Launcher.
func (s *launcher) Start(at rank.Rendezvous, ranks int, ended func(rank.Ended)) error {
	if _, err := load(s.config.Library); err != nil {
		return err
	}
	p, err := launch(&s.config, at.Network+" "+at.Address+" "+at.Secret.Text()+" "+
		s.config.Library, ranks)
	if err != nil {
		return err
	}
	s.at, s.ranks, s.mpirun = at, ranks, p
	s.running.Go(func() {
		p.cmd.Wait()
		os.RemoveAll(p.dir)
		ended(p.ending(s.config.launcher()))
		close(p.done)
	})
	return nil
}

// Patience implements rank.Launcher. mpirun reports a rank's end some time after it.
func (s *launcher) Patience() time.Duration { return patience }

// Stop implements rank.Launcher. It ends mpirun at once if some rank has not connected: that rank
// keeps looking for the coordinator, and mpirun would wait for it. It then kills the ranks, since
// mpirun does not wait until they have ended.
func (s *launcher) Stop(come []int, _ int, _ time.Duration) {
	if s.mpirun == nil {
		return
	}
	reported := len(come) >= s.ranks || !s.config.here()
	s.mpirun.end(reported)
	for _, process := range come {
		for since := time.Now(); !ended(process) && time.Since(since) < grace; {
			kill(process)
			time.Sleep(time.Millisecond)
		}
	}
	s.running.Wait()
	s.mpirun = nil
}

// A process is mpirun.
type process struct {
	cmd    *exec.Cmd
	dir    string        // folder of mpirun's session files
	done   chan struct{} // closed when it has ended
	output rank.Head
}

// launch runs this program on so many ranks by mpirun. mpirun gets a temporary folder of its own:
// all mpiruns of a user create and remove the same subfolder, and fail in a race.
func launch(c *Config, rendezvous string, ranks int) (*process, error) {
	path, err := exec.LookPath(c.launcher())
	if err != nil {
		return nil, &hw.Missing{What: c.launcher(), Why: err.Error(), Get: get}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program's own file: %w", err)
	}
	args := []string{"--oversubscribe", "--bind-to", "none", "-x", environment}
	if os.Getuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	args = append(append(args, c.Arguments...), "-n", strconv.Itoa(ranks), self)
	dir, err := os.MkdirTemp("", "collsim-mpi")
	if err != nil {
		return nil, fmt.Errorf("a temporary folder for %s: %w", c.launcher(), err)
	}
	p := &process{cmd: exec.Command(path, args...), dir: dir, done: make(chan struct{})}
	p.cmd.Env = slices.Concat(os.Environ(), variablesOfOpenMPI(), c.components(adapters()),
		[]string{"TMPDIR=" + dir, environment + "=" + rendezvous})
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	apart(p.cmd)
	if err := p.cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// variablesOfOpenMPI lists the variables of all runs. Component "tuned" executes collectives, since
// its algorithms can be forced; han, adapt and sm have precedence otherwise. A waiting rank yields
// its processor. Signal handlers stay Go's. mpirun kills ranks without delay.
func variablesOfOpenMPI() []string {
	return []string{
		"OMPI_MCA_coll=tuned,basic,libnbc,self,inter",
		"OMPI_MCA_coll_tuned_use_dynamic_rules=1",
		"OMPI_MCA_mpi_yield_when_idle=1",
		"OMPI_MCA_opal_signal=",
		"OMPI_MCA_odls_base_sigkill_timeout=0",
	}
}

// Patterns of mpirun's messages about a rank that has ended, and about a host whose daemon has.
const (
	signalled = `process rank (\d+) with PID \d+ on node \S+ exited on signal (\d+) \(([^)]*)\)`
	deserted  = `lost communication with a remote daemon.*Remote daemon\s*: ` +
		`\[\[[0-9,]+\],\d+\] on node (\S+)`
)

// ending parses from mpirun's output which rank ended first, or which host was lost. Otherwise it
// reports the end of mpirun itself.
func (p *process) ending(name string) rank.Ended {
	text := strings.Join(strings.Fields(p.output.String()), " ")
	fault := &hw.Error{Call: "process", Rank: -1, Lane: -1, Step: -1}
	if m := regexp.MustCompile(signalled).FindStringSubmatch(text); m != nil {
		if number, err := strconv.Atoi(m[1]); err == nil {
			fault.Code = strings.ToLower(m[3])
			fault.Text = "ended by signal " + m[2]
			return rank.Ended{Worker: number, How: fault}
		}
	}
	if m := regexp.MustCompile(deserted).FindStringSubmatch(text); m != nil {
		fault.Code, fault.Text = "lost", "is lost: so is the daemon of mpirun"
		return rank.Ended{Worker: -1, Host: m[1], How: fault}
	}
	return rank.Ended{Worker: -1, How: fmt.Errorf("%s has ended: %v: %s", name,
		p.cmd.ProcessState, p.said())}
}

// said returns the beginning of the output of mpirun and its ranks.
func (p *process) said() string {
	text := strings.Join(strings.Fields(strings.ReplaceAll(p.output.String(), "--", "")), " ")
	return hw.Printable(strings.Trim(text[:min(len(text), 400)], "- "))
}

// end waits for mpirun to end, if its ranks were asked to end. Then it asks mpirun to end, and then
// kills it.
func (p *process) end(reported bool) {
	if reported && p.within(grace) {
		return
	}
	if ask(p.cmd); p.within(grace) {
		return
	}
	p.cmd.Process.Kill()
	<-p.done
}

// within waits for mpirun to end, at most for d.
func (p *process) within(d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-p.done:
		return true
	case <-late.C:
		return false
	}
}
