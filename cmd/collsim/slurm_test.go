//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slurm is a Slurm of one node, of this machine: its daemons have all their files in one folder.
type slurm struct {
	t   *testing.T
	dir string
}

// startSlurm starts munged, slurmctld and slurmd. A test that may not, or lacks them, is left out.
func startSlurm(t *testing.T) *slurm {
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
			t.Skip("left out: Slurm (slurmctld, slurmd, munged) as root: ", err)
		}
	}
	dir, err := os.MkdirTemp("", "slurm") // a socket's name must be short
	require.NoError(t, err)
	s := &slurm{t, dir}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	for _, folder := range []string{"state", "spool", "work"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	host, err := os.Hostname()
	require.NoError(t, err)
	host, _, _ = strings.Cut(host, ".")
	conf := strings.NewReplacer("DIR", dir, "HOST", host, "PORT1", freePort(t), "PORT2", freePort(t)).
		Replace(`ClusterName=collsim
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT1
SlurmdPort=PORT2
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge.socket
CredType=cred/munge
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=5
ReturnToService=2
NodeName=HOST NodeAddr=127.0.0.1 CPUs=2 RealMemory=200
PartitionName=all Nodes=HOST Default=YES State=UP
`)
	file := filepath.Join(dir, "slurm.conf")
	require.NoError(t, os.WriteFile(file, []byte(conf), 0o644))
	t.Setenv("SLURM_CONF", file)
	key := make([]byte, 128)
	for i := range key {
		key[i] = byte(i * 37)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key"), key, 0o400))
	in := func(name string) string { return filepath.Join(dir, name) }
	s.daemon("munged", "--foreground", "--force", "--key-file", in("key"), "--socket",
		in("munge.socket"), "--pid-file", in("munged.pid"), "--log-file", in("munged.log"),
		"--seed-file", in("seed"))
	s.until("munge -S " + in("munge.socket") + " -n")
	s.daemon("slurmctld", "-D", "-c", "-f", file)
	s.daemon("slurmd", "-D", "-c", "-f", file, "-N", host)
	s.until("sinfo -h -o %t | grep -qx idle")
	return s
}

// freePort returns a port that nobody listens at.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// daemon starts a program, and ends it with the test.
func (s *slurm) daemon(name string, args ...string) {
	cmd := exec.Command(name, args...)
	log, err := os.Create(filepath.Join(s.dir, name+".out"))
	require.NoError(s.t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = log.Close()
	})
}

// sh runs a line of shell where the sweep is, and returns what it prints.
func (s *slurm) sh(line string) (string, error) {
	cmd := exec.Command("bash", "-c", "set -o pipefail; "+line)
	cmd.Dir = filepath.Join(s.dir, "work")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must runs a line that has to go well.
func (s *slurm) must(line string) string {
	out, err := s.sh(line)
	require.NoError(s.t, err, "%s: %s", line, out)
	return out
}

// until waits for a line to go well; go test's limit ends what waits for ever.
func (s *slurm) until(line string) {
	for {
		if _, err := s.sh(line); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestSlurm has a real Slurm run a sweep as a job array. A task is requeued in the midst of its
// points: Slurm kills it and runs it again, which leaves out what it had. What the job that merges
// writes are the bytes of one run.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	inPath(t)
	const scenario = `[topology]
preset = "switch"
ranks = 96
bandwidth = "100 Gbit/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = "double-binary-tree(segment=16KiB)"
bytes = { from = "1 MiB", to = "3 MiB", step = "64 KiB" }
[sim]
engine = "event"
[check]
numbers = false
`
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "work", "sweep.toml"), []byte(scenario),
		0o644))
	merge := strings.TrimSpace(s.must("collsim sweep slurm sweep.toml --tasks 2 | bash"))
	array := strings.TrimSpace(s.must("squeue -h -r -o '%F %K' | awk '$2 == 1 {print $1}'"))
	require.NotEmpty(t, array)
	task := array + "_1"
	s.until("test $(cat sweep.parts/1.*.0.jsonl | wc -l) -ge 2")
	s.must("scontrol requeue " + task)
	s.until("squeue -h -j " + task + " -o %T | grep -qx PENDING")
	// Slurm waits for two minutes of its own. What it revoked this second it does not run again.
	s.must("sleep 2; scontrol update JobId=" + task + " StartTime=now")
	s.until("test -z \"$(squeue -h)\"")
	state := s.must("scontrol show job " + merge)
	require.Contains(t, state, "JobState=COMPLETED", "%s", s.must("cat sweep.parts/*.log"))
	first := len(strings.Split(s.must("cat sweep.parts/1.*.0.jsonl"), "\n")) - 1
	again := len(strings.Split(s.must("cat sweep.parts/1.*.1.jsonl"), "\n")) - 1
	require.GreaterOrEqual(t, first, 2)
	require.Equal(t, 17, first+again-strings.Count(s.must("cat sweep.parts/1.*.jsonl"), "summary"),
		"no point is run twice")
	require.Contains(t, s.must("cat sweep.parts/1.log"), "ended by SIGTERM")
	s.must("collsim sweep.toml --jsonl --quiet > whole.jsonl")
	s.must("cmp whole.jsonl sweep.jsonl")
	t.Logf("of task 1 the first attempt had %d lines, the second %d", first, again)
}
