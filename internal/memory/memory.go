// Package memory tells how much memory this process may still take: what the machine has left, or
// what its control groups (versions 1 and 2 of Linux) or its own limit (ulimit -v) leave of it.
//
// What is read differs from one moment to the next. Only commands and executors may ask; whoever
// else needs to know is told, as data, by its caller.
package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"collsim/internal/input"
)

// Free is memory that may still be taken.
type Free struct {
	Bytes int64
	Of    Owner // who leaves least
}

// String is whose memory it is: "this machine", "the control group", "the limit of this process".
func (f Free) String() string { return f.Of.String() }

// Owner is whose memory it is.
type Owner uint8

// The owners.
const (
	Machine Owner = iota
	Group         // a control group
	Process       // a limit on the addresses of this process
)

// String is what is said to have so much left.
func (o Owner) String() string {
	return [...]string{"this machine", "the control group", "the limit of this process"}[o]
}

// Read is what this process may still take. It is false where the system does not tell.
func Read() (Free, bool) { return ReadFrom(os.DirFS("/")) }

// ReadFrom is Read with another root of the system's files.
func ReadFrom(root fs.FS) (Free, bool) {
	free, known := Free{}, false
	if n, ok := field(root, "proc/meminfo", "MemAvailable:"); ok && n <= math.MaxInt64>>10 {
		free, known = Free{Bytes: n << 10}, true
	}
	groups, _ := input.Limit{}.InFS(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var v version
		switch {
		case parts[1] == "":
			v = second
		case strings.Contains(","+parts[1]+",", ",memory,"):
			v = first
		default:
			continue
		}
		if n, ok := v.left(root, parts[2]); ok && (!known || n < free.Bytes) {
			free, known = Free{n, Group}, true
		}
	}
	if n, ok := addresses(root); ok && (!known || n < free.Bytes) {
		free, known = Free{n, Process}, true
	}
	return free, known
}

// reserve is the addresses that threads and the garbage collector take without using them: a
// thread's stack and arena are 72 MiB.
const reserve = 256 << 20

// addresses is what the limit on a process's addresses leaves; false if it has none.
func addresses(root fs.FS) (int64, bool) {
	limits, _ := input.Limit{}.InFS(root, "proc/self/limits")
	for line := range strings.Lines(string(limits)) {
		rest, ok := strings.CutPrefix(line, "Max address space")
		words := strings.Fields(rest)
		if !ok || len(words) == 0 {
			continue
		}
		limit, err := strconv.ParseInt(words[0], 10, 64)
		used, known := field(root, "proc/self/status", "VmSize:")
		if err != nil || limit < 0 || !known { // as "unlimited"
			return 0, false
		}
		return max(limit-min(used, math.MaxInt64>>10)<<10-reserve, 0), true
	}
	return 0, false
}

// version is how a version of control groups tells what it allows.
type version struct {
	mounts      []string // where it may be mounted
	limit, used string   // files
	cache       string   // the line of memory.stat with what is given back on demand
}

var (
	first = version{[]string{"sys/fs/cgroup/memory"}, "memory.limit_in_bytes",
		"memory.usage_in_bytes", "total_inactive_file"}
	second = version{[]string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, "memory.max",
		"memory.current", "inactive_file"}
)

// left is what a group and those above it leave; false if none of them has a limit. Within a
// container the path may be that of outside: groups that are not there are passed over.
func (v *version) left(root fs.FS, group string) (least int64, limited bool) {
	for _, mount := range v.mounts {
		for at := path.Clean("/" + group); ; at = path.Dir(at) {
			if n, ok := v.of(root, path.Join(mount, at)); ok && (!limited || n < least) {
				least, limited = n, true
			}
			if at == "/" {
				break
			}
		}
	}
	return least, limited
}

// of is what one group leaves.
func (v *version) of(root fs.FS, dir string) (int64, bool) {
	limit, ok := number(root, path.Join(dir, v.limit))
	if !ok || limit >= math.MaxInt64/2 { // version 1 says so of none
		return 0, false
	}
	used, ok := number(root, path.Join(dir, v.used))
	if !ok {
		return 0, false
	}
	cache, _ := field(root, path.Join(dir, "memory.stat"), v.cache)
	return max(limit-max(used-max(cache, 0), 0), 0), true
}

// number is what a file of one number says; "max" is none.
func number(root fs.FS, name string) (int64, bool) {
	text, err := input.Limit{}.InFS(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n >= 0
}

// field is the number behind a name in a file of lines.
func field(root fs.FS, name, key string) (int64, bool) {
	text, _ := input.Limit{}.InFS(root, name)
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == key {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}
