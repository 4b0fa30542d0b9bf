package programs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestScripts evaluates the programs of testdata. The k-th tensor that is given has on rank r the
// elements 100·k + 10·r, and 1 more each; a gradient of a result has 1, 2, … on every rank.
func TestScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/programs.txt", func(t *testing.T, d *datadriven.TestData) string {
		ranks := 2
		d.MaybeScanArgs(t, "ranks", &ranks)
		p, err := Read(fmt.Sprintf("topology.ranks = %d\n%s", ranks, d.Input))
		if err != nil {
			return fmt.Sprintln(err)
		}
		inputs := Inputs{}
		for k, name := range p.Given() {
			of := p.tensors[name]
			for rank := range ranks {
				inputs.add(t, name, of.typ.name, elements(of.shape), int64(100*k+10*rank))
			}
		}
		var list []string
		d.MaybeScanArgs(t, "gradients", &list)
		for _, text := range list { // such as y:4
			name, length, _ := strings.Cut(text, ":")
			n := int64(0)
			fmt.Sscan(length, &n)
			for range ranks {
				inputs.add(t, name+gradientSuffix, "float32", n, 1)
			}
		}
		r, err := p.Evaluate(inputs)
		if err != nil {
			return fmt.Sprintln(err)
		}
		var b strings.Builder
		for _, name := range r.Names {
			for rank, of := range r.values[name] {
				if of != nil {
					fmt.Fprintf(&b, "%s %d:%s\n", name, rank, of.text())
				}
			}
		}
		fmt.Fprintf(&b, "exact %v\n", r.Exact)
		return b.String()
	})
}

// add adds what a rank is given of a tensor.
func (in Inputs) add(t *testing.T, name, typ string, n, first int64) {
	list := make([]int64, n)
	for i := range list {
		list[i] = first + int64(i)
	}
	data, err := encode(typ, list)
	require.NoError(t, err)
	in[name] = append(in[name], data)
}

func (t *tensor) text() string {
	var b strings.Builder
	for _, x := range t.list {
		if t.typ.float {
			fmt.Fprintf(&b, " %v", x.f)
		} else {
			fmt.Fprintf(&b, " %d", x.n)
		}
	}
	return b.String()
}

// encode encodes whole numbers as elements of a type: little-endian, like Inputs.
func encode(typ string, values []int64) ([]byte, error) {
	t, known := typeOf(typ)
	if !known {
		return nil, fmt.Errorf("the type %q is not known", typ)
	}
	list := make([]number, len(values))
	for i, n := range values {
		if t.float {
			list[i].f = t.round(float64(n))
		} else {
			list[i].n = t.wrap(n)
		}
	}
	return t.encode(list), nil
}
