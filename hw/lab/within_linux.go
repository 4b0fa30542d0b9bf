package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// names is the directory in which iproute2 keeps the names of namespaces.
const names = "/var/run/netns"

const errReadOnly = syscall.EROFS

// enterCall returns the number of the system call setns, which package syscall lacks on some
// architectures.
func enterCall() uintptr {
	switch runtime.GOARCH {
	case "386":
		return 346
	case "amd64":
		return 308
	case "arm":
		return 375
	case "ppc64", "ppc64le":
		return 350
	case "s390x":
		return 339
	}
	return 268 // of all newer architectures
}

// within calls do in a namespace: sockets and processes that do creates belong to it. Goroutines
// that do starts run outside.
func within(space string, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			done <- err
			return
		}
		defer home.Close()
		there, err := os.Open(filepath.Join(names, space))
		if err != nil {
			done <- err
			return
		}
		defer there.Close()
		if err := enter(there); err != nil {
			done <- err
			return
		}
		err = do()
		if enter(home) == nil {
			runtime.UnlockOSThread()
		} // otherwise the thread ends with this goroutine
		done <- err
	}()
	return <-done
}

// become replaces this process by a shell that executes a command in a namespace, under a host name
// of its own. It returns only if it fails.
func become(space, host, command string) error {
	runtime.LockOSThread() // the program inherits the thread's namespace
	there, err := os.Open(filepath.Join(names, space))
	if err != nil {
		return err
	}
	if err := enter(there); err != nil {
		return err
	}
	if err := syscall.Unshare(syscall.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := syscall.Sethostname([]byte(host)); err != nil {
		return fmt.Errorf("sethostname: %w", err)
	}
	// Open MPI's waiting ranks poll. With a better priority than the kernel's threads, they would
	// keep those from forwarding frames.
	if n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil && n > 20 {
		syscall.Setpriority(syscall.PRIO_PROCESS, 0, 0)
	}
	err = syscall.Exec("/bin/sh", []string{"sh", "-c", command}, os.Environ())
	return fmt.Errorf("/bin/sh: %w", err)
}

// enter moves the calling thread into a namespace.
func enter(space *os.File) error {
	_, _, no := syscall.RawSyscall(enterCall(), space.Fd(), syscall.CLONE_NEWNET, 0)
	if no == 0 {
		return nil
	}
	return missing("setns: "+no.Error(), "namespaces need root with CAP_SYS_ADMIN "+
		"(in a container: --privileged)")
}
