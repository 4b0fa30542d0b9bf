package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// beforeOps has a network, and a tensor that ops read.
const beforeOps = `[topology]
preset = "switch"
ranks = 2
bandwidth = "1 GB/s"
latency = "1 us"
[[program.tensor]]
name = "x"
shape = [8]
`

// opTable writes a [[program.op]] that reads x.
func opTable(name, repeat, loop string) string {
	return fmt.Sprintf("[[program.op]]\nname = %q\nkernel = \"cast\"\nin = \"x\"\nout = \"y_%s\"\n"+
		"repeat = %s\nloop = %s\n", name, name, repeat, loop)
}

// opsOf returns the names of a program's ops, and the microbatch of each.
func opsOf(t *testing.T, tables ...string) (names []string, batches []int) {
	t.Helper()
	text := beforeOps + strings.Join(tables, "")
	s, err := load("s.toml", []byte(text), testOptions())
	require.NoError(t, err, text)
	for _, o := range s.Programs[0].Ops {
		names, batches = append(names, o.Name), append(batches, o.Microbatch)
	}
	return names, batches
}

// TestLoopsInLoops holds loops in one another against the same loops written in Go: ops of two
// microbatches and three layers, forward and back, with what is done once in a microbatch between.
func TestLoopsInLoops(t *testing.T) {
	var want []string
	var of []int
	add := func(batch int, format string, args ...any) {
		want, of = append(want, fmt.Sprintf(format, args...)), append(of, batch)
	}
	for i := range 2 {
		add(i, "begin%d", i)
		for j := range 3 {
			add(i, "a%d_%d_%d", i, j, j+1)
			add(i, "b%d_%d", 1-i, j)
		}
		add(i, "loss%d", i)
		for j := range 3 {
			add(i, "c%d_%d_%d", i, 2-j, 2-j-1)
		}
	}
	add(0, "end")
	names, batches := opsOf(t, opTable("begin{i}", "2", `"step"`),
		opTable("a{i}_{j}_{j+1}", "[2, 3]", `["step", "forward"]`),
		opTable("b{-i}_{j}", "[2, 3]", `["step", "forward"]`), opTable("loss{i}", "2", `"step"`),
		opTable("c{i}_{-j}_{-j-1}", "[2, 3]", `["step", "back"]`), opTable("end", "1", `"step"`))
	require.Equal(t, want, names)
	require.Equal(t, of, batches)

	flat, _ := opsOf(t, opTable("a{i}", "4", `"one"`), opTable("b{-i}", "4", `"one"`))
	listed, _ := opsOf(t, opTable("a{i}", "[4]", `["one"]`), opTable("b{-i}", "[4]", `["one"]`))
	require.Equal(t, flat, listed)
	apart, _ := opsOf(t, opTable("a{i}", "4", `"one"`), opTable("b{-i}", "4", `"two"`))
	require.Equal(t, []string{"a0", "a1", "a2", "a3"}, apart[:4], "two loops, one after the other")
	require.False(t, slices.Equal(flat, apart))

	deep, _ := opsOf(t, opTable("d{i}{j}{k}", "[2, 2, 2]", `"deep"`))
	require.Equal(t, []string{"d000", "d001", "d010", "d011", "d100", "d101", "d110", "d111"}, deep)
}

// TestLoopErrors: too many turns are refused before they are made, and so are counters of no loop.
func TestLoopErrors(t *testing.T) {
	for _, c := range []struct{ repeat, name, want string }{
		{"[200000, 200000, 200000]", "a{i}{j}{k}", "at most 200000"},
		{"[2000, 101]", "a{i}{j}", "202000 altogether"},
		{"[1, 2, 3, 4]", "a{i}", "4 loops in one another"},
		{"[0, 2]", "a{i}", "that of loop 0 is 0"},
		{"[2, 3]", "a{i}{k+1}", `"{k+1}" counts a loop that is not there: repeat has 2`},
		{"3", "a{i}{-j}", `"{-j}" counts a loop`},
	} {
		text := beforeOps + opTable(c.name, c.repeat, `"l"`)
		_, err := load("s.toml", []byte(text), testOptions())
		require.ErrorContains(t, err, c.want)
	}
}
