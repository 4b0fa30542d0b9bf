package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// ran is a scenario that was run, with the lines that --jsonl prints of it.
type ran struct {
	*run.Report
	lines    map[any][]byte // by result or program
	skipping []byte         // the lines of what was skipped
}

// runExample runs an example. In the short tier programs and some collectives have no numbers.
func runExample(t *testing.T, name string, set ...string) ran {
	text, err := scenarios.Example(name)
	require.NoError(t, err)
	s, err := run.Load("example:"+name, text, run.LoadOptions{Set: set,
		Read: func(file string, _ unit.Bytes) ([]byte, error) { return scenarios.ExampleFile(file) }})
	require.NoError(t, err, name)
	done := ran{lines: map[any][]byte{}}
	keep := func(of any) func([]byte, error) {
		return func(line []byte, err error) {
			require.NoError(t, err)
			done.lines[of] = line
		}
	}
	done.Report, err = s.Run(context.Background(), run.RunOptions{
		Done:    func(r *run.Result) { keep(r)(report.JSONLine(s, r)) },
		Program: func(r *run.ProgramResult) { keep(r)(report.JSONProgramLine(s, r)) }})
	require.NoError(t, err, name)
	for _, skip := range done.Skipped {
		line, err := report.JSONSkipLine(s, skip)
		require.NoError(t, err)
		done.skipping = append(done.skipping, line...)
	}
	return done
}

// readBack makes the report of the lines alone.
func (d ran) readBack(t *testing.T) *run.Report {
	back := &run.Report{Scenario: d.Scenario, Skipped: d.Skipped, Warnings: d.Warnings}
	for _, r := range d.Results {
		again, err := report.ReadResult(r.Point, d.lines[r])
		require.NoError(t, err, string(d.lines[r]))
		require.NotSame(t, r, again)
		back.Results = append(back.Results, again)
	}
	for _, r := range d.Programs {
		again, err := report.ReadProgram(r.Point, d.lines[r])
		require.NoError(t, err, string(d.lines[r]))
		back.Programs = append(back.Programs, again)
	}
	return back
}

// examples lists the examples that are read back, with what of them is set: most go without
// numbers, and the short tier leaves out what takes seconds.
func examples() (names []string, set map[string][]string) {
	long := []string{"machine", "four-dgx", "fabrics", "map", "collnet", "slow-nic", "overlap",
		"unequal-nodes"}
	checked := []string{"numbers", "numerics", "late-rank", "compare", "torch-layer", "torch-block"}
	set = map[string][]string{}
	for _, name := range scenarios.Examples() {
		if !tier.Long && slices.Contains(long, name) {
			continue
		}
		if names = append(names, name); !slices.Contains(checked, name) {
			set[name] = []string{"check.numbers=false"}
		}
		set[name] = append(set[name], report.Smaller(name)...)
	}
	return names, set
}

// TestReadBack reads the lines of every example back: table, JSON and CSV are then byte for byte
// those of the run, and so is every pivot. The schema accepts all lines, and all JSON.
func TestReadBack(t *testing.T) {
	schema := resultSchema(t)
	names, set := examples()
	pivots := 0
	for _, name := range names {
		d := runExample(t, name, set[name]...)
		back := d.readBack(t)
		require.Equal(t, report.Table(d.Report), report.Table(back), name)
		for _, of := range []func(...*run.Report) ([]byte, error){report.JSON, report.CSV} {
			want, err := of(d.Report)
			require.NoError(t, err)
			got, err := of(back)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), name)
		}
		for _, column := range []string{"time", "busbw", "%bound", "#wrong", "held_by", "limit"} {
			p, err := report.NewPivot(column, "", d.Scenario)
			if err != nil { // points that share a cell
				continue
			}
			pivots++
			require.Equal(t, p.Text(d.Report), p.Text(back), name)
		}
		require.Equal(t, fmt.Sprint(report.ResultGrid(d.Report)), fmt.Sprint(report.ResultGrid(back)))
		whole, err := report.JSON(d.Report)
		require.NoError(t, err)
		accepts(t, schema, whole)
		summary, err := report.JSONSummary(d.Report)
		require.NoError(t, err)
		accepts(t, schema, summary)
		for _, line := range d.lines {
			accepts(t, schema, line)
		}
		for line := range bytes.Lines(d.skipping) {
			accepts(t, schema, line)
		}
	}
	require.Greater(t, pivots, 50)
}

// resultSchema compiles the schema of results.
func resultSchema(t *testing.T) *jsonschema.Schema {
	text, err := report.JSONSchema()
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("results.json", parsed))
	schema, err := c.Compile("results.json")
	require.NoError(t, err)
	return schema
}

// valid says what is wrong with a text by the schema, nil for nothing.
func valid(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return schema.Validate(v)
}

