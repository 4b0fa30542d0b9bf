package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/fidelity"
	"collsim/unit"
)

// timeCell is a time in a table of validate, with or without what it spreads.
var timeCell = regexp.MustCompile(`^([\d.]+)(?: ± ([\d.]+))? (m?s)$`)

// timesOf reads one.
func timesOf(t *testing.T, cell string) (value, spread unit.Time) {
	t.Helper()
	m := timeCell.FindStringSubmatch(strings.TrimSpace(cell))
	require.NotNil(t, m, cell)
	in := map[string]unit.Time{"s": unit.Second, "ms": unit.Millisecond}[m[3]]
	for i, into := range []*unit.Time{&value, &spread} {
		if m[1+i] == "" {
			continue
		}
		var x float64
		_, err := fmt.Sscan(m[1+i], &x)
		require.NoError(t, err)
		*into = unit.Time(math.Round(x * float64(in)))
	}
	return value, spread
}

// TestFidelityPicture draws docs/fidelity.svg from what docs/fidelity.md has measured, to its four
// digits: to measure again takes a lab.
func TestFidelityPicture(t *testing.T) {
	docs := filepath.Join(repository(t), "docs")
	page, err := os.ReadFile(filepath.Join(docs, "fidelity.md"))
	require.NoError(t, err)
	a := &app{}
	var cases []fidelity.Case
	executor := ""
	for line := range strings.Lines(string(page)) {
		if command, ok := strings.CutPrefix(line, "    collsim "); ok {
			a.args = strings.Fields(command)
		}
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "### lab, "); ok {
			_, executor, _ = strings.Cut(head, ", ")
		}
		cells := strings.Split(line, "|")
		if executor == "" || len(cells) != 10 || !strings.Contains(cells[5], "±") {
			continue
		}
		c := fidelity.Case{Executor: executor, Kind: strings.TrimSpace(cells[1]),
			Algorithm: strings.TrimSpace(cells[2])}
		c.Simulated, _ = timesOf(t, cells[4])
		c.Measured, c.Spread = timesOf(t, cells[5])
		cases = append(cases, c)
	}
	require.Len(t, cases, 108)
	picture, err := a.scatter(cases, "fidelity.svg", 120_000, &outputs{}) // 12 %
	require.NoError(t, err)
	file := filepath.Join(docs, "fidelity.svg")
	if *update {
		require.NoError(t, os.WriteFile(file, picture, 0o644))
		return
	}
	old, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(old), string(picture), "go test ./cmd/collsim -update draws it anew")
}
