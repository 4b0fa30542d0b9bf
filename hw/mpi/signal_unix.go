//go:build unix

package mpi

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"collsim/internal/input"
)

// apart makes a command the first of a group of its own: an interrupt from the keyboard is for the
// coordinator, which knows what to do.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a process of this machine whatever it does; of no effect if it has ended.
func kill(process int) { syscall.Kill(process, syscall.SIGKILL) }

// ask asks a command to end.
func ask(cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }

// ended reports whether a process of this machine has ended, whoever has to reap it.
func ended(process int) bool {
	if syscall.Kill(process, 0) != nil {
		return true
	}
	stat, _ := input.Limit{}.File(fmt.Sprintf("/proc/%d/stat", process))
	return strings.Contains(string(stat), ") Z ")
}
