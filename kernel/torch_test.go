package kernel

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// A torchCase is a result of PyTorch 2.15 on a CPU (testdata/bytorch.py), or of a wrong formula.
type torchCase struct {
	Kind     string
	Words    []string
	Style    string
	Mutant   string
	Operands []struct {
		Shape []int64
		Type  string
		Data  []byte
	}
	Type   string
	Result []byte
}

func torchCases(t *testing.T) (list []torchCase) {
	file, err := os.Open("testdata/torch.jsonl.gz")
	require.NoError(t, err)
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var c torchCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		list = append(list, c)
	}
	require.NoError(t, lines.Err())
	return list
}

// op returns the operation of a case and its operands.
func (c *torchCase) op(t *testing.T) (Op, [][]byte) {
	var operands []Tensor
	var data [][]byte
	for _, o := range c.Operands {
		of, err := dtype.Parse(o.Type)
		require.NoError(t, err)
		operands = append(operands, Tensor{Shape: collective.Shape(o.Shape), Type: of})
		data = append(data, o.Data)
	}
	out, err := dtype.Parse(c.Type)
	require.NoError(t, err)
	kind := Kinds()[slices.IndexFunc(Kinds(), func(k Kind) bool { return k.String() == c.Kind })]
	o, err := NewLayer(kind, c.Words, operands, out)
	require.NoError(t, err, "%s %v", c.Kind, c.Words)
	return o, data
}

// TestBoundsOfTorch: nothing that PyTorch computes is outside the bounds, what a wrong formula
// gives is, and so is a typical element that is changed by 4 %.
func TestBoundsOfTorch(t *testing.T) {
	seen, changed, loose, all := 0, map[Kind]int{}, map[string]int{}, map[string]int{}
	for _, c := range torchCases(t) {
		o, data := c.op(t)
		out, err := Apply(o, data)
		require.NoError(t, err)
		ours, theirs := numbers(o.Out, out), numbers(o.Out, c.Result)
		most := Bounds(o, data, make([][]float64, len(data)))
		beyond, total := 0, 0.0
		for i, x := range theirs {
			total += math.Abs(ours[i])
			all[c.Style]++
			if math.IsNaN(most[i]) {
				loose[c.Style]++
				continue
			}
			if !(x == ours[i] || math.IsNaN(x) && math.IsNaN(ours[i]) ||
				math.Abs(x-ours[i]) <= most[i]) {
				beyond++
				if c.Mutant == "" {
					t.Errorf("%v of %s inputs: element %d: %v, here %v, bound %v", o, c.Style, i, x,
						ours[i], most[i])
					break
				}
			}
		}
		if c.Mutant != "" {
			require.Positive(t, beyond, "%v: %s", o, c.Mutant)
			continue
		}
		seen++
		// What is kept in 8 bits, and added up, may cancel: a change is small beside what was added.
		sums := o.Kind == Attention || o.Kind == CrossEntropy || o.Gradient > 1 && o.Kind != SwiGLU
		if c.Style != "normal" || sums && o.Out == dtype.BFloat16 ||
			c.Operands[0].Shape[len(c.Operands[0].Shape)-1] < 4 {
			continue
		}
		share := 0.04
		if o.Out == dtype.BFloat16 && o.Gradient > 0 {
			share = 0.12 // they cancel, and so much is kept in the type
		}
		for i, x := range ours {
			if math.Abs(x) >= total/float64(len(ours)) && total > 0 {
				require.Greater(t, share*math.Abs(x), most[i], "%v: element %d: %v", o, i, x)
				changed[o.Kind]++
			}
		}
	}
	t.Log(seen, "results; without a bound", loose, "; of", all, "; changed", changed)
}
