package host

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// process is a rank's, started by us.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	stderr tail
}

// launch runs this very program again, as a rank.
func launch(r Rendezvous) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("host: this program's own file: %w", err)
	}
	p := &process{cmd: exec.Command(self), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), r.Environ())
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("host: a process for rank %d: %w", r.Rank, err)
	}
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// kill ends it whatever it does, and returns when it has.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// state says how it has ended, with the first line of what it had to say.
func (p *process) state() (code, text string) {
	code = strings.TrimPrefix(p.cmd.ProcessState.String(), "signal: ")
	text = fmt.Sprintf("process %d ended: %v", p.cmd.Process.Pid, p.cmd.ProcessState)
	if first, _, _ := strings.Cut(p.stderr.String(), "\n"); first != "" {
		text += ": " + first
	}
	return code, text
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
	t.text = append(t.text, b[:min(len(b), 4096-len(t.text))]...)
	return len(b), nil
}

// String is what it has kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
