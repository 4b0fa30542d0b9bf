package mpi

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"collsim/hw"
)

// get says how to install Open MPI.
const get = "install Open MPI 4 or 5 (Debian: apt install openmpi-bin)"

// libraryVariable is the environment variable that names the library.
const libraryVariable = "COLLSIM_LIBMPI"

// libraryNames lists the file names to try.
func libraryNames(configured string) []string {
	for _, name := range []string{configured, os.Getenv(libraryVariable)} {
		if name != "" {
			return []string{name}
		}
	}
	return []string{"libmpi.so.40", "libmpi.so"}
}

// Available describes what Run and Perform would use, as in "Open MPI v4.1.4 …". It returns a
// *hw.Missing if something is missing.
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

// launcherVersion returns the first line of mpirun's version.
func (c *Config) launcherVersion(ctx context.Context) (string, error) {
	path, err := exec.LookPath(c.launcher())
	if err != nil {
		return "", &hw.Missing{What: c.launcher(), Why: err.Error(), Get: get}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	out, err := cmd.Output()
	if err != nil {
		return "", &hw.Missing{What: c.launcher(), Why: err.Error(), Get: get}
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if !strings.Contains(first, "Open MPI") && !strings.Contains(first, "OpenRTE") {
		return "", &hw.Missing{What: "Open MPI", Why: path + " is of " + first, Get: get}
	}
	return first, nil
}

// launcher returns the program that starts ranks.
func (c *Config) launcher() string {
	if c.Launcher != "" {
		return c.Launcher
	}
	return "mpirun"
}