func accepts(t *testing.T, schema *jsonschema.Schema, text []byte) {
	require.NoError(t, valid(t, schema, text), string(text))
}

// TestMutatedLines gives each member of a line another type: the schema refuses that, and so does
// the reader.
func TestMutatedLines(t *testing.T) {
	schema := resultSchema(t)
	for _, name := range []string{"late-rank", "prefetch", "numerics"} {
		d := runExample(t, name, "check.numbers="+fmt.Sprint(name == "numerics"))
		for of, line := range d.lines {
			read := func(text []byte) error {
				if r, is := of.(*run.Result); is {
					_, err := report.ReadResult(r.Point, text)
					return err
				}
				_, err := report.ReadProgram(of.(*run.ProgramResult).Point, text)
				return err
			}
			require.NoError(t, read(line))
			var whole map[string]any
			require.NoError(t, json.Unmarshal(line, &whole))
			damaged := 0
			mutate(whole, nil, func(path []string) {
				text, err := json.Marshal(whole)
				require.NoError(t, err)
				damaged++
				at := strings.Join(path, ".")
				err = read(text)
				require.Error(t, err, at)
				require.NotContains(t, err.Error(), "json:", at)
				if path[0] != "table" && path[len(path)-1] != "warnings" {
					require.Error(t, valid(t, schema, text), at)
				}
			})
			require.Greater(t, damaged, 20)
			break // of one result
		}
	}
}

// mutate gives each member of an object another type, and calls a function with its path.
func mutate(object map[string]any, path []string, damaged func(path []string)) {
	for name, value := range object {
		at := append(slices.Clone(path), name)
		if inner, is := value.(map[string]any); is {
			if name != "point" { // an object of swept keys, of any type
				mutate(inner, at, damaged)
			}
		}
		object[name] = []any{map[string]any{"neither": "a list nor an object"}, 1.5}
		damaged(at)
		object[name] = value
	}
}

// TestMissingKeys leaves each key of a result out that is always there: the schema refuses that,
// and the reader names it.
func TestMissingKeys(t *testing.T) {
	schema := resultSchema(t)
	d := runExample(t, "numbers")
	r := d.Results[0]
	left := 0
	for _, c := range report.Columns() {
		key, inner, nested := strings.Cut(c.Key, ".")
		if c.Key == "" || c.Optional {
			continue
		}
		var line map[string]any
		require.NoError(t, json.Unmarshal(d.lines[r], &line))
		object := line["result"].(map[string]any)
		if nested {
			object, _ = object[key].(map[string]any) // nil: it is null
			key, _, _ = strings.Cut(inner, ".")
		}
		if _, there := object[key]; !there {
			continue
		}
		delete(object, key)
		left++
		text, err := json.Marshal(line)
		require.NoError(t, err)
		require.Error(t, valid(t, schema, text), c.Key)
		_, err = report.ReadResult(r.Point, text)
		require.ErrorContains(t, err, key+" is missing", c.Key)
	}
	require.Greater(t, left, 40)
}

// TestChangedLine: figures that no longer follow from one another are refused.
func TestChangedLine(t *testing.T) {
	d := runExample(t, "ring", "check.numbers=false")
	r := d.Results[0]
	line := string(d.lines[r])
	change := func(old, by string) error {
		require.Contains(t, line, old)
		_, err := report.ReadResult(r.Point, []byte(strings.Replace(line, old, by, 1)))
		return err
	}
	for _, c := range []struct{ old, by, want string }{
		{`"busbw_GBps":12`, `"busbw_GBps":13`, "result.busbw_GBps does not follow from the rest"},
		{`"time_ps":9`, `"time_ps":8`, "does not follow"},
		{`"kind":"all_reduce"`, `"kind":"all_gather"`, "result.kind does not follow"},
		{`"time_ps":`, `"time":`, "result.time_ps is missing"},
		{`"rounds":14`, `"rounds":"14"`, `result.rounds = "14": a whole number, or null is expected`},
		{`"proof":"proved"`, `"proof":"sure"`, `result.proof = "sure": proved, failed, off is expected`},
		{`"collsim":"0.1.0"`, `"collsim":"0.0.9"`, "collsim 0.0.9 has written it; this is collsim 0.1.0"},
		{`"in_place":false`, `"in_place":false,"in_place":true`, `"in_place" is there twice`},
		{`"hw":null`, `"hw":{"executor":"host"}`, "result.hw"},
		{"{", "[", "a line of collsim FILE --jsonl is expected"},
	} {
		require.ErrorContains(t, change(c.old, c.by), c.want)
	}
	// Keys may be added, by other versions: the schema does not mind.
	further := strings.Replace(line, `"in_place":false`, `"in_place":false,"further":1`, 1)
	accepts(t, resultSchema(t), []byte(further))
	err := change(`"in_place":false`, `"in_place":false,"further":1`)
	require.ErrorContains(t, err, "result.further")
}
