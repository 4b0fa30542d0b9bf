//go:build unix

package mpi

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"collsim/internal/input"
)

// apart starts a command in a process group of its own, so that an interrupt from the keyboard only
// reaches the coordinator, which decides.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills a process of this machine; no effect if it has ended.
func kill(process int) { syscall.Kill(process, syscall.SIGKILL) }

// ask asks a command to end.
func ask(cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }

// ended reports whether a process of this machine has ended, even if its parent has not waited for
// it.
func ended(process int) bool {
	if syscall.Kill(process, 0) != nil {
		return true
	}
	stat, _ := input.Limit{}.File(fmt.Sprintf("/proc/%d/stat", process))
	return strings.Contains(string(stat), ") Z ")
}
