package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/formats"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
)

// TestTables: what a row of a table gives (docs/architecture.md) is there where users look for it:
// in lists, help, completion, errors and documents. Nobody has to say it a second time.
func TestTables(t *testing.T) {
	root := repository(t)
	t.Chdir(t.TempDir())
	document := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, "docs", name))
		require.NoError(t, err)
		return string(text)
	}
	algorithms, algorithmDocument := call(t, "list algorithms"), document("algorithms.md")
	for _, a := range run.Algorithms() {
		require.Contains(t, algorithms, a.Name)
		require.Contains(t, algorithmDocument, a.Name[strings.LastIndex(a.Name, ":")+1:], renewed)
	}
	topologies, keyDocument := call(t, "list topologies"), document("scenario.md")
	for _, p := range topology.Catalogue() {
		require.Contains(t, topologies, p.Name)
		require.Contains(t, keyDocument, "| `"+p.Name+"` | ", "go test ./scenarios -rewrite")
	}
	keys, schema := call(t, "list keys"), call(t, "schema")
	for _, k := range scenarios.Keys() {
		require.Contains(t, keys, k.Path)
		require.Contains(t, schema, `"`+last(k.Path)+`": {`)
		require.Contains(t, keyDocument, "| `"+last(k.Path)+"` | ", "go test ./scenarios -rewrite")
	}
	deviceDocument := document("devices.md")
	for _, f := range device.Figures() {
		require.Contains(t, deviceDocument, "`"+f.Name+"`", renewed)
	}
	testFormats(t, document("schedules.md"))
	testDrawings(t, document("cli.md"))
	csv := call(t, "example:recursive-doubling --csv - --quiet")
	json := call(t, "example:recursive-doubling --json --quiet")
	for _, c := range report.Columns() {
		require.Contains(t, csv, c.CSV)
		if name, _, _ := strings.Cut(c.Key, "."); name != "" && !c.Optional { // or its object
			require.Contains(t, json, `"`+name+`": `)
		}
	}
}

// last is the name behind the last dot.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// testFormats: a row of formats.Table.
func testFormats(t *testing.T, document string) {
	require.NoError(t, os.WriteFile("x.strange", []byte("strange"), 0o644))
	list, unknown := call(t, "list formats"), call(t, "verify x.strange")
	files, written := call(t, "__complete verify x"), call(t, "export example:ring --format x")
	for _, f := range formats.Table() {
		require.Contains(t, list, f.Name)
		require.Contains(t, unknown, f.Name+" (."+f.Extensions[0])
		for _, extension := range f.Extensions {
			require.Contains(t, files, extension+"\n")
		}
		require.Contains(t, document, "\n| "+f.Name+" | ", "how each format is judged")
	}
	for _, name := range exports() {
		require.Contains(t, written, name)
	}
}

// testDrawings: a row of drawings.
func testDrawings(t *testing.T, document string) {
	help := call(t, "run --help")
	for _, d := range drawings() {
		require.Contains(t, help, "--"+d.what+" ")
		require.Contains(t, document, "--"+d.what, renewed)
		require.Contains(t, call(t, "example:ring --"+d.what+" x.strange"), d.hint)
		if d.text == nil {
			require.Contains(t, call(t, "example:ring --"+d.what+" -"), "would write no text")
		}
		for _, end := range d.ends {
			name := d.what + end
			call(t, "example:recursive-doubling --quiet --"+d.what+" "+name)
			require.FileExists(t, name)
		}
	}
}
