package chakra_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/chakra"
	"collsim/formats/internal/foreign"
)

// TestScripts runs the scripts of testdata/scripts. The command "read [as=KIND] [schedule]" reads a
// trace in the JSON form, a line a rank, and prints what is wrong with it, and the schedule if
// that is asked for. {} stands around the nodes of a rank.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.Equal(t, "read", d.Cmd)
			var files []chakra.Input
			for rank, line := range strings.Split(d.Input, "\n") {
				files = append(files, chakra.Input{Name: fmt.Sprintf("t.%d.json", rank),
					Reader: strings.NewReader(line)})
			}
			o := foreign.Options{File: "t"}
			if d.HasArg("as") {
				var kind string
				d.ScanArgs(t, "as", &kind)
				var err error
				o.As, err = collective.ParseKind(kind)
				require.NoError(t, err)
			}
			f, err := chakra.Read(files, o)
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			if d.HasArg("schedule") {
				b.WriteString(f.Schedule.String())
			}
			for _, note := range f.Notes {
				fmt.Fprintf(&b, "note: %s\n", note)
			}
			wrong := judge(f)
			for _, v := range wrong {
				fmt.Fprintf(&b, "%v\n", v)
				if place := f.Where(v.Rank, v.Lane, v.Step); place.Text != "" {
					fmt.Fprintf(&b, "  at %v\n", place)
				}
			}
			if len(wrong) == 0 {
				b.WriteString("proved\n")
			}
			return b.String()
		})
	})
}
