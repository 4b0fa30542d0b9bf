package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/mpi"
	"collsim/schedule"
	"collsim/unit"
)

// needMPI skips a test where there is none.
func needMPI(t *testing.T) {
	t.Helper()
	var missing *hw.Missing
	if _, err := mpi.Available(context.Background(), mpi.Config{}); errors.As(err, &missing) {
		t.Skip(err)
	} else {
		require.NoError(t, err)
	}
}

// ring is a sum of n bytes on three ranks.
func ring(t *testing.T, n unit.Bytes) *schedule.Schedule {
	t.Helper()
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 3, Count: int64(n / 4)}, algos.Options{})
	require.NoError(t, err)
	return s
}

// rounded are inputs of n bytes for three ranks, whose sums are rounded.
func rounded(n unit.Bytes) (in [][]byte) {
	for rank := range 3 {
		var b []byte
		for i := range n / 4 {
			x := math.Float32bits(float32(i)/3 + float32(rank)/7)
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		in = append(in, b)
	}
	return in
}

// running are the processes in a namespace whose program has that name; all if it is "".
func running(t *testing.T, space, program string) (pids []int) {
	t.Helper()
	for _, pid := range inside([]string{space}) {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if program == "" || strings.TrimSpace(string(name)) == program {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill kills what runs under a name in a namespace.
func kill(t *testing.T, space, program string) {
	t.Helper()
	pids := running(t, space, program)
	require.NotEmpty(t, pids, "no %s in %s", program, space)
	for _, pid := range pids {
		p, err := os.FindProcess(pid)
		require.NoError(t, err)
		require.NoError(t, p.Kill())
	}
}

// TestMPI: Open MPI's ranks do the same as the lab's own, over the same wires, each on a host of
// its own; one that is lost is named, and the next run is as if nothing had been.
func TestMPI(t *testing.T) {
	t.Parallel()
	needMPI(t)
	l := open(t, star(t, 3))
	d, err := l.MPI(mpi.Config{})
	require.NoError(t, err)
	ctx := context.Background()

	s, in := ring(t, unit.MiB/4), rounded(unit.MiB/4)
	got, err := d.Run(ctx, &hw.Job{Schedule: s, Inputs: in, Env: hw.Env{Repetitions: 2}})
	require.NoError(t, err)
	want, err := l.Run(ctx, &hw.Job{Schedule: s, Inputs: in})
	require.NoError(t, err)
	require.Equal(t, want.Outputs, got.Outputs)
	require.Equal(t, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, got.RanOn.Hosts)

	r, err := d.Perform(ctx, &mpi.Call{Spec: s.Spec, Inputs: in, Env: hw.Env{Repetitions: 2},
		Choice: openmpi.Choice{Function: "allreduce", Algorithm: "ring"}})
	require.NoError(t, err)
	require.Equal(t, want.Outputs, r.Outputs)
	for _, r := range []*hw.Result{got, r} { // four times a third, at 100 Mbit/s
		require.Greater(t, r.Repetitions[r.Fastest()].Time, 25*unit.Millisecond)
	}

	endless := &hw.Job{Schedule: s, Inputs: in, Env: hw.Env{Iterations: 1 << 40}}
	self := filepath.Base(os.Args[0])
	for _, program := range []string{self[:min(len(self), 15)], "orted"} {
		time.AfterFunc(40*time.Millisecond, func() { kill(t, l.ranks[2], program) })
		_, err = d.Run(ctx, endless)
		var fault *hw.Error
		require.ErrorAs(t, err, &fault, program)
		require.Equal(t, 2, fault.Rank, "%s: %v", program, err)
		execute(t, d, ring(t, 16), hw.Env{})
	}
	for rank, space := range l.ranks {
		want := 3 // a rank of the lab's, one of Open MPI's, and a daemon
		if rank == 2 {
			want = 2 // the lab's was killed, too
		}
		require.Len(t, running(t, space, ""), want, "rank %d", rank)
	}
	dir := l.dir
	require.NoError(t, l.Close())
	require.NoDirExists(t, dir)
	_, err = d.Run(ctx, endless)
	require.EqualError(t, err, "the lab is closed")
}

func TestMPIRefuses(t *testing.T) {
	needMPI(t)
	l := open(t, star(t, 2))
	_, err := l.MPI(mpi.Config{Listen: "10.0.0.1:7000"})
	require.ErrorContains(t, err, "the lab sets Listen and Start")
	d, err := l.MPI(mpi.Config{})
	require.NoError(t, err)
	_, err = d.Run(context.Background(), &hw.Job{Schedule: ring(t, 16), Inputs: rounded(16)})
	require.EqualError(t, err, "3 ranks: the lab has 2")

	require.EqualError(t, beAgent(l.dir, []string{"10.0.0.1"}),
		`["10.0.0.1"]: a host and a command are expected`)
	require.ErrorContains(t, beAgent(l.dir, []string{"10.0.0.3", "true"}), "host 10.0.0.3")
}
