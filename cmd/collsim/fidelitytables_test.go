package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/fidelity"
)

// formatTables writes rows as fidelity/tables.csv.
func formatTables(rows []fidelity.TableRow) string {
	var b strings.Builder
	b.WriteString("table,machine,nodes,ranks,algorithm,size_bytes,measured_us,simulated_us,model_us," +
		"calibrated_us,calibrated_from\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%s,%s,%d,%d,%s,%d,%v,%.2f,%.2f,%.2f,%s\n", r.Table, r.Machine, r.Nodes, r.Ranks,
			r.Algorithm, r.Bytes, r.Measured, r.Simulated, r.Model, r.Calibrated, r.From)
	}
	return b.String()
}

// TestFormatTables: fidelity's tables are written as they were read.
func TestFormatTables(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "fidelity", "tables.csv"))
	require.NoError(t, err)
	require.Equal(t, string(text), formatTables(fidelity.Tables()))
}
