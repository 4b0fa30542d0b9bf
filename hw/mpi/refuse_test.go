package mpi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/schedule"
)

// TestRefused: what cannot be done is said before anything is started.
func TestRefused(t *testing.T) {
	good := func() *Call {
		spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
			Ranks: 3, Count: 4}
		return &Call{Spec: spec, Choice: openmpi.Choice{Function: "allreduce"},
			Inputs: sensitive(&spec, 1)}
	}
	require.NoError(t, good().check())
	for _, test := range []struct {
		change func(*Call)
		want   string
	}{
		{func(c *Call) { c.Spec.Ranks = 0 }, "0 ranks; at least 1 is needed"},
		{func(c *Call) { c.Choice.Function = "allreduc" }, `function "allreduc": one of ` +
			"allreduce, reduce, reduce_scatter, reduce_scatter_block, bcast, gather, scatter, " +
			"allgather, alltoall, barrier is expected"},
		{func(c *Call) { c.Choice.Function = "reduce" }, "MPI_Reduce is no all_reduce"},
		{func(c *Call) { c.Choice.Algorithm = "rng" }, `allreduce algorithm "rng": one of ` +
			"basic_linear, nonoverlapping, recursive_doubling, ring, segmented_ring, rabenseifner is " +
			"expected"},
		{func(c *Call) {
			c.Choice = openmpi.Choice{Function: "allreduce", Algorithm: "ring", Inner: "chain"}
		}, "allreduce ring(reduce=chain) is not made of a reduce"},
		{func(c *Call) { c.Choice.Fanout = 33 }, "allreduce(fanout=33): segments of 0 to 2³⁰ " +
			"bytes and a fan-out of 0 to 32 are expected"},
		{func(c *Call) { c.Spec.Type = dtype.BFloat16 }, "bfloat16: MPI has no such type to reduce"},
		{func(c *Call) { c.Spec.Op = collective.Avg }, "MPI has no operator avg"},
		{func(c *Call) { c.Spec.Count = 1 << 30 },
			"1073741824 elements on 3 ranks: MPI counts them in 31 bits"},
		{func(c *Call) { c.Env.Trace = true },
			"slots and a timeline are not the library's to give"},
		{func(c *Call) { c.Env.Timeout = -time.Second }, "an environment with numbers below 0: " +
			"{Warmup:0 Repetitions:0 Iterations:0 Slots:0 Timeout:-1s Float32:false Trace:false " +
			"Faults:[]}"},
		{func(c *Call) { c.Inputs = nil }, "inputs of 0 ranks: 3 are expected"},
		{func(c *Call) { c.Inputs[1] = c.Inputs[1][4:] },
			"rank 1 has 12 bytes of input: 16 are expected"},
		{func(c *Call) {
			c.Spec.Kind, c.Spec.InPlace = collective.ReduceScatter, true
			c.Choice.Function = "reduce_scatter"
		}, "reduce_scatter in place: MPI leaves the result at the beginning of the buffer, not in " +
			"this rank's block"},
	} {
		c := good()
		test.change(c)
		require.EqualError(t, c.check(), test.want)
		_, err := New(Config{Launcher: "nothing"}).Perform(context.Background(), c)
		require.EqualError(t, err, test.want)
	}
}

// oneSided is a schedule whose second rank reads the first one's memory.
const oneSided = `schedule one-sided
collective broadcast float32
ranks 2
root 0
count 4
rank 0
  lane 0
    copy in into out @0
rank 1
  lane 0
    copy get 0 in into out @0
`

// TestNotMessages: steps that are no messages, and messages without an end, are named.
func TestNotMessages(t *testing.T) {
	s, err := schedule.Parse(oneSided)
	require.NoError(t, err)
	d := New(Config{Launcher: "nothing"})
	_, err = d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: [][]byte{make([]byte, 16), {}}})
	require.EqualError(t, err,
		"rank 1 lane 0 step 0: copy is one-sided: messages alone can't execute it")

	s, err = schedule.Parse(strings.ReplaceAll(oneSided, "copy get 0 in into", "recv from 0 into"))
	require.NoError(t, err)
	_, err = d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: [][]byte{make([]byte, 16), {}}})
	require.EqualError(t, err,
		"rank 1 lane 0: step: malformed: from rank 0 lane 0: 1 more awaited than are sent")

	huge, err := schedule.Parse(strings.ReplaceAll(strings.ReplaceAll(oneSided,
		"    copy get 0 in into out @0\n", ""), "count 4", "count 1000000000"))
	require.NoError(t, err)
	require.EqualError(t, counted(huge),
		"in of 1000000000 elements: MPI counts bytes in 31 bits")
}

// TestMissing: a launcher or a library that is not there is said to be missing, and how to get it.
func TestMissing(t *testing.T) {
	var missing *hw.Missing
	_, err := Available(context.Background(), Config{Launcher: "no-mpirun"})
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, `no-mpirun: exec: "no-mpirun": executable file not found in `+
		"$PATH; install Open MPI 4 or 5 (Debian: apt install openmpi-bin)")
	_, err = load("no-libmpi.so")
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "MPI library", missing.What)
	require.ErrorContains(t, err, "COLLSIM_LIBMPI")
	t.Setenv(libraryVariable, "no-other.so")
	require.Equal(t, []string{"no-other.so"}, libraryNames(""))
	require.Equal(t, []string{"this.so"}, libraryNames("this.so"))
}
