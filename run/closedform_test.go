package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
)

// networks are topologies of every preset, and some of which all routes cost the same though they
// share links. # is the number of ranks or nodes, and ~ what a wire costs.
var networks = []string{
	"preset = 'switch'\nranks = #\n~",
	"preset = 'full-mesh'\nranks = #\n~",
	"preset = 'ring'\nranks = #\n~",
	"preset = 'mesh'\nshape = [#, 2]\n~",
	"preset = 'torus'\nshape = [#]\n~",
	"preset = 'hypercube'\nranks = 4\n~",
	"preset = 'tree'\nranks = #\nk = 32\n~", // one switch
	"preset = 'tree'\nranks = #\nk = 2\n~",
	"preset = 'fat-tree'\nranks = #\nk = 4\noversubscription = 2\n~",
	"preset = 'leaf-spine'\nranks = #\nk = 32\n~", // one leaf
	"preset = 'leaf-spine'\nranks = #\nk = 1\n~",
	"preset = 'leaf-spine'\nranks = #\nk = 1\nrouting = 'ecmp'\n~",
	"preset = 'dragonfly'\nranks = #\na = 2\np = 2\nh = 2\n~",
	"nodes = #\n[topology.node]\npreset = 'switch'\nranks = 1\n~[topology.network]\n" +
		"preset = 'switch'\n~",
	"nodes = #\n[topology.node]\npreset = 'full-mesh'\nranks = 2\n~[topology.network]\n" +
		"preset = 'rails'\n~",
	"nodes = #\n[topology.node]\npreset = 'switch'\nranks = 2\n~[topology.network]\n" +
		"preset = 'switch'\nnics = 1\n~", // what teams of rails share
	"preset = 'switch'\nranks = #\n~[[topology.link]]\nmatch = 'switch->*'\nbandwidth = '50 %'\n",
	dumbbell(4),
}

// dumbbell is ranks that all reach each other over one wire, by hand.
func dumbbell(ranks int) string {
	var b strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&b, "[[topology.link]]\nfrom = 'gpu%d'\nto = 'in'\nboth = false\n~", rank)
		fmt.Fprintf(&b, "[[topology.link]]\nfrom = 'out'\nto = 'gpu%d'\nboth = false\n~", rank)
	}
	return b.String() + "[[topology.link]]\nfrom = 'in'\nto = 'out'\nboth = false\n~"
}

// TestClosedFormsAreNotBelowBounds: no published cost is below what no schedule beats, for all
// algorithms, on all networks, of several sizes, all ranks or teams side by side, with devices
// whose steps and additions take time.
func TestClosedFormsAreNotBelowBounds(t *testing.T) {
	forms := 0
	for _, network := range networks {
		for _, n := range tier.Of([]string{"2", "3", "8"}, strings.Fields("1 2 3 4 5 6 7 8 12 16")) {
			if !strings.Contains(network, "#") && n != "8" {
				continue
			}
			text := "[topology]\n" + strings.NewReplacer("#", n, "~",
				"bandwidth = '1 GB/s'\nlatency = '1 us'\n", "'", "\"").Replace(network)
			forms += formsNotBelow(t, text)
			forms += formsNotBelow(t, text+
				"[device]\noverhead = \"2 us\"\nreduce_rate = \"3 GB/s\"\n")
		}
	}
	require.Greater(t, forms, 500)
}

// formsNotBelow counts the closed forms on a network.
func formsNotBelow(t *testing.T, network string) (forms int) {
	t.Helper()
	teams := []string{""}
	if strings.Contains(network, "nodes") {
		teams = append(teams, "teams = \"rail\"\n")
	}
	for _, teams := range teams {
		text := network + "[check]\nproof = false\nnumbers = false\n[[collective]]\n" +
			"kind = [\"all_reduce\", \"all_gather\", \"reduce_scatter\", \"all_to_all\", " +
			"\"broadcast\", \"reduce\", \"gather\", \"scatter\"]\nalgorithm = \"all\"\n" +
			"bytes = [1000, 300000]\ndtype = \"int8\"\n" + teams
		s, err := run.Load("s.toml", []byte(text), run.LoadOptions{})
		require.NoError(t, err, text)
		report, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err, text)
		for _, r := range report.Results {
			if r.ClosedForm < 0 {
				continue
			}
			forms++
			require.GreaterOrEqual(t, r.ClosedForm, r.Bounds.Lower, "%v %v of %d bytes:\n%s",
				r.Point.Spec.Kind, r.Algorithm, r.Point.Spec.Bytes(), text)
		}
	}
	return forms
}

// TestNoClosedFormWhereAllShareAWire: costs that all routes have in common are not enough.
func TestNoClosedFormWhereAllShareAWire(t *testing.T) {
	text := strings.NewReplacer("~", "bandwidth = '1 GB/s'\nlatency = '1 us'\n").Replace(dumbbell(4))
	require.Zero(t, formsNotBelow(t, "[topology]\n"+strings.ReplaceAll(text, "'", "\"")))
}
