//go:build unix

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// apart makes a command the first of a group of its own: an interrupt from the keyboard is for the
// coordinator, which knows what to do.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// machine tells apart what numbers of processes are of: the machine since it was started and its
// namespace of processes, where the system tells them, for one may have several host names; else
// the host's name.
func machine() string {
	booted, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	if len(booted) == 0 || space == "" {
		host, _ := os.Hostname()
		return host
	}
	return strings.TrimSpace(string(booted)) + " " + space
}

// kill ends a process of this machine whatever it does; of no effect if it has ended.
func kill(process int) { syscall.Kill(process, syscall.SIGKILL) }

// ask asks a command to end.
func ask(cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }

// ended reports whether a process of this machine has ended, whoever has to bury it.
func ended(process int) bool {
	if syscall.Kill(process, 0) != nil {
		return true
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return strings.Contains(string(stat), ") Z ")
}
