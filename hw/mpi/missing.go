package mpi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Missing says that MPI is not available here: what is missing, why, and how to get it.
type Missing struct{ What, Why, Get string }

// Error is one line.
func (m *Missing) Error() string {
	return fmt.Sprintf("mpi: no %s: %s; %s", m.What, m.Why, m.Get)
}

// get is how to get an MPI.
const get = "install Open MPI 4 or 5 (Debian: apt install openmpi-bin)"

// The environment variable that names the library, and the names it goes by.
const libraryVariable = "COLLSIM_LIBMPI"

func libraryNames(configured string) []string {
	for _, name := range []string{configured, os.Getenv(libraryVariable)} {
		if name != "" {
			return []string{name}
		}
	}
	return []string{"libmpi.so.40", "libmpi.so"}
}

// Available returns what Run and Perform would use, as in "Open MPI v4.1.4 …", or a *Missing.
func Available(ctx context.Context, c Config) (string, error) {
	version, err := c.launcherVersion(ctx)
	if err != nil {
		return "", err
	}
	if _, err := load(c.Library); err != nil {
		return "", err
	}
	return version, nil
}

// launcherVersion is the first line of what mpirun says of itself.
func (c *Config) launcherVersion(ctx context.Context) (string, error) {
	path, err := exec.LookPath(c.launcher())
	if err != nil {
		return "", &Missing{c.launcher(), err.Error(), get}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	out, err := cmd.Output()
	if err != nil {
		return "", &Missing{c.launcher(), err.Error(), get}
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if !strings.Contains(first, "Open MPI") && !strings.Contains(first, "OpenRTE") {
		return "", &Missing{"Open MPI", path + " is of " + first, get}
	}
	return first, nil
}

func (c *Config) launcher() string {
	if c.Launcher != "" {
		return c.Launcher
	}
	return "mpirun"
}
