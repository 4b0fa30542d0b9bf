package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// onMachineFile loads a scenario beside a file that describes its machine.
func onMachineFile(t *testing.T, text, more string) (*Scenario, error) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.toml"), []byte(text), 0o644))
	return Load(filepath.Join(dir, "s.toml"), []byte("topology.file = \"mine.toml\"\n"+
		"collective.kind = \"all_reduce\"\ncollective.bytes = \"1 MiB\"\n"+more), LoadOptions{})
}

// TestMachineOfAFile: a machine in a file is what one by name is.
func TestMachineOfAFile(t *testing.T) {
	s, err := onMachineFile(t, "about = \"half\"\nlike = \"dgx-h100\"\n"+
		"gpus = { is = \"4\", source = \"mine\" }\n", "topology.nodes = 2\n")
	require.NoError(t, err)
	p := s.Points[0]
	require.Equal(t, "mine", p.Topology.Machine)
	require.Equal(t, 8, p.Topology.Ranks)
	require.Equal(t, "h100-sxm", p.Device.Name)

	s, err = onMachineFile(t, "about = \"a triangle\"\nlike = \"dgx-1v\"\n"+
		"gpus = { is = \"3\", source = \"mine\" }\nnics = { is = \"1\", source = \"mine\" }\n"+
		"wires = { is = \"gpu0 gpu1 nvlink 2, gpu1 gpu2 nvlink, gpu0 gpu2 nvlink, "+
		"gpu0 cpu0 pcie, cpu0 nic0 pcie\", source = \"mine\" }\n", "device.preset = \"v100-32gb\"\n")
	require.NoError(t, err)
	p = s.Points[0]
	require.Equal(t, "v100-32gb", p.Device.Name)
	g, err := p.Topology.Graph()
	require.NoError(t, err)
	require.Len(t, g.Ranks, 3)
	require.Equal(t, "41 GB/s", g.Link(g.Route(0, 1, nil)[0]).Bandwidth.String())
}

// TestVariantsOfMachineFiles: a variant may be another machine's file.
func TestVariantsOfMachineFiles(t *testing.T) {
	dir := t.TempDir()
	for name, gpus := range map[string]string{"eight.toml": "8", "four.toml": "4"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("about = \"part\"\n"+
			"like = \"dgx-a100\"\ngpus = { is = \""+gpus+"\", source = \"mine\" }\n"), 0o644))
	}
	s, err := Load(filepath.Join(dir, "s.toml"), []byte("topology.file = \"eight.toml\"\n"+
		"[collective]\nkind = \"all_reduce\"\nbytes = [\"1 MiB\", \"2 MiB\"]\n"+
		"[[variant]]\nname = \"8\"\n[[variant]]\nname = \"4\"\n"+
		"set = { \"topology.file\" = \"four.toml\" }\n"), LoadOptions{})
	require.NoError(t, err)
	require.Equal(t, []int{8, 8, 4, 4}, []int{s.Points[0].Topology.Ranks, s.Points[1].Topology.Ranks,
		s.Points[2].Topology.Ranks, s.Points[3].Topology.Ranks})
	require.Equal(t, "a100-80gb", s.Points[3].Device.Name)
}

// TestMachineFilesRefused names the key of the scenario, and what is wrong on which line.
func TestMachineFilesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"about = \"half\"\nlike = \"dgx-h100\"\ngpus = { is = \"4.5\", source = \"me\" }": `s.toml:1: ` +
			`topology.file = "mine.toml": mine.toml:3: gpus: "4.5": a whole number`,
		"about = \"far\"\nlike = \"dgx-h100\"\nhop = { is = \"5000000 s\", source = \"me\" }": "a time",
		"about = \"apart\"\nlike = \"dgx-1v\"\ngpus = { is = \"2\", source = \"mine\" }\n" +
			"nics = { is = \"1\", source = \"mine\" }\n" +
			"wires = { is = \"gpu0 nic0 pcie, gpu1 nic0 pcie\", source = \"mine\" }": "mine.toml:5: wires: ",
	} {
		_, err := onMachineFile(t, text, "topology.nodes = 2\n")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "missing")
	}
	_, err := onMachineFile(t, "about = \"all\"\nlike = \"dgx-h100\"\n",
		"topology.preset = \"ring\"\n")
	require.ErrorContains(t, err, "one of the two is expected")
	_, err = onMachineFile(t, "about = \"all\"\nlike = \"dgx-h100\"\n", "topology.file = 3\n")
	require.Error(t, err)
}
