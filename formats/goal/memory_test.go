package goal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/goal"
	"collsim/formats/internal/foreign"
)

// ringText is a ring of ranks that send and receive in turn, so many times.
func ringText(ranks, rounds int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "num_ranks %d\n", ranks)
	for rank := range ranks {
		fmt.Fprintf(&b, "rank %d {\n", rank)
		for n := 1; n <= 2*rounds; n++ {
			if n%2 == 1 {
				fmt.Fprintf(&b, "l%d: send 4096b to %d tag 0\n", n, (rank+1)%ranks)
			} else {
				fmt.Fprintf(&b, "l%d: recv 4096b from %d tag 0\n", n, (rank+ranks-1)%ranks)
			}
			if n > 1 {
				fmt.Fprintf(&b, "l%d requires l%d\n", n, n-1)
			}
		}
		fmt.Fprintf(&b, "}\n")
	}
	return b.Bytes()
}

// scatteredText has messages between any ranks, with tags of their own and computations between
// them, which wait for up to two of the eight operations before.
func scatteredText(ranks, messages int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	ops := make([][]string, ranks)
	for tag := range messages {
		src := rng.IntN(ranks)
		dst := (src + 1 + rng.IntN(ranks-1)) % ranks
		size := 1 << rng.IntN(16)
		ops[src] = append(ops[src], fmt.Sprintf("send %db to %d tag %d", size, dst, tag))
		ops[dst] = append(ops[dst], fmt.Sprintf("recv %db from %d tag %d", size, src, tag))
		if tag%4 == 0 {
			ops[src] = append(ops[src], fmt.Sprintf("calc %d", rng.IntN(20_000)))
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "num_ranks %d\n", ranks)
	for rank := range ranks {
		fmt.Fprintf(&b, "rank %d {\n", rank)
		for n, op := range ops[rank] {
			fmt.Fprintf(&b, "l%d: %s\n", n, op)
			for range min(n, 1+rng.IntN(2)) {
				fmt.Fprintf(&b, "l%d requires l%d\n", n, n-1-rng.IntN(min(n, 8)))
			}
		}
		fmt.Fprintf(&b, "}\n")
	}
	return b.Bytes()
}

// TestMemoryOfMessages: bytes that are kept of a message, and those that reading it takes in all,
// stay what compact lists need. A map, a list or a step of its own for each would be more.
func TestMemoryOfMessages(t *testing.T) {
	for _, c := range []struct {
		name        string
		text        []byte
		messages    int
		kept, taken float64 // most bytes of a message
	}{
		{"ring", ringText(256, 120), 256 * 120, 90, 400},
		{"scattered", scatteredText(256, 30_000), 30_000, 400, 1100},
	} {
		var before, after, end runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := goal.Read(bytes.NewReader(c.text), foreign.Options{File: "x"})
		runtime.ReadMemStats(&after)
		runtime.GC()
		runtime.GC() // what pools hold goes with the second
		runtime.ReadMemStats(&end)
		require.NoError(t, err)
		require.Empty(t, f.Found)
		kept := (float64(end.HeapAlloc) - float64(before.HeapAlloc)) / float64(c.messages)
		taken := float64(after.TotalAlloc-before.TotalAlloc) / float64(c.messages)
		objects := float64(after.Mallocs-before.Mallocs) / float64(c.messages)
		t.Logf("%s: %.0f B kept, %.0f B and %.2f objects taken", c.name, kept, taken, objects)
		require.Less(t, kept, c.kept, c.name)
		require.Less(t, taken, c.taken, c.name)
		require.Less(t, objects, 4.0, c.name)
		runtime.KeepAlive(f)
	}
}
