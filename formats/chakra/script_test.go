package chakra_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/chakra"
	"collsim/formats/internal/foreign"
)

// TestScripts runs the scripts of testdata/scripts. The command "read [as=KIND] [order=KEY]
// [schedule]" reads a trace in the JSON form, a line a rank, and prints what is wrong with it, and
// the schedule if that is asked for; "program [order=KEY] [alike=all|stage ranks=N
// [shares]]" prints ops.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.Contains(t, []string{"read", "program"}, d.Cmd)
			var files []chakra.Input
			for rank, line := range strings.Split(d.Input, "\n") {
				files = append(files, chakra.Input{Name: fmt.Sprintf("t.%d.json", rank),
					Reader: strings.NewReader(line)})
			}
			o := foreign.Options{File: "t"}
			d.MaybeScanArgs(t, "order", &o.Order)
			if d.Cmd == "program" {
				how := chakra.Reading{Order: o.Order}
				d.MaybeScanArgs(t, "alike", (*string)(&how.Alike))
				d.MaybeScanArgs(t, "ranks", &how.Ranks)
				if d.HasArg("shares") {
					how.Shares = allButOne
				}
				w, err := chakra.ReadWorkload("t", files, &how)
				if err != nil {
					return err.Error() + "\n"
				}
				return asText(w)
			}
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

// allButOne divides tokens so that the first of the ranks gets all but one of each sender, and the
// last that one.
func allButOne(ranks int, count int64) ([][]int64, error) {
	row := make([]int64, ranks)
	row[0], row[ranks-1] = count-1, 1
	return slices.Repeat([][]int64{row}, ranks), nil
}

// asText is a line an op, and the notes.
func asText(w *chakra.Workload) string {
	var b strings.Builder
	for i, o := range w.Ops {
		what := fmt.Sprintf("%v of %v", o.Kind, o.Bytes)
		if o.Kind == 0 {
			what = fmt.Sprintf("compute %v", o.Time)
			if o.CPU {
				what += " on the host"
			}
		}
		fmt.Fprintf(&b, "%d %s: %s, ranks %v", i, o.Name, what, o.Teams)
		if o.Splits != nil {
			fmt.Fprintf(&b, ", bytes %v", o.Splits)
		}
		if len(o.After) > 0 {
			fmt.Fprintf(&b, ", after %v", o.After)
		}
		b.WriteString("\n")
	}
	for _, note := range w.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}
