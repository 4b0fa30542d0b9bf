package fidelity

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestTables: the tables held here are read.
func TestTables(t *testing.T) {
	rows, err := parseTables(tablesCSV)
	require.NoError(t, err)
	require.Greater(t, len(rows), 300)
	for _, r := range rows {
		require.Positive(t, r.Measured, r.Table)
		require.Positive(t, r.Simulated, r.Table)
		require.GreaterOrEqual(t, r.Ranks, r.Nodes, r.Table)
	}
	for _, wrong := range []string{"", "table,machine\n", tablesCSV + "a,b,1,x,auto,8,1,1,1\n"} {
		_, err := parseTables(wrong)
		require.Error(t, err)
	}
}

// TestKnownError: what is said of p5 on one node are quantiles of the errors of its rows.
func TestKnownError(t *testing.T) {
	var errors []float64
	for _, r := range Tables() {
		if r.Machine == "p5" && r.Nodes == 1 && r.Bytes < 64*unit.KiB {
			errors = append(errors, r.Error(r.Simulated))
		}
	}
	k := KnownError("p5", false, 32*unit.KiB)
	require.Equal(t, 1, k.Tables)
	require.Equal(t, NearestRank(errors, 0.5), k.Median)
	require.Equal(t, NearestRank(errors, 0.9), k.P90)
	require.Contains(t, errors, k.Median)
	require.LessOrEqual(t, k.Median, k.P90)
	require.Zero(t, KnownError("p5", false, 64*unit.KiB-1).Tables-1)
	require.NotEqual(t, k, KnownError("p5", true, 32*unit.KiB))
	require.Equal(t, Known{}, KnownError("nobody's", false, 8))
}

// TestNearestRank: the ⌈q·n⌉-th, by hand.
func TestNearestRank(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.2: 1, 0.21: 2, 0.5: 3, 0.9: 5, 1: 5} {
		require.Equal(t, want, NearestRank(values, q), q)
	}
	require.Equal(t, []float64{5, 1, 4, 2, 3}, values)
}

// TestClassOf: a class ends before the size that it is named after.
func TestClassOf(t *testing.T) {
	for n, want := range map[unit.Bytes]int{0: 0, 64*unit.KiB - 1: 0, 64 * unit.KiB: 1, unit.MiB: 2,
		16*unit.MiB - 1: 2, 16 * unit.MiB: 3, 1 << 40: 3} {
		require.Equal(t, want, ClassOf(n), n)
	}
}

// TestClassError: what is said of a class is what docs/fidelity-nccl.md has in its last rows.
func TestClassError(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "fidelity-nccl.md"))
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| median of the medians .*$`).FindAllString(string(text), -1)
	require.Len(t, rows, 2)
	for i, row := range rows {
		medians := regexp.MustCompile(`\*\*(\d+)\*\*`).FindAllStringSubmatch(row, -1)
		require.Len(t, medians, len(SizeClasses()))
		for class, n := range []unit.Bytes{8, 64 * unit.KiB, unit.MiB, 16 * unit.MiB} {
			require.Equal(t, medians[class][1], fmt.Sprintf("%.0f", 100*ClassError(i == 1, n)), row)
		}
	}
}
