package nccl

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// TestChoiceLines: the lines of NCCL's log, as enqueue.cc writes them now and as it did, are read,
// and no others; the last one counts.
func TestChoiceLines(t *testing.T) {
	const head = "node1:4711:4720 [0] NCCL INFO "
	for _, c := range []struct{ log, function, want string }{
		{head + "AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}\n", "AllReduce",
			"Ring LL, 1 channel"},
		{head + "AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..23}\n" +
			head + "AllReduce: 4 Bytes -> Algo TREE proto LL128 channel{Lo..Hi}={0..0}\n" +
			head + "AllReduce: 2097152 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}\n" +
			head + "ReduceScatter: 8 Bytes -> Algo PAT proto SIMPLE channel{Lo..Hi}={0..0}\n",
			"AllReduce", "NVLS Simple, 16 channels"},
		{head + "AllReduce: 8 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={2..5}\r\n",
			"AllReduce", "NVLSTree Simple, 4 channels"},
		{head + "Broadcast: 8192 Bytes -> Algo 1 proto 2 time 17.300000\n", "Broadcast",
			"Ring Simple"},
		{head + "AllGather: 8 Bytes -> Algo NEW_ONE proto FAST channel{Lo..Hi}={0..0}\n", "AllGather",
			"NEW_ONE FAST, 1 channel"},
		{head + "AllGather: 8 Bytes -> Algo RING proto", "AllGather", ""},
		{head + "comm 0x1 rank 0 nranks 2 - Init COMPLETE\n", "AllReduce", ""},
		{"", "AllReduce", ""},
	} {
		require.Equal(t, c.want, lastChoice(c.log, c.function))
	}
}

// TestChose: what the library has chosen is read back from the log of rank 0, whichever process has
// it, of each job its own; nothing is left of the log. Whoever asks NCCL for one himself has it.
func TestChose(t *testing.T) {
	standIn(t)
	for _, apart := range []bool{false, true} {
		d := New(Config{Apart: apart})
		for _, c := range []struct {
			spec collective.Spec
			want string
		}{
			{specsOf(collective.Broadcast, 2, 100)[0], "Ring Simple, 1 channel"},
			{specsOf(collective.ReduceScatter, 3, 100)[0], "Ring Simple, 1 channel"},
			{specsOf(collective.SendRecv, 2, 100)[0], ""}, // no line is written of it
			{specsOf(collective.AllReduce, 2, 100)[0], "Ring Simple, 1 channel"},
		} {
			got, err := d.Run(context.Background(), jobOf(t, c.spec, 1))
			require.NoError(t, err)
			require.Equal(t, c.want, got.Chose, c.spec.Kind)
		}
		dir := d.journal.dir
		require.DirExists(t, dir)
		require.NoError(t, d.Close())
		require.NoDirExists(t, dir)
	}
	t.Setenv("NCCL_DEBUG", "WARN")
	d := New(Config{})
	defer d.Close()
	got, err := d.Run(context.Background(), jobOf(t, specsOf(collective.Broadcast, 2, 100)[0], 1))
	require.NoError(t, err)
	require.Empty(t, got.Chose)
	require.Empty(t, d.journal.dir)
	t.Setenv("TMPDIR", "/nowhere")
	os.Unsetenv("NCCL_DEBUG")
	e := New(Config{})
	defer e.Close()
	_, err = e.Run(context.Background(), jobOf(t, specsOf(collective.Broadcast, 2, 100)[0], 1))
	require.ErrorContains(t, err, "a place for its log")
}
