//go:build !unix

package mpi

import (
	"os"
	"os/exec"
)

// apart does nothing on this system.
func apart(*exec.Cmd) {}

// kill kills a process.
func kill(process int) {
	if p, err := os.FindProcess(process); err == nil {
		p.Kill()
	}
}

// ask kills a command: this system cannot ask it to end.
func ask(cmd *exec.Cmd) { cmd.Process.Kill() }

// ended reports true: this system does not report the end of a process.
func ended(int) bool { return true }
