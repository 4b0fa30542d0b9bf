package mpi

import (
	"fmt"
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
		var b strings.Builder
		for _, c := range openmpitest.Reducing() {
			if strings.Fields(c.String())[0] != d.Cmd {
				continue
			}
			same := map[string][]string{}
			kind := openmpitest.SpecOf(t, c, 2, 0, 1).Kind
			for ranks := from; ranks <= to; ranks++ {
				spec := openmpitest.SpecOf(t, c, ranks, root, count)
				in := sensitive(&spec, uint64(ranks))
				s, err := openmpi.Build(c, spec)
				require.NoError(t, err)
				want := oracle(t, s, in)
				for _, a := range algos.ForKind(kind) {
					if s, err := a.Build(spec, algos.Options{}); err == nil &&
						differing(t, want, oracle(t, s, in)) == 0 {
						same[a.Name] = append(same[a.Name], fmt.Sprint(ranks))
					}
				}
			}
			fmt.Fprintf(&b, "%v\n", c)
			for _, a := range algos.ForKind(kind) {
				if ranks := same[a.Name]; ranks != nil {
					fmt.Fprintf(&b, "    %-20s %s\n", a.Name, strings.Join(ranks, " "))
				}
			}
		}
		return b.String()
	})
}
