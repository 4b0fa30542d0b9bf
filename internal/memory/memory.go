// Package memory reports how much memory this process may still take. That is limited by the
// machine's free memory, by control groups (versions 1 and 2 of Linux), and by the process's own
// limit (ulimit -v).
//
// The values change all the time. Only commands and executors may read them; they pass them to
// others as data.
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

// Free is an amount of memory that may still be taken.
type Free struct {
	Bytes int64
	Of    Owner // the tightest limit
}

// String formats the limit: "this machine", "the control group", "the limit of this process".
func (f Free) String() string { return f.Of.String() }

// An Owner is a source of a limit.
type Owner uint8

// The owners.
const (
	Machine Owner = iota
	Group         // a control group
	Process       // a limit on the addresses of this process
)

// String formats the owner.
func (o Owner) String() string {
	return [...]string{"this machine", "the control group", "the limit of this process"}[o]
}

// Read returns what this process may still take. It returns false if the system does not report it.
func Read() (Free, bool) { return ReadFrom(os.DirFS("/")) }

// ReadFrom does the work of Read on another root of the system's files.
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

// reserve is address space that threads and the garbage collector reserve without using it: a
// thread's stack and arena have 72 MiB.
const reserve = 256 << 20

// addresses returns what the limit on the process's address space leaves; false if there is none.
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
		if err != nil || limit < 0 || !known { // such as "unlimited"
			return 0, false
		}
		return max(limit-min(used, math.MaxInt64>>10)<<10-reserve, 0), true
	}
	return 0, false
}

// A version describes the files of a version of control groups.
type version struct {
	mounts      []string // possible mount points
	limit, used string   // files
	cache       string   // line of memory.stat with the reclaimable memory
}

var (
	first = version{[]string{"sys/fs/cgroup/memory"}, "memory.limit_in_bytes",
		"memory.usage_in_bytes", "total_inactive_file"}
	second = version{[]string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, "memory.max",
		"memory.current", "inactive_file"}
)

// left returns what a group and its ancestors leave; false if none has a limit. In a container the
// path may be the host's, so missing groups are skipped.
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

// of returns what one group leaves.
func (v *version) of(root fs.FS, dir string) (int64, bool) {
	limit, ok := number(root, path.Join(dir, v.limit))
	if !ok || limit >= math.MaxInt64/2 { // version 1 has no other value for none
		return 0, false
	}
	used, ok := number(root, path.Join(dir, v.used))
	if !ok {
		return 0, false
	}
	cache, _ := field(root, path.Join(dir, "memory.stat"), v.cache)
	return max(limit-max(used-max(cache, 0), 0), 0), true
}

// number reads a file with one number; "max" is none.
func number(root fs.FS, name string) (int64, bool) {
	text, err := input.Limit{}.InFS(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n >= 0
}

// field reads the number after a name in a file of lines.
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
