package measured

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestDirtyLogs holds the reader to the rows of a clean log after others have written into it:
// prefixes of every launcher, colours, dates, lines of the library and of other programs between
// rows and within them, rows in pieces.
func TestDirtyLogs(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 41))
		clean := cleanLog(r)
		want, err := Read("in", []byte(clean))
		require.NoError(t, err)
		require.Empty(t, want.Notes)
		text := dirty(r, clean)
		got, err := Read("in", []byte(text))
		require.NoError(t, err, text)
		require.Empty(t, got.Notes, text)
		require.Equal(t, unplaced(want.Rows), unplaced(got.Rows), text)
	}
}

// unplaced returns rows without their lines, which dirt moves.
func unplaced(rows []Row) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Line = 0
	}
	return rows
}

// cleanLog returns a log of nccl-tests 2.13 or later.
func cleanLog(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("# Collective test starting: all_reduce_perf\n# Using devices\n")
	for rank := range 2 + r.IntN(3) {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %6d on %10s device %2d [0000:%02x:00] NVIDIA H100\n",
			rank, 700+rank, "node0", rank, rank)
	}
	b.WriteString("#       size         count      type   redop    root     time   algbw   busbw " +
		"#wrong     time   algbw   busbw #wrong\n")
	for size := int64(8); size < 1<<(5+r.IntN(12)); size *= 2 {
		fmt.Fprintf(&b, "%12d  %12d  %8s  %6s  %6s", size, size/4, "float", "sum", "-1")
		for range 2 {
			us := 10 + r.Float64()*float64(size)
			fmt.Fprintf(&b, "  %7.2f  %6.2f  %6.2f  %6d", us, float64(size)/us/1e3,
				float64(size)/us/1e3, 0)
		}
		b.WriteString("\n")
	}
	return b.String() + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.234 \n"
}

// prefixes lists how launchers begin the lines of a process.
func prefixes() []string {
	return []string{"", "0: ", " 0: ", "[1,0]<stdout>:", "[1,0]<stdout>: ",
		"Tue Oct 14 12:00:01 2025[1,0]<stdout>:", "[prterun-node0-1234@1,0]<stdout>: ",
		"2025-10-14T12:00:01.123456789Z ", "[2025-10-14 12:00:01,123] ", "12:00:01.5 ",
		"[pod/worker-0/nccl] ", "worker-0 nccl ", "worker-0 nccl 2025-10-14T12:00:01Z ", "launcher | ",
		"[rank0]: ", "[0] ", "[0] 2025-10-14T12:00:01+00:00 "}
}

// noise lists lines of others.
func noise() []string {
	return []string{"node1:22:30 [1] NCCL INFO Connected all trees",
		"node0:22:30 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM",
		"node0:22:30 [0] /build/graph/tuning.cc:187 NCCL WARN CollNet is not supported",
		"[1,7]<stdout>:    99.99   99.99   99.99      0", "7:    99.99   99.99   99.99      0",
		"worker-7 nccl     99.99   99.99   99.99      0",
		"WARNING: There was an error initializing an OpenFabrics device.",
		"srun: job 9906533 queued and waiting for resources", "", "  Local device: mlx5_0",
		"--------------------------------------------------------------------------"}
}

// dirty dirties a log.
func dirty(r *rand.Rand, clean string) string {
	prefix, others := prefixes()[r.IntN(len(prefixes()))], noise()
	other := func() string { return others[r.IntN(len(others))] }
	var b strings.Builder
	for line := range strings.Lines(clean) {
		if r.IntN(4) == 0 {
			b.WriteString(other() + "\n")
		}
		line = strings.TrimSuffix(line, "\n")
		fields := 3 + r.IntN(10)
		cut := after(line, fields)
		if r.IntN(6) == 0 {
			line, cut = "\x1b[32m"+line+"\x1b[0m", cut+len("\x1b[32m")
		}
		b.WriteString(prefix)
		switch {
		case strings.Contains(line, "#") || r.IntN(3) == 0:
			b.WriteString(line)
		case r.IntN(2) == 0 && fields >= 5: // joined to what interrupts it
			b.WriteString(line[:cut] + others[r.IntN(3)] + "\n" + prefix + line[cut:])
		default:
			b.WriteString(line[:cut] + "\n" + other() + "\n" + prefix + line[cut:])
		}
		b.WriteString([]string{"\n", "\r\n", " \n"}[r.IntN(3)])
	}
	return b.String()
}

// after returns where so many fields of a line end.
func after(line string, fields int) int {
	at := 0
	for i, w := range words(1, line) {
		if i < fields {
			at = w.column - 1 + len(w.text)
		}
	}
	return at
}

// TestWhole turns sizes of blocks into those of vectors.
func TestWhole(t *testing.T) {
	tables, err := ReadTables("in", []byte("# OSU MPI Allgather Latency Test v7.3\n8 1.5\n16 2\n"))
	require.NoError(t, err)
	require.True(t, tables[0].PerRank)
	whole := tables[0].Whole(4)
	require.Equal(t, []any{false, unit.Bytes(32), unit.Bytes(64), unit.Bytes(8)}, []any{whole.PerRank,
		whole.Rows[0].Size, whole.Rows[1].Size, tables[0].Rows[0].Size})
	require.Same(t, whole, whole.Whole(4))
	require.Empty(t, tables[0].Whole(1<<48).Rows)
}
