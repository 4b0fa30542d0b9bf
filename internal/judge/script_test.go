package judge

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestScripts judges the schedules of testdata, in one call, in two and in rendezvous, and looks at
// all interleavings. What is right must be so in all of them, and read back as it is printed.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := Read(d.Input)
			if err != nil {
				return fmt.Sprintln("refused:", err)
			}
			again, err := Read(p.String())
			require.NoError(t, err)
			require.Equal(t, p, again)
			var b strings.Builder
			for _, c := range []struct {
				name string
				o    Options
			}{{"one call", Options{Calls: 1}}, {"two calls", Options{Calls: 2}},
				{"rendezvous", Options{Calls: 1, Rendezvous: true}}} {
				v := Judge(p, c.o)
				fmt.Fprintf(&b, "%s: %v", c.name, v.Finding)
				if len(v.Why) > 0 {
					fmt.Fprintf(&b, ": %s", v.Why[0])
				}
				if v.Finding == Right {
					fmt.Fprintf(&b, ", %d slots, %d messages, in order %v, same tree %v", v.Slots,
						v.Messages, v.InOrder, v.SameTree)
				}
				b.WriteByte('\n')
				if c.o.Rendezvous || v.Finding == Malformed {
					continue
				}
				x := Explore(p, Limits{Calls: c.o.Calls, Slots: p.Slots, States: 20000})
				if v.Finding == Right {
					require.Empty(t, x.Wrong)
				}
				b.WriteString("  " + explored(x) + "\n")
			}
			return b.String()
		})
	}
}

func explored(x Exploration) string {
	switch {
	case !x.Whole:
		return "too many states to look at"
	case x.Wrong == "":
		return fmt.Sprintf("%d states, nothing wrong", x.States)
	}
	return "in some order: " + x.Wrong
}
