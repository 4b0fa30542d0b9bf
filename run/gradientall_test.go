package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/tier"
	"collsim/run"
)

// gradientNetworks are networks on which one algorithm or another runs.
func gradientNetworks() []string {
	var list []string
	for _, ranks := range []int{4, 2} {
		list = append(list, fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = %d\n"+
			"bandwidth = \"100 Gbit/s\"\nlatency = \"500 ns\"\n", ranks))
	}
	return append(list, "[topology]\nnodes = 2\n[topology.node]\npreset = \"switch\"\nranks = 2\n"+
		"bandwidth = \"450 GB/s\"\nlatency = \"1 us\"\n[topology.network]\npreset = \"rails\"\n"+
		"bandwidth = \"50 GB/s\"\nlatency = \"1 us\"\n",
		"[nccl.env]\nNCCL_COLLNET_ENABLE = 1\n[topology]\npreset = \"dgx-h100\"\nnodes = 2\n"+
			"network.multimem = true\n", "[topology]\npreset = \"dgx-h100\"\nnodes = 1\n")
}

// gradientOf runs a kind by an algorithm with its full gradient on the first network that both can
// be run on. It returns the backward pass; nil if there is no such network.
func gradientOf(t *testing.T, kind collective.Kind, algorithm string) *run.Result {
	for i, network := range gradientNetworks() {
		text := fmt.Sprintf("%s[[collective]]\nkind = %q\nalgorithm = %q\ngradient = \"full\"\n",
			network, kind, algorithm)
		row := []int{2, 0, 3, 1, 0, 2, 1, 1, 2, 2, 0, 0, 1, 1, 3, 1}[:[]int{4, 2, 4, 16, 8}[i]]
		splits := strings.ReplaceAll(fmt.Sprint(row), " ", ", ")
		switch {
		case kind == collective.AllToAllV:
			text += "splits = [" + strings.Join(slices.Repeat([]string{splits}, len(row)), ", ") + "]\n"
		case kind.Splits():
			text += "splits = " + splits + "\n"
		default:
			text += "count = 24\n"
		}
		s, err := run.Load("s.toml", []byte(text), run.LoadOptions{})
		if err != nil {
			continue
		}
		if report, err := s.Run(context.Background(), run.RunOptions{}); err == nil {
			require.Len(t, report.Results, 2)
			return report.Results[1]
		}
	}
	return nil
}

// TestGradientOfAllAlgorithms: every algorithm of every kind that has a gradient carries it back,
// by itself, run backwards, or by the fastest of the kind, and the law of adjoints holds.
func TestGradientOfAllAlgorithms(t *testing.T) {
	by, none, tried := map[string]int{}, []string{}, 0
	for i, a := range run.Algorithms() {
		if i%tier.Of(3, 1) > 0 && !strings.Contains(a.Name, "scatter-allgather") {
			continue
		}
		for _, kind := range a.Kinds {
			if kind == collective.Barrier || kind == collective.Custom {
				continue
			}
			name := fmt.Sprintf("%v %s", kind, a.Name)
			back := gradientOf(t, kind, a.Name)
			if back == nil {
				none = append(none, name)
				continue
			}
			tried++
			require.Equal(t, "exact", back.Gradient.Law, name)
			way, chosen, _ := strings.Cut(back.Gradient.By, " ")
			if by[way]++; way == "fastest" {
				require.Equal(t, back.Algorithm.Name, chosen, name)
				t.Log(name, "by", back.Gradient.By)
			}
		}
	}
	t.Log(tried, by)
	require.Empty(t, none)
	require.Positive(t, by["algorithm"])
	require.Positive(t, by["transpose"])
	require.Positive(t, by["fastest"])
}
