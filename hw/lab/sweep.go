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

// mark begins the names of all namespaces of labs: collsim-PID-START-LAB-NODE, with the owner's
// process and when that began, so that a later process of that number is not taken for it.
const mark = "collsim"

// born is when a process began, in ticks since the machine did; "" if there is none.
func born(pid int) string {
	text, err := input.Limit{}.File(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything; the start is the 22nd field, 20 after it
	// (proc(5)).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// owned begins the names of this process's labs.
func owned() string { return fmt.Sprintf("%s-%d-%s", mark, os.Getpid(), born(os.Getpid())) }

// orphaned reports whether a name is of a namespace of a lab whose owner is gone.
func orphaned(name string, born func(pid int) string) bool {
	parts := strings.Split(name, "-")
	if len(parts) != 5 || parts[0] != mark {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && pid > 0 && born(pid) != parts[2]
}

// spaces are the names of all namespaces that have one.
func spaces() ([]string, error) {
	entries, err := os.ReadDir(names)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all, nil
}

// Sweep removes labs whose owners ended without removing them, with the processes in them, and
// returns how many namespaces that were. Owners are told by their numbers: all who share the names
// of namespaces must see the same processes.
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

// desks is where labs keep the directories that Open MPI uses. Their names have no blanks: at
// those, mpirun would cut the agent's.
const desks = "/var/run"

// removeDesks removes those of labs whose owners are gone.
func removeDesks() error {
	entries, err := os.ReadDir(desks)
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	var all []error
	for _, e := range entries {
		if orphaned(e.Name(), born) {
			all = append(all, os.RemoveAll(filepath.Join(desks, e.Name())))
		}
	}
	return errors.Join(all...)
}

// remove ends the processes in namespaces, and removes these with all that is in them.
func remove(left []string) error {
	end(left)
	var all []error
	for _, name := range left {
		err := call("ip", "", "netns", "del", name)
		if _, gone := os.Stat(filepath.Join(names, name)); err != nil && gone == nil {
			all = append(all, err) // else somebody else has swept it
		}
	}
	return errors.Join(all...)
}

// end ends what runs in namespaces.
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

// inside are the processes in namespaces, those that there are.
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
