package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/plots"
	"collsim/report"
	"collsim/trace"
	"collsim/unit"
)

// whole makes a page with every kind of part.
func whole() *Page {
	texts, values := []string{"ring", "tree", "ring"}, []float64{1, 2, math.NaN()}
	t := &trace.Trace{Tracks: []trace.Track{{Rank: 0}, {Rank: 1}}, End: 300,
		Intervals: []trace.Interval{
			{Track: 0, Kind: trace.Send, Verb: trace.VerbSend, Peer: 1, End: 100, Bytes: 8},
			{Track: 1, Kind: trace.Recv, Verb: trace.VerbRecv, Peer: 0, Start: 200, Done: 200, End: 300,
				Bytes: 8}},
		Messages: []trace.Message{{From: 0, To: 1, Arrived: 200, Bytes: 8, FromStep: 1, ToStep: 1}}}
	return &Page{Title: "a <b> & c", Verdicts: []Verdict{{Bad: true, Text: "no </script>"}},
		Summary: []string{"proof    off"}, Notes: []string{"a note"},
		Parts: []Part{
			{Title: "table", Table: &Table{Heat: true, Columns: []report.GridColumn{
				{Name: "algorithm", Key: true, Texts: texts},
				{Name: "time", Texts: []string{"1.0", "2.0", "N/A"}, Values: values, Low: true}}}},
			{Title: "curves", Curves: &Curves{Series: []plots.Series{
				{Name: "ring", X: []unit.Bytes{8, 16}, Y: []float64{1, 1.23456789}}}}},
			{Title: "timeline", Timeline: &Timeline{Panel: plots.Panel{Trace: t}, Picture: true}},
			{Title: "traffic", Matrix: Traffic(2, func(first, _ int) string { return fmt.Sprint(first) },
				func(yield func(int, int, unit.Bytes)) { yield(0, 1, 8) })},
			{Title: "text", Text: "as <i>printed</i>"},
		},
		Repeat: Repeat{Command: "collsim x.toml", Version: "1", Files: []File{{"x.toml", "a = '<'"}}}}
}

// dataOf returns what the script of a page reads.
func dataOf(t *testing.T, html []byte) map[string]any {
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).
		FindSubmatch(html)
	require.NotNil(t, found)
	var data map[string]any
	require.NoError(t, json.Unmarshal(found[1], &data))
	return data
}

func TestHTML(t *testing.T) {
	html, err := HTML(whole())
	require.NoError(t, err)
	again, err := HTML(whole())
	require.NoError(t, err)
	require.True(t, bytes.Equal(html, again))
	text := string(html)
	for _, has := range []string{"<title>a &lt;b&gt; &amp; c</title>", "no &lt;/script&gt;",
		"as &lt;i&gt;printed&lt;/i&gt;", "a = &#39;&lt;&#39;", "default-src 'none'", "collsim x.toml"} {
		require.Contains(t, text, has)
	}
	require.Equal(t, 2, strings.Count(text, "<svg"), "curves and timeline as pictures")
	parts := dataOf(t, html)["parts"].([]any)
	require.Len(t, parts, 5)
	columns := parts[0].(map[string]any)["table"].(map[string]any)["columns"].([]any)
	require.Equal(t, []any{1., 2., nil}, columns[1].(map[string]any)["values"])
	require.Equal(t, []any{0., 1., 0.}, columns[0].(map[string]any)["indices"])
	messages := parts[2].(map[string]any)["timeline"].(map[string]any)["messages"].(map[string]any)
	require.Equal(t, map[string]any{"fromRow": 0., "fromBar": 0., "toRow": 1., "toBar": 0., "sent": 0.,
		"arrived": 0., "count": 1.}, messages)
}

// TestAsksForNothing looks for anything that a browser would fetch. Names of namespaces are none.
func TestAsksForNothing(t *testing.T) {
	html, err := HTML(whole())
	require.NoError(t, err)
	text := regexp.MustCompile(`xmlns(:xlink)?="[^"]*"|createElementNS\("[^"]*"`).
		ReplaceAllString(string(html), "")
	require.NotRegexp(t, `(?i)https?://|src=|@import|url\(|fetch\(|XMLHttpRequest`, text)
}

func TestSampled(t *testing.T) {
	long := &Table{Columns: []report.GridColumn{{Name: "n"}}}
	for i := range 100_000 {
		long.Columns[0].Texts = append(long.Columns[0].Texts, fmt.Sprint(i))
	}
	some, note := long.Sampled()
	require.Equal(t, mostRows, some.Rows())
	require.Equal(t, "99950", some.Columns[0].Texts[mostRows-1])
	require.Contains(t, note, "2000 of 100000 rows")
	same, note := some.Sampled()
	require.Same(t, some, same)
	require.Empty(t, note)
}

// TestTogether draws many steps as few bars, and says so.
func TestTogether(t *testing.T) {
	run := &trace.Trace{Tracks: []trace.Track{{Rank: 0}}, End: 100_000}
	for i := range unit.Time(50_000) {
		kind := trace.Send
		if i%3 == 0 {
			kind = trace.Recv
		}
		run.Intervals = append(run.Intervals, trace.Interval{Kind: kind, Peer: -1, Chunk: -1,
			Ready: 2 * i, Start: 2 * i, Done: 2*i + 1, End: 2*i + 2, Bytes: 1})
	}
	d, err := (&Timeline{Panel: plots.Panel{Trace: run}, Most: 1000}).data()
	require.NoError(t, err)
	require.Equal(t, 1000, d.Rows[0].Count)
	require.Equal(t, int64(trace.Send), d.Rows[0].Paint, "most of the time")
	require.Equal(t, int64(50), d.Rows[0].Steps)
	require.Equal(t, int64(50), d.Rows[0].Bytes)
	require.Contains(t, d.Notes[0], "50000 steps are drawn as 1000 bars")
	require.Nil(t, d.Messages)
}

func TestPacked(t *testing.T) {
	require.Equal(t, 0, packed(nil))
	require.Equal(t, int64(7), packed([]int64{7, 7}))
	require.Equal(t, spelled{[]int64{7, 9}, "abba"}, packed([]int64{7, 9, 9, 7}))
	many := make([]int64, len(letters)+1)
	for i := range many {
		many[i] = int64(i)
	}
	require.Equal(t, many, packed(many))
}
