package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collsim/hw/mpi"
)

// agent is this program's name when mpirun calls it instead of ssh.
const agent = "collsim-lab-agent"

// MPI returns an executor whose ranks are Open MPI's, in this lab, as if each were on a machine of
// its own. Each has a daemon of Open MPI, a host name, and only the shaped wires to others. The
// executor executes schedules and the library's own algorithms, on at most as many ranks as the lab
// has. The lab must not run anything meanwhile; closing it closes the executor. The lab sets Listen
// and Start of Config. Arguments take precedence over the lab's arguments of mpirun.
//
// Messages use Open MPI's TCP. Its socket buffers are left to the kernel's settings, which are the
// lab's. So as much of a message remains in a socket as with the lab's own executor. Fragments use
// "send" rather than "put" (btl_tcp_flags): of two ranks that exchange data by put, one receives
// everything before it sends. One fragment of 64 KiB is queued at a time, since the reply that lets
// a peer start is queued behind it (pml_ob1_send_pipeline_depth, btl_tcp_max_send_size).
func (l *Lab) MPI(c mpi.Config) (*mpi.Executor, error) {
	switch {
	case l.host == nil:
		return nil, errClosed
	case c.Listen != "" || c.Start != nil:
		return nil, fmt.Errorf("the lab sets Listen and Start of mpi.Config")
	}
	if err := l.desk(); err != nil {
		return nil, err
	}
	var all []string
	for rank := range l.ranks {
		all = append(all, addressOf(rank))
	}
	arguments := []string{"--host", strings.Join(all, ","), "--map-by", "ppr:1:node"}
	for _, v := range l.variables() {
		if !slices.Contains(c.Arguments, v[0]) { // mpirun refuses repeated ones
			arguments = append(arguments, "--mca", v[0], v[1])
		}
	}
	c.Listen, c.Start = coordinator+":0", l.startMPI
	c.Arguments = append(arguments, c.Arguments...)
	d := mpi.New(c)
	l.mpi = append(l.mpi, d)
	return d, nil
}

// variables lists Open MPI's variables: the agent starts daemons, which communicate with mpirun
// alone over the control network, and ranks communicate over the wires.
func (l *Lab) variables() [][2]string {
	return [][2]string{
		{"plm_rsh_agent", filepath.Join(l.dir, agent)},
		{"plm_rsh_no_tree_spawn", "1"},
		{"routed", "direct"},
		{"orte_tmpdir_base", l.dir},
		{"pml", "ob1"},
		{"pml_ob1_send_pipeline_depth", "1"},
		{"btl", "self,tcp"},
		{"btl_tcp_if_include", ranksNetwork},
		{"btl_tcp_flags", "send,inplace"},
		{"btl_tcp_max_send_size", "65536"},
	}
}

// startMPI starts mpirun in the control network's namespace.
func (l *Lab) startMPI(ranks int, start func() error) error {
	switch {
	case l.host == nil:
		return errClosed
	case ranks > len(l.ranks):
		return fmt.Errorf("%d ranks: the lab has %d", ranks, len(l.ranks))
	}
	return within(l.spaces[len(l.spaces)-1], start)
}

// desk creates the directory for the agent: a link to this program, and for each rank's address a
// link with the namespace's name. Open MPI's files are there, too.
func (l *Lab) desk() error {
	if l.dir != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program's own file: %w", err)
	}
	dir := filepath.Join(desks, l.prefix+"-mpi")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	l.dir = dir
	all := []error{os.Symlink(self, filepath.Join(dir, agent))}
	for rank, space := range l.ranks {
		all = append(all, os.Symlink(space, filepath.Join(dir, addressOf(rank))))
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	return nil
}

// beAgent replaces ssh: a shell executes a command in the namespace of the rank with the given
// address. The address becomes the host's name, since Open MPI would take equal names for one host.
// It returns only if it fails.
func beAgent(dir string, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%q: a host and a command are expected", args)
	}
	space, err := os.Readlink(filepath.Join(dir, args[0]))
	if err != nil {
		return fmt.Errorf("host %s: %w", args[0], err)
	}
	return become(space, args[0], strings.Join(args[1:], " "))
}
