package fx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/formats/fx"
)

// TestScripts runs the scripts of testdata/scripts: "read" prints a graph as the program of 8
// ranks, with a group "tp" of two teams of 4, or what is wrong with it.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.True(t, fx.IsGraph([]byte(d.Input)) || d.HasArg("none"), d.Input)
			p, err := fx.Read("g.txt", strings.NewReader(d.Input), fx.Options{Ranks: 8, Groups: []fx.Group{
				{Name: "tp", Teams: [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}}}})
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			for i, o := range p.Ops {
				fmt.Fprintf(&b, "%d line %d %s:", i, o.Line, o.Name)
				switch {
				case o.Call != nil:
					fmt.Fprintf(&b, " %v in %v", o.Call, o.Teams)
				case o.Tensors != nil:
					fmt.Fprintf(&b, " matmul to %v", o.Out)
				default:
					fmt.Fprintf(&b, " moves %v", o.Moves)
				}
				for _, x := range o.Tensors {
					fmt.Fprintf(&b, ", %v %v", x.Type, x.Shape)
				}
				if o.After != nil {
					fmt.Fprintf(&b, ", after %v", o.After)
				}
				b.WriteString("\n")
			}
			for _, note := range p.Notes {
				fmt.Fprintf(&b, "note: %s\n", note)
			}
			return b.String()
		})
	})
}

// FuzzRead: no text makes it panic; an op stands behind ops before it alone.
func FuzzRead(f *testing.F) {
	f.Add("def forward(self, x: \"f32[8, 4]\"):\n a: \"f32[8, 4]\" = " +
		"torch.ops._c10d_functional.all_reduce.default(x, 'sum', '0')\n" +
		" b: \"f32[8, 4]\" = torch.ops._c10d_functional.wait_tensor.default(a)\n" +
		" c: \"f32[8, 8]\" = torch.ops.aten.mm.default(b, b)\n return (c,)\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := fx.Read("g.txt", strings.NewReader(text), fx.Options{Ranks: 8})
		if err != nil {
			return
		}
		for i, o := range p.Ops {
			for _, on := range o.After {
				require.Less(t, on, i)
			}
		}
	})
}
