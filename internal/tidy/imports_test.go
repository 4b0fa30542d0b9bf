package tidy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImports holds every package to its row of the table. Test files may import all of ours and
// the test libraries besides.
func TestImports(t *testing.T) {
	sources, err := load()
	require.NoError(t, err)
	for _, s := range sources {
		for _, complaint := range importsOf(s) {
			t.Errorf("%s (internal/tidy/table_test.go has what each may)", complaint)
		}
	}
}

// importsOf says what a package imports that it may not.
func importsOf(s *source) (complaints []string) {
	r, ok := rowOf(s.path)
	if !ok {
		return []string{s.path + ": the design's table has no such package"}
	}
	refuse := func(files, path string) {
		complaints = append(complaints, s.path+": "+files+" must not import "+path)
	}
	for _, path := range s.imports {
		ours := below(path)
		switch {
		case ours != "" && !r.mayImport(ours):
			refuse("it", path)
		case ours == "" && !standard(path) && !mayUse(r.modules, path):
			refuse("it", path)
		}
	}
	for _, path := range s.tests {
		if below(path) == "" && !standard(path) &&
			!mayUse(slices.Concat(r.modules, testLibraries()), path) {
			refuse("its tests", path)
		}
	}
	return complaints
}

// standard reports whether a path is of the standard library: no dot in its first part.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func TestImportRulesSeeWhatTheyBan(t *testing.T) {
	tests := []struct {
		path           string
		imports, tests []string
		want           []string
	}{
		{path: "topology", imports: []string{"fmt", "collsim/unit", "collsim/internal/nearest"}},
		{path: "topology", imports: []string{"collsim/sim"},
			want: []string{"topology: it must not import collsim/sim"}},
		{path: "topology", tests: []string{"collsim/sim", "github.com/stretchr/testify/require"}},
		{path: "topology", imports: []string{"github.com/stretchr/testify/require"},
			want: []string{"topology: it must not import github.com/stretchr/testify/require"}},
		{path: "unit", tests: []string{"gonum.org/v1/plot"},
			want: []string{"unit: its tests must not import gonum.org/v1/plot"}},
		{path: "plots", imports: []string{"gonum.org/v1/plot/vg", "collsim/trace"}},
		{path: "plots", imports: []string{"gonum.org/v1/plotter"},
			want: []string{"plots: it must not import gonum.org/v1/plotter"}},
		{path: "hw/cuda", imports: []string{"collsim/hw", "collsim/schedule"}},
		{path: "run", imports: []string{"collsim/sim", "collsim/hw", "collsim/formats/msccl"}},
		{path: "run", imports: []string{"collsim/plots", "collsim/hw/cuda"},
			want: []string{"run: it must not import collsim/plots",
				"run: it must not import collsim/hw/cuda"}},
		{path: "cmd/collsim", imports: []string{"collsim", "collsim/plots", "collsim/hw/cuda",
			"github.com/spf13/cobra"}},
		{path: "formats/goal", imports: []string{"collsim/schedule"}},
		{path: "schedule", imports: []string{"collsim/formats/goal"},
			want: []string{"schedule: it must not import collsim/formats/goal"}},
		{path: "algos/algostest", imports: []string{"collsim/sim", "collsim/algos",
			"github.com/stretchr/testify/require"}},
		{path: "util", want: []string{"util: the design's table has no such package"}},
	}
	for _, tt := range tests {
		got := importsOf(&source{path: tt.path, imports: tt.imports, tests: tt.tests})
		require.Equal(t, tt.want, got, tt.path)
	}
}

// TestTableHasNoCircle: no package may import one that may import it.
func TestTableHasNoCircle(t *testing.T) {
	for _, a := range table() {
		for _, b := range table() {
			if a.path != b.path && a.mayImport(b.path) && b.mayImport(a.path) &&
				!strings.HasPrefix(a.path, "internal/") {
				// One row stands for many packages of hw; only there is a pair both ways.
				require.True(t, within(a.path, "hw") && within(b.path, "hw"), "%s and %s",
					a.path, b.path)
			}
		}
	}
}
