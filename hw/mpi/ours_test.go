package mpi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/openmpi"
	"collsim/algos/openmpi/openmpitest"
)

// TestOurs tells which of our own algorithms have the bits of which of Open MPI's, at which numbers
// of ranks: what is written down of the latter has been compared with the library itself.
func TestOurs(t *testing.T) {
	datadriven.RunTest(t, "testdata/ours.txt", func(t *testing.T, d *datadriven.TestData) string {
		var from, to, root int
		var count int64
		d.ScanArgs(t, "from", &from)
		d.ScanArgs(t, "to", &to)
		d.ScanArgs(t, "root", &root)
		d.ScanArgs(t, "count", &count)
		choices := slices.DeleteFunc(openmpitest.Reducing(), func(c openmpi.Choice) bool {
			return c.Function != d.Cmd
		})
		kind := openmpitest.SpecOf(t, choices[0], 2, 0, 1).Kind
		same := map[string][]string{} // of a choice and one of ours: numbers of ranks
		for ranks := from; ranks <= to; ranks++ {
			spec := openmpitest.SpecOf(t, choices[0], ranks, root, count)
			in := sensitive(&spec, uint64(ranks))
			ours := map[string][][]byte{}
			for _, a := range algos.ForKind(kind) {
				if s, err := a.Build(spec, algos.Options{}); err == nil {
					ours[a.Name] = oracle(t, s, in)
				}
			}
			for _, c := range choices {
				s, err := openmpi.Build(c, spec)
				require.NoError(t, err)
				theirs := oracle(t, s, in)
				for _, a := range algos.ForKind(kind) {
					if out := ours[a.Name]; out != nil && differing(t, theirs, out) == 0 {
						at := c.String() + a.Name
						same[at] = append(same[at], fmt.Sprint(ranks))
					}
				}
			}
		}
		var b strings.Builder
		for _, c := range choices {
			fmt.Fprintf(&b, "%v\n", c)
			for _, a := range algos.ForKind(kind) {
				if ranks := same[c.String()+a.Name]; ranks != nil {
					fmt.Fprintf(&b, "    %-20s %s\n", a.Name, strings.Join(ranks, " "))
				}
			}
		}
		return b.String()
	})
}
