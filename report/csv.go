package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"

	"collsim/run"
)

// CSV writes a line for each result of all reports under a line of names: the scenario and the
// columns that have a name there. Values are spelt as in JSON; null is nothing.
func CSV(reports ...*run.Report) ([]byte, error) { return Columns().CSV(reports...) }

// CSV is the same in these columns.
func (l Layout) CSV(reports ...*run.Report) ([]byte, error) {
	l = slices.DeleteFunc(slices.Clone(l), func(c Column) bool { return c.CSV == "" })
	slices.SortStableFunc(l, func(a, b Column) int { return cmp.Compare(a.place(), b.place()) })
	names := []string{"scenario"}
	for _, c := range l {
		names = append(names, c.CSV)
	}
	lines := [][]string{names}
	for _, r := range reports {
		for _, result := range r.Results {
			line := []string{r.Scenario.File}
			for _, c := range l {
				line = append(line, c.spelt(result))
			}
			lines = append(lines, line)
		}
	}
	return csvOf(lines)
}

// place is where a column stands in CSV.
func (c Column) place() uint { return uint(c.Place) - 1 } // 0 is last

// spelt is what CSV has of a result.
func (c Column) spelt(r *run.Result) string {
	v := c.Value(r)
	if c.asInGo && v.kind == isNumber {
		return fmt.Sprint(v.number)
	}
	return v.String()
}

// LinksCSV writes a line for every link of every result that was run with RunOptions.Links, under
// a line of names. busy is the share of the result's time for which the link would have been at
// work at its full bandwidth; it is empty where there was no time.
func LinksCSV(reports ...*run.Report) ([]byte, error) {
	lines := [][]string{{"scenario", "id", "link", "from", "to", "bytes", "busy_ps", "busy"}}
	for _, r := range reports {
		for _, result := range r.Results {
			for _, l := range result.Links {
				share := ""
				if result.Time > 0 {
					share = fmt.Sprint(float64(l.Busy) / float64(result.Time))
				}
				lines = append(lines, []string{r.Scenario.File, result.Point.ID, l.Name, l.From, l.To,
					fmt.Sprint(int64(l.Bytes)), fmt.Sprint(int64(l.Busy)), share})
			}
		}
	}
	return csvOf(lines)
}

func csvOf(lines [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.WriteAll(lines)
	return b.Bytes(), err
}
