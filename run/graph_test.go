package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// onGraph loads a scenario beside a file of NCCL's graphs, of 2 GPUs.
func onGraph(t *testing.T, machine, graphs string) (*Scenario, error) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "graph.xml"), []byte(graphs), 0o644))
	return Load(filepath.Join(dir, "s.toml"), []byte(machine+"\nnccl.graph = \"graph.xml\"\n"+
		"check.numbers = false\n[collective]\nkind = \"all_reduce\"\nalgorithm = \"nccl:auto\"\n"+
		"bytes = \"1 MiB\"\n"), LoadOptions{})
}

// TestGraphOfAFile: channels are those of the file, which is refused for other nodes, and where it
// is wrong by its line.
func TestGraphOfAFile(t *testing.T) {
	const graph = `nchannels="1" crossnic="0" speedintra="20" speedinter="20" latencyinter="0" ` +
		`typeintra="NVL" typeinter="PIX" samechannels="1"><channel><gpu rank="0"/><gpu rank="1"/>` +
		"</channel></graph>\n"
	const graphs = "<graphs>\n<graph id=\"0\" pattern=\"4\" " + graph +
		"<graph id=\"1\" pattern=\"1\" " + graph + "</graphs>"
	const two = "topology = { preset = \"dgx-h100\", ranks = 2 }"
	s, err := onGraph(t, two, graphs)
	require.NoError(t, err)
	report, err := s.Run(context.Background(), RunOptions{})
	require.NoError(t, err)
	require.Contains(t, report.Results[0].Picked.What, "of 2 channels")

	s, err = onGraph(t, "topology = { preset = \"switch\", ranks = 2, bandwidth = \"100 GB/s\", "+
		"latency = \"1 us\" }", graphs)
	require.NoError(t, err)
	report, err = s.Run(context.Background(), RunOptions{})
	require.NoError(t, err)
	require.Contains(t, report.Results[0].Picked.What, "of 2 channels")

	_, err = onGraph(t, "topology.preset = \"dgx-h100\"", graphs)
	require.ErrorContains(t, err, `nccl.graph = "graph.xml": a graph of 2 GPUs a node; the `+
		"collective has 8 of each")
	_, err = onGraph(t, two, "<graphs>\n<graph id=\"9x\"/></graphs>")
	require.ErrorContains(t, err, `graph.xml:2: <graph id="9x">: a number`)
}
