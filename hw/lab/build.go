package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"collsim/hw"
)

// missing returns the *hw.Missing of the lab, with the reason and the remedy.
func missing(why, get string) error {
	return &hw.Missing{What: "no network lab", Why: why, Get: get}
}

// Available returns an *hw.Missing if the machine lacks something that shows without building a
// lab.
func Available() error {
	if runtime.GOOS != "linux" {
		return missing("this is "+runtime.GOOS, "network namespaces are Linux's")
	}
	if os.Geteuid() != 0 {
		return missing("not root", "namespaces need root: run it with sudo")
	}
	for _, tool := range []string{"ip", "tc"} {
		if _, err := exec.LookPath(tool); err != nil {
			return missing(tool+" is missing", "install iproute2")
		}
	}
	return nil
}

// build executes a plan.
func (p *plan) build(ctx context.Context) error {
	for c := p.commands; len(c) > 0; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n := 1
		if c[0].space == "" { // one at a time, to know which namespaces exist when one fails
			if err := call(c[0].tool, "", strings.Fields(c[0].line)...); err != nil {
				return err
			}
			p.made = append(p.made, p.spaces[len(p.made)])
			c = c[1:]
			continue
		}
		for n < len(c) && c[n].space == c[0].space && c[n].tool == c[0].tool {
			n++
		}
		if err := carryOut(c[:n]); err != nil {
			return err
		}
		c = c[n:]
	}
	return nil
}

// carryOut executes commands of one namespace and one tool.
func carryOut(c []command) error {
	if c[0].tool == "set" {
		return within(c[0].space, func() error { return set(c) })
	}
	var lines strings.Builder
	for _, one := range c {
		lines.WriteString(one.line + "\n")
	}
	return call(c[0].tool, lines.String(), "-n", c[0].space, "-batch", "-")
}

// call runs a tool. An unsupported or forbidden kernel feature is an *hw.Missing.
func call(tool, input string, args ...string) error {
	cmd := exec.Command(tool, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	text := strings.Join(strings.Fields(string(out)), " ")
	if err := lacks(text); err != nil {
		return err
	}
	return fmt.Errorf("%s %s: %w: %s", tool, strings.Join(args, " "), err, text)
}

// lacks maps the output of a tool to an *hw.Missing; nil for other failures.
func lacks(text string) error {
	switch {
	case strings.Contains(text, "mount --make-rslave /") && strings.Contains(text, "Invalid argument"):
		return missing("the root directory is no mount point: "+text, "ip changes what is mounted in a "+
			"namespace; bind the directory to itself before chroot (mount --bind DIR DIR)")
	case strings.Contains(text, "not permitted"), strings.Contains(text, "Permission denied"):
		return missing(text, "namespaces need root with CAP_SYS_ADMIN and CAP_NET_ADMIN "+
			"(in a container: --privileged)")
	case strings.Contains(text, "kind is unknown"):
		return missing(text, "load the kernel's sch_htb (modprobe sch_htb)")
	case strings.Contains(text, "classifier not found"):
		return missing(text, "load the kernel's cls_u32 (modprobe cls_u32)")
	case strings.Contains(text, "Unknown device type"):
		return missing(text, "load the kernel's veth (modprobe veth)")
	}
	return nil
}

// set changes settings of the caller's namespace. It skips settings of features that the kernel
// lacks, except those of IPv4.
func set(c []command) error {
	for _, one := range c {
		name, value, _ := strings.Cut(one.line, " = ")
		err := os.WriteFile(filepath.Join("/proc/sys/net", name), []byte(value), 0)
		if errors.Is(err, os.ErrNotExist) && !strings.HasPrefix(name, "ipv4/") {
			continue
		}
		if errors.Is(err, os.ErrPermission) || errors.Is(err, errReadOnly) {
			return missing(err.Error(), "/proc/sys must be writable (in a container: --privileged)")
		}
		if err != nil {
			return fmt.Errorf("%q: %w", one.line, err)
		}
	}
	return nil
}
