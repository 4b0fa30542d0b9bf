package mesh

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// TestTorch: redistributions go through the steps that DTensor plans, which
// testdata/redistribute.py wrote down.
func TestTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/torch.txt")
	require.NoError(t, err)
	n := 0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		steps, err := Steps(list(t, words[0]), list(t, words[1]))
		require.NoError(t, err, line)
		var texts []string
		for _, s := range steps {
			texts = append(texts, fmt.Sprintf("%d:%v>%v", s.Along, s.From, s.To))
		}
		require.Equal(t, strings.Join(words[2:], " "), strings.Join(texts, " "), line)
		n++
	}
	require.Equal(t, 495, n)
}

// list parses placements.
func list(t *testing.T, text string) (all []Placement) {
	for _, one := range strings.Split(text, ",") {
		p, err := Parse(one)
		require.NoError(t, err)
		all = append(all, p)
	}
	return all
}

// TestSteps: each step done on numbers, what ranks have in the end is what the placements say.
// Nothing of a step's collective is used but its name.
func TestSteps(t *testing.T) {
	text, err := os.ReadFile("testdata/torch.txt")
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		from, to := list(t, words[0]), list(t, words[1])
		m := map[int]Mesh{1: {[]int{6}, []string{"a"}}, 2: {[]int{2, 3}, []string{"a", "b"}},
			3: {[]int{2, 2, 2}, []string{"a", "b", "c"}}}[len(from)]
		require.NoError(t, m.Validate(product(m.Shape)))
		const rows, columns = 24, 48
		shape := collective.Shape{rows, columns}
		have := placed(m, shape, from)
		steps, err := Steps(from, to)
		require.NoError(t, err)
		for _, s := range steps {
			have = done(t, m, s, have)
		}
		want := placed(m, shape, to)
		local, err := m.Local(shape, to)
		require.NoError(t, err)
		for rank := range have {
			require.Equal(t, local.Elements(), int64(len(have[rank].list)), line)
			if strings.Contains(words[1], "partial") {
				continue // ranks' parts differ; their sum is held where they are added
			}
			require.Equal(t, want[rank], have[rank], "%s rank %d", line, rank)
		}
	}
}

// A matrix is what a rank has.
type matrix struct {
	rows, columns int
	list          []int
}

// placed returns what ranks have of the matrix 0, 1, 2, … by placements. Of a partial one, all but
// the first rank of an axis have ones, which the first has less.
func placed(m Mesh, shape collective.Shape, at []Placement) (ranks []matrix) {
	for rank := range product(m.Shape) {
		x := matrix{rows: int(shape[0]), columns: int(shape[1])}
		for i := range x.rows * x.columns {
			x.list = append(x.list, i)
		}
		for i, p := range at {
			place, n := rank/product(m.Shape[i+1:])%m.Shape[i], m.Shape[i]
			switch p.Kind {
			case Sharded:
				x = x.cut(p.Axis, place, n)
			case Partial:
				for k := range x.list {
					if place > 0 {
						x.list[k] = 1
					} else {
						x.list[k] -= n - 1
					}
				}
			}
		}
		ranks = append(ranks, x)
	}
	return ranks
}

// cut returns the k-th of n equal parts along an axis.
func (x matrix) cut(axis, k, n int) (y matrix) {
	y = matrix{rows: x.rows, columns: x.columns}
	top, left := 0, 0
	if axis == 0 {
		y.rows /= n
		top = k * y.rows
	} else {
		y.columns /= n
		left = k * y.columns
	}
	for i := range y.rows {
		for j := range y.columns {
			y.list = append(y.list, x.list[(top+i)*x.columns+left+j])
		}
	}
	return y
}

// join puts matrices next to each other along an axis.
func join(axis int, parts []matrix) (y matrix) {
	if axis == 0 {
		y.columns = parts[0].columns
		for _, p := range parts {
			y.rows += p.rows
			y.list = append(y.list, p.list...)
		}
		return y
	}
	y.rows = parts[0].rows
	for i := range y.rows {
		for _, p := range parts {
			y.list = append(y.list, p.list[i*p.columns:][:p.columns]...)
		}
	}
	y.columns = len(y.list) / y.rows
	return y
}

