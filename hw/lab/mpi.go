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

// agent is the name that this program has when mpirun calls it instead of ssh.
const agent = "collsim-lab-agent"

// MPI returns an executor whose ranks are Open MPI's, in this lab, as if each were on a machine of
// its own: with a daemon of Open MPI's, a host name, and no way to another but the shaped wires. It
// executes schedules and performs the library's own algorithms, on as many ranks as the lab has or
// fewer. The lab must not run anything meanwhile; it closes the executor when it is closed. Of
// Config, Listen and Start are the lab's; Arguments win over what it gives mpirun.
//
// Messages go by Open MPI's TCP. The sizes of its sockets' buffers are left to the kernel, which is
// to say to the lab: as much of a message is left behind in a socket as by the lab's own executor.
// Its fragments are sent, not "put" (btl_tcp_flags): of two ranks that exchange data by put, one
// receives all before it sends. And one of 64 KiB waits at a time, since the answer that lets a
// peer begin waits behind those (pml_ob1_send_pipeline_depth, btl_tcp_max_send_size).
func (l *Lab) MPI(c mpi.Config) (*mpi.Executor, error) {
	switch {
	case l.host == nil:
		return nil, errClosed
	case c.Listen != "" || c.Start != nil:
		return nil, fmt.Errorf("lab: Listen and Start of mpi.Config are the lab's to say")
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
		if !slices.Contains(c.Arguments, v[0]) { // mpirun refuses what is given twice
			arguments = append(arguments, "--mca", v[0], v[1])
		}
	}
	c.Listen, c.Start = coordinator+":0", l.startMPI
	c.Arguments = append(arguments, c.Arguments...)
	d := mpi.New(c)
	l.mpi = append(l.mpi, d)
	return d, nil
}

// variables of Open MPI have daemons started by the agent, which talk with mpirun alone, over the
// control network, and ranks talk over the wires.
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

// startMPI starts mpirun where the coordinator is reached.
func (l *Lab) startMPI(ranks int, start func() error) error {
	switch {
	case l.host == nil:
		return errClosed
	case ranks > len(l.ranks):
		return fmt.Errorf("lab: %d ranks: the lab has %d", ranks, len(l.ranks))
	}
	return within(l.spaces[len(l.spaces)-1], start)
}

// desk is a directory with what the agent needs: itself, and for every address of a rank the name
// of the namespace. Open MPI keeps its files there, too.
func (l *Lab) desk() error {
	if l.dir != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("lab: this program's own file: %w", err)
	}
	dir := filepath.Join(desks, l.prefix+"-mpi")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	l.dir = dir
	all := []error{os.Symlink(self, filepath.Join(dir, agent))}
	for rank, space := range l.ranks {
		all = append(all, os.Symlink(space, filepath.Join(dir, addressOf(rank))))
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	return nil
}

// beAgent does what ssh would: it has a shell carry out a command on a host, in the namespace of
// the rank that has that address. The host's name is the address there: if all had one name, Open
// MPI would take them for one host. It returns if it can't.
func beAgent(dir string, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("lab: %q: a host and a command are expected", args)
	}
	space, err := os.Readlink(filepath.Join(dir, args[0]))
	if err != nil {
		return fmt.Errorf("lab: host %s: %w", args[0], err)
	}
	return become(space, args[0], strings.Join(args[1:], " "))
}
