package simai_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/formats/simai"
)

// TestScripts runs the scripts of testdata/scripts: "read" prints a workload, or what is wrong.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			w, err := simai.Read("w.txt", strings.NewReader(d.Input))
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%d ranks, %d stages of %d B\n", w.Ranks(), w.PP, w.PPBytes)
			for _, name := range simai.Groups {
				fmt.Fprintf(&b, "%s %v\n", name, w.Teams(name))
			}
			for _, l := range w.Layers {
				fmt.Fprintf(&b, "%s delay %v\n", l.Name, l.Delay)
				for _, p := range []simai.Pass{l.Forward, l.Input, l.Weight} {
					fmt.Fprintf(&b, "  %v", p.Time)
					if p.Kind != 0 {
						fmt.Fprintf(&b, ", %v of %d B in %s", p.Kind, p.Bytes, p.Group)
					}
					b.WriteString("\n")
				}
			}
			return b.String()
		})
	})
}

// TestTeams holds the groups to the coordinates of Megatron-LM's order tp-ep-dp: ranks of a group
// differ in those axes alone that the group is along.
func TestTeams(t *testing.T) {
	for tp := 1; tp <= 4; tp++ {
		for ep := 1; ep <= 3; ep++ {
			for dp := 1; dp <= 3; dp++ {
				w := simai.Workload{TP: tp, EP: ep, PP: 2, GPUs: 2 * tp * ep * dp}
				for i, along := range [][3]bool{{true, false, false}, {false, true, true},
					{false, true, false}, {false, false, true}} {
					var seen []int
					for _, team := range w.Teams(simai.Groups[i]) {
						for _, rank := range team {
							a := [3]int{team[0] % tp, team[0] / tp % ep, team[0] / tp / ep}
							b := [3]int{rank % tp, rank / tp % ep, rank / tp / ep}
							for axis := range a {
								require.True(t, along[axis] || a[axis] == b[axis])
							}
							seen = append(seen, rank)
						}
					}
					slices.Sort(seen)
					require.Len(t, slices.Compact(seen), w.Ranks())
					require.Len(t, seen, w.Ranks())
				}
			}
		}
	}
}

// FuzzRead: no text makes it panic, and what is read has ranks.
func FuzzRead(f *testing.F) {
	f.Add("HYBRID_TRANSFORMER ep: 1 all_gpus: 4\n1\n" +
		"a -1 5 ALLREDUCE 8 1 NONE 0 1 ALLGATHER_DP_EP 8 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := simai.Read("w.txt", strings.NewReader(text))
		if err == nil {
			require.Positive(t, w.Ranks())
			require.NotEmpty(t, w.Layers)
		}
	})
}