// done does a step among the teams of its axis.
func done(t *testing.T, m Mesh, s Step, have []matrix) []matrix {
	after := make([]matrix, len(have))
	for _, team := range m.Teams(s.Along) {
		n := len(team)
		var parts []matrix
		for _, rank := range team {
			parts = append(parts, have[rank])
		}
		for place, rank := range team {
			call, _, _ := strings.Cut(s.Call(), " ")
			switch call {
			case "":
				after[rank] = have[rank].cut(s.To.Axis, place, n)
			case "all_gather":
				after[rank] = join(s.From.Axis, parts)
			case "all_to_all":
				var mine []matrix
				for _, p := range parts {
					mine = append(mine, p.cut(s.To.Axis, place, n))
				}
				after[rank] = join(s.From.Axis, mine)
			case "all_reduce", "reduce_scatter":
				sum := matrix{rows: parts[0].rows, columns: parts[0].columns,
					list: make([]int, len(parts[0].list))}
				for _, p := range parts {
					for i, x := range p.list {
						sum.list[i] += x
					}
				}
				if after[rank] = sum; call == "reduce_scatter" {
					after[rank] = sum.cut(s.To.Axis, place, n)
				}
			default:
				require.Fail(t, s.Call())
			}
		}
	}
	return after
}

func TestPlacements(t *testing.T) {
	for text, want := range map[string]string{"replicate": "replicate", "Shard(1)": "shard(1)",
		"shard(dim=2)": "shard(2)", "partial": "partial", "Partial(sum)": "partial",
		"partial( 'avg' )": "partial(avg)", "partial(max)": "partial(max)",
		"partial(min)":     "partial(min)",
		"partial(product)": "partial(product)"} {
		p, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, p.String())
	}
	for _, text := range []string{"", "shard", "shard()", "shard(-1)", "shard(x)", "shard(0",
		"replicate()",
		"partial(median)", "partial(", "split(0)"} {
		_, err := Parse(text)
		require.ErrorContains(t, err, "is no placement", text)
	}
}

func TestCalls(t *testing.T) {
	for words, want := range map[string]string{
		"partial replicate": "all_reduce", "partial(max) replicate": "all_reduce max",
		"partial shard(1)": "reduce_scatter axis 1", "partial(avg) shard(0)": "reduce_scatter avg",
		"shard(0) replicate": "all_gather", "shard(2) replicate": "all_gather axis 2",
		"shard(0) shard(1)": "all_to_all axis 1", "shard(2) shard(0)": "all_to_all concat 2",
		"replicate shard(0)": ""} {
		from, to, _ := strings.Cut(words, " ")
		steps, err := Steps(list(t, from), list(t, to))
		require.NoError(t, err)
		require.Len(t, steps, 1)
		require.Equal(t, want, steps[0].Call(), words)
	}
	for _, words := range []string{"replicate partial", "shard(0) partial", "partial partial(max)"} {
		from, to, _ := strings.Cut(words, " ")
		_, err := Steps(list(t, from), list(t, to))
		require.ErrorContains(t, err, "does not become", words)
	}
}

func TestMeshes(t *testing.T) {
	two := []string{"dp", "tp"}
	m := Mesh{[]int{2, 4}, two}
	require.NoError(t, m.Validate(8))
	require.Equal(t, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, m.Teams(1))
	require.Equal(t, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, m.Teams(0))
	local, err := m.Local(collective.Shape{16, 8}, list(t, "shard(0),shard(0)"))
	require.NoError(t, err)
	require.Equal(t, collective.Shape{2, 8}, local)
	for want, wrong := range map[string]func() error{
		"a mesh of 2 x 4 does not have the 6 ranks": func() error { return m.Validate(6) },
		"a length from 1 is expected": func() error {
			return Mesh{[]int{0}, two[:1]}.Validate(1)
		},
		"2 axes have 1 names": func() error {
			return Mesh{[]int{2, 4}, two[:1]}.Validate(8)
		},
		"a name of its own is expected": func() error {
			return Mesh{[]int{2, 4}, []string{"a", "a"}}.Validate(8)
		},
		"a length of 9 is not divisible by 2 ranks": func() error {
			_, err := m.Local(collective.Shape{9}, list(t, "shard(0),replicate"))
			return err
		},
		"an axis below 1 is expected": func() error {
			_, err := m.Local(collective.Shape{8}, list(t, "shard(1),replicate"))
			return err
		},
		"one for each of its axes is expected": func() error {
			_, err := m.Local(collective.Shape{8}, list(t, "shard(0)"))
			return err
		},
	} {
		require.ErrorContains(t, wrong(), want)
	}
}

func ExampleSteps() {
	from := []Placement{{Kind: Sharded}, {Kind: Partial}}
	to := []Placement{{Kind: Replicated}, {Kind: Sharded, Axis: 1}}
	m := Mesh{[]int{2, 4}, []string{"dp", "tp"}}
	steps, _ := Steps(from, to)
	for _, s := range steps {
		fmt.Printf("%s over %s\n", s.Call(), m.Axes[s.Along])
	}
	// Output:
	// reduce_scatter axis 1 over tp
	// all_gather over dp
}
