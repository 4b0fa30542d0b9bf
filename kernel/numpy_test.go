package kernel

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A numpyCase is an operation for testdata/layers.py: its operands, and the result here. With
// Gradient it is the gradient by that operand.
type numpyCase struct {
	Text       string
	Kind       string
	Attributes map[string]float64
	Shapes     [][]int64
	Operands   [][]float64
	Gradient   int // −1 of none
	Result     []float64
}

// TestNumPy holds layers and their gradients against numpy's functions of whole arrays, and
// stand-ins against its integers.
func TestNumPy(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("left out: there is no python3")
	}
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil {
		t.Skipf("left out: python3 cannot import numpy: %s", out)
	}
	var cases []numpyCase
	for _, text := range append(sampleLayers(), "opaque 3x4:float32+5:int16->4x16:float32 1 us") {
		o, in := sampled(t, text, 9)
		if o.Kind == Opaque {
			for i := range in[0] {
				in[0][i] = float64(float32(in[0][i]))
			}
		}
		cases = append(cases, numpyOf(o, in, -1, applied(t, o, in)))
		for by, operand := range o.Operands() {
			if o.Kind == Opaque || o.layer().gradient == nil || !operand.Type.IsFloat() {
				continue
			}
			g := make([]float64, o.Output().Shape.Elements())
			for i := range g {
				g[i] = math.Sin(float64(i + 1))
			}
			all := append(append([][]float64{}, in...), g)
			cases = append(cases, numpyOf(o, all, by, applied(t, gradientOf(t, o, by), all)))
		}
	}
	text, err := json.Marshal(cases)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cases.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	out, err := exec.Command(python, filepath.Join("testdata", "layers.py"), path).CombinedOutput()
	require.NoError(t, err, string(out))
	t.Log(string(out))
}

func numpyOf(o Op, in [][]float64, gradient int, result []float64) numpyCase {
	c := numpyCase{Text: o.String(), Kind: o.Kind.String(), Operands: in, Gradient: gradient,
		Result: result, Attributes: map[string]float64{}}
	for i, a := range o.layer().attributes {
		c.Attributes[a.name] = o.Attributes[i]
	}
	for _, operand := range o.Operands() {
		c.Shapes = append(c.Shapes, operand.Shape)
	}
	c.Shapes = append(c.Shapes, o.Output().Shape)
	return c
}
