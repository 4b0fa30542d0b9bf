package topom

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/formats/system"
	"collsim/topology"
	"collsim/unit"
)

// found checks that NCCL would find the matrix again in the system that was made of it: NVLinks
// where there are some, and else the ways; a way over two NVLinks may be better than that.
func found(m *matrix, model system.Model) error {
	b := &builder{m: m, model: model, pcie: 12 * unit.Rate(unit.GB), sys: &system.System{}}
	b.build()
	p := b.sys.Paths()
	var gpus, nics []int
	for i, n := range m.names {
		if isGPU(n) {
			gpus = append(gpus, i)
		} else {
			nics = append(nics, i)
		}
	}
	check := func(i, j int, way system.Path) error {
		c := m.at(i, j)
		want := c.path
		if c.links > 0 {
			want = system.NVL
		}
		if way.Type != want && (way.Type != system.NVB || c.links > 0) {
			return fmt.Errorf("%s to %s: %v, the matrix has %s", m.names[i], m.names[j], way.Type, c.text)
		}
		return nil
	}
	for g, i := range gpus {
		for h, j := range gpus {
			if g != h {
				if err := check(i, j, p.GPU[g][h]); err != nil {
					return err
				}
			}
		}
		for n, j := range nics {
			if err := check(i, j, p.NIC[g][n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestFoundAgain: real matrices beside the repository.
func TestFoundAgain(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "topo", "smi-*.txt"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the files of real machines are not beside the repository: ../shared/topo")
	}
	tried := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		m, err := read(filepath.Base(f), data)
		if err != nil {
			continue // of AMD, and what is no matrix of links
		}
		tried++
		require.NoError(t, found(m, system.ModelOf("a100-40gb")), f)
	}
	require.GreaterOrEqual(t, tried, 14)
}

// TestRandomMatrices: matrices of random trees of PCIe, with and without NVLinks, as text with
// blanks or tabs, are read as they were, found again, and built.
func TestRandomMatrices(t *testing.T) {
	params := gopter.DefaultTestParametersWithSeed(7)
	params.MinSuccessfulTests = 300
	p := gopter.NewProperties(params)
	p.Property("random trees", prop.ForAll(func(seed int64, gpus, nics int) (bool, error) {
		rng := rand.New(rand.NewSource(seed))
		n := gpus + nics
		place := make([][3]int, n) // processor, upper and lower switch
		for i := range place {
			place[i] = [3]int{rng.Intn(2), rng.Intn(2), rng.Intn(3)}
		}
		cells := make([][]string, n)
		for i := range cells {
			cells[i] = make([]string, n)
			for j := range n {
				switch {
				case i == j:
					cells[i][j] = "X"
				case i > j:
					cells[i][j] = cells[j][i]
				case i < gpus && j < gpus && rng.Intn(4) == 0:
					cells[i][j] = fmt.Sprint("NV", 1+rng.Intn(12))
				default:
					cells[i][j] = wayOf(place[i], place[j])
				}
			}
		}
		text := textOf(rng, cells, gpus)
		if strings.Contains(text, "NV") && gpus < 3 {
			return true, nil
		}
		m, err := read("random", []byte(text))
		if err != nil {
			return false, fmt.Errorf("%w\n%s", err, text)
		}
		if !strings.Contains(text, "NV") { // else the tree is not all known
			if err := found(m, system.ModelOf("a100-40gb")); err != nil {
				return false, fmt.Errorf("%w\n%s", err, text)
			}
		}
		made, err := Read("random", []byte(text), "a100-40gb")
		if err != nil {
			return false, fmt.Errorf("%w\n%s", err, text)
		}
		node := made.Node(made.GPUs)
		g, err := topology.Build(topology.Params{Nodes: 1, Node: &node})
		if err == nil {
			err = g.Connected()
		}
		return err == nil, err
	}, gen.Int64(), gen.IntRange(1, 9), gen.IntRange(0, 5)))
	p.TestingRun(t)
}

// wayOf is the way between two places of a tree.
func wayOf(a, b [3]int) string {
	switch {
	case a == b:
		return "PIX"
	case a[0] == b[0] && a[1] == b[1]:
		return "PXB"
	case a[0] == b[0]:
		return "NODE"
	}
	return "SYS"
}

// textOf is a matrix as nvidia-smi prints it, or as it is pasted.
func textOf(rng *rand.Rand, cells [][]string, gpus int) string {
	between := []string{"\t", "    ", "  ", " | "}[rng.Intn(4)]
	prefix := []string{"", "    ", "> ", "host1: "}[rng.Intn(4)]
	name := func(i int) string {
		if i < gpus {
			return fmt.Sprint("GPU", i)
		}
		return fmt.Sprint("mlx5_", i-gpus)
	}
	var b strings.Builder
	b.WriteString("$ nvidia-smi topo -m\n" + prefix)
	for i := range cells {
		b.WriteString(between + name(i))
	}
	b.WriteString(between + "CPU Affinity" + between + "NUMA Affinity\n")
	for i, row := range cells {
		b.WriteString(prefix + name(i))
		for _, c := range row {
			b.WriteString(between + c)
		}
		if i < gpus {
			b.WriteString(between + "0-31,64-95" + between + "N/A")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// FuzzRead: whatever is read can be built, and nothing panics.
func FuzzRead(f *testing.F) {
	f.Add("\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n", "a100-40gb")
	f.Add("GPU0 GPU1 mlx5_0\nGPU0 X PIX SYS\nGPU1 PIX X PXB\n", "h100-sxm")
	f.Add("| GPU0 | GPU1 |\n| a | GPU0 | X | SYS |\n", "")
	f.Fuzz(func(t *testing.T, text, device string) {
		m, err := Read("f", []byte(text), device)
		if err != nil {
			return
		}
		node := m.Node(m.GPUs)
		g, err := topology.Build(topology.Params{Nodes: 1, Node: &node})
		require.NoError(t, err)
		require.NoError(t, g.Connected())
	})
}
