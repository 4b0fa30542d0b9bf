package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"collsim/internal/input"
)

// mark begins the names of all namespaces of labs: collsim-PID-START-LAB-NODE. They name the
// owner's process and its start time, since process numbers are reused.
const mark = "collsim"

// born returns the start time of a process, in ticks since boot; "" if there is none.
func born(pid int) string {
	text, err := input.Limit{}.File(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may contain anything. The start time is field 22, 20 after it
	// (proc(5)).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// owned returns the prefix of this process's labs.
func owned() string { return fmt.Sprintf("%s-%d-%s", mark, os.Getpid(), born(os.Getpid())) }

// orphaned reports whether a name belongs to a lab whose owner has ended.
func orphaned(name string, born func(pid int) string) bool {
	parts := strings.Split(name, "-")
	if len(parts) != 5 || parts[0] != mark {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && pid > 0 && born(pid) != parts[2]
}

// spaces lists the named namespaces.
func spaces() ([]string, error) {
	entries, err := os.ReadDir(names)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all, nil
}

// Sweep removes labs whose owners have ended, with the processes in them, and returns the number of
// namespaces removed. Owners are identified by process number. So all processes that share names of
// namespaces must share a PID namespace.
func Sweep() (removed int, err error) {
	all, err := spaces()
	if err != nil {
		return 0, err
	}
	var left []string
	for _, name := range all {
		if orphaned(name, born) {
			left = append(left, name)
		}
	}
	return len(left), errors.Join(remove(left), removeDesks())
}

// desks is the parent of labs' directories for Open MPI. The path has no blanks: mpirun would split
// the agent's path there.
const desks = "/var/run"

// removeDesks removes the directories of labs whose owners have ended.
func removeDesks() error {
	entries, err := os.ReadDir(desks)
	if err != nil {
		return err
	}
	var all []error
	for _, e := range entries {
		if orphaned(e.Name(), born) {
			all = append(all, os.RemoveAll(filepath.Join(desks, e.Name())))
		}
	}
	return errors.Join(all...)
}

// remove kills the processes in namespaces, and removes the namespaces.
func remove(left []string) error {
	end(left)
	var all []error
	for _, name := range left {
		err := call("ip", "", "netns", "del", name)
		if _, gone := os.Stat(filepath.Join(names, name)); err != nil && gone == nil {
			all = append(all, err) // else another process has swept it
		}
	}
	return errors.Join(all...)
}

// end kills the processes in namespaces.
func end(spaces []string) {
	for range 20 {
		left := inside(spaces)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			if p, err := os.FindProcess(pid); err == nil && pid > 1 && pid != os.Getpid() {
				p.Kill()
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// inside lists the processes in namespaces.
func inside(spaces []string) (pids []int) {
	var all []os.FileInfo
	for _, name := range spaces {
		if space, err := os.Stat(filepath.Join(names, name)); err == nil {
			all = append(all, space)
		}
	}
	if len(all) == 0 {
		return nil
	}
	processes, _ := os.ReadDir("/proc")
	for _, e := range processes {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		own, err := os.Stat("/proc/" + e.Name() + "/ns/net")
		if err == nil && slices.ContainsFunc(all, func(space os.FileInfo) bool {
			return os.SameFile(own, space)
		}) {
			pids = append(pids, pid)
		}
	}
	return pids
}
