package nccl_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
)

var rewrite = flag.Bool("rewrite", false, "rewrite what testdata has")

// golden holds a text to the file that has it, or writes the file.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

// TestChoices: what NCCL takes by its model, and which time that gives, of kinds of every cost on
// every machine, of one GPU a node to 8, one node to 4, and 64 bytes to 1 GiB. The model's tables
// are those of NCCL (TestTables); this is what they lead to, and changes by intention alone.
func TestChoices(t *testing.T) {
	var b strings.Builder
	for _, machine := range nccl.Machines() {
		for _, nodes := range []struct{ ranks, perNode int }{{2, 2}, {5, 5}, {8, 8}, {4, 1},
			{16, 8}, {32, 8}} {
			for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather,
				collective.Broadcast} {
				writeChoices(&b, &machine, nodes.ranks, nodes.perNode, kind)
			}
		}
	}
	golden(t, "testdata/choices.txt", b.String())
}

// writeChoices writes a line for each size from which on another one is taken, and the last size.
func writeChoices(b *strings.Builder, m *nccl.Machine, ranks, perNode int, kind collective.Kind) {
	a, err := algos.FindIn(nccl.Table(), kind, "nccl:auto")
	if err != nil {
		return
	}
	o := algos.Options{Params: []algos.Param{{Name: "machine", Value: m.Name},
		{Name: "per_node", Value: fmt.Sprint(perNode)}}}
	fmt.Fprintf(b, "%s: %v of %d GPUs, %d a node\n", m.Name, kind, ranks, perNode)
	was := ""
	for bytes := int64(64); bytes <= 1<<30; bytes *= 2 {
		spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: bytes / 4}
		if kind.Reduces() {
			spec.Op = collective.Sum
		}
		is := a.Picked(spec, o).String()
		if way, _, _ := strings.Cut(is, ":"); way != was || bytes == 1<<30 {
			fmt.Fprintf(b, "%12d %s\n", bytes, is)
			was = way
		}
	}
}
