// Package samples finds files of other programs for tests: schedules, traces and tables of
// measurements. The repository has a part of every collection, in testdata/samples beside its
// reader, and tests always run on it. The long tier also runs them on the whole collection, if it
// is present beside the repository. The package must not know what a file means.
package samples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/input"
	"collsim/internal/tier"
)

// A collection is a set of samples. The part is below the repository, the whole below the folder
// shared beside it.
type collection struct{ name, part, whole string }

// collections lists all collections.
func collections() []collection {
	return []collection{
		{"chakra_et", "formats/chakra", "schedules/chakra_et"},
		{"forestcoll", "formats/forestcoll", "schedules/forestcoll"},
		{"goal", "formats/goal", "schedules/goal"},
		{"msccl_xml", "formats/msccl", "schedules/msccl_xml"},
		{"mscclpp_json", "formats/mscclpp", "schedules/mscclpp_json"},
		{"nccl-data", "hw/calibrate", "nccl-data"},
		{"sccl_json", "formats/sccl", "schedules/sccl_json"},
		{"teccl_json", "formats/teccl", "schedules/teccl_json"},
	}
}

// A Set is a collection of files, or a part of one.
type Set struct {
	Dir   string
	Whole bool
	// Cases holds the tables of the collection's index, by key; none without an index.
	Cases []map[string]string
}

// Each runs a test on each of the Sets of a collection.
func Each(t *testing.T, name string, test func(t *testing.T, s Set)) {
	t.Helper()
	for _, s := range Sets(t, name) {
		t.Run(map[bool]string{false: "part", true: "whole"}[s.Whole], func(t *testing.T) { test(t, s) })
	}
}

// Sets returns the part of a collection in the repository. In the long tier, it also returns the
// whole collection if that is present beside the repository.
func Sets(t testing.TB, name string) (sets []Set) {
	t.Helper()
	root := repository(t)
	for _, p := range collections() {
		if p.name != name {
			continue
		}
		sets = append(sets, Set{Dir: filepath.Join(root, p.part, "testdata", "samples")})
		whole := filepath.Join(root, "..", "shared", p.whole)
		if _, err := os.Stat(whole); err == nil && tier.Long {
			sets = append(sets, Set{Dir: whole, Whole: true})
		}
	}
	require.NotEmpty(t, sets, "collection %q", name)
	for i := range sets {
		sets[i].Cases = index(t, sets[i].Dir)
	}
	return sets
}

// Of returns the expectation for the part or for the whole.
func Of[T any](s Set, part, whole T) T {
	if s.Whole {
		return whole
	}
	return part
}

// Path returns the path of a file of the set.
func (s Set) Path(name string) string { return filepath.Join(s.Dir, filepath.FromSlash(name)) }

// Has reports whether the set has a file.
func (s Set) Has(name string) bool {
	_, err := os.Stat(s.Path(name))
	return err == nil
}

// index reads an index.toml, which only has tables named case, with strings and numbers.
func index(t testing.TB, dir string) (cases []map[string]string) {
	text, err := input.Limit{}.File(filepath.Join(dir, "index.toml"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	for _, table := range strings.Split(string(text), "[[case]]")[1:] {
		one := map[string]string{}
		for line := range strings.Lines(table) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
				one[key] = strings.Trim(value, `"`)
			}
		}
		cases = append(cases, one)
	}
	return cases
}

// repository returns the folder with go.mod above the test.
func repository(t testing.TB) string {
	dir, err := filepath.Abs(".")
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
}
