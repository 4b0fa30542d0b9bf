// Package samples finds what other programs wrote, for tests: schedules, traces and tables of
// measurements. A part of every collection is in the repository, in testdata/samples beside what
// reads it; a test runs on this part everywhere. Where the whole collection lies beside the
// repository, the long tier runs the same test on it as well. The package must not know what a file
// means.
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

// collection is a set of samples: its part below the repository, the whole below the folder shared
// beside the repository.
type collection struct{ name, part, whole string }

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

// Set is a collection of files, or a part of one.
type Set struct {
	Dir   string
	Whole bool
	// Cases are the tables of the index of the collection, key by key; none if it has no index.
	Cases []map[string]string
}

// Each runs a test on the part of a collection that is in the repository and, in the long tier, on
// the whole of it where that lies beside the repository.
func Each(t *testing.T, name string, test func(t *testing.T, s Set)) {
	t.Helper()
	for _, s := range Sets(t, name) {
		t.Run(map[bool]string{false: "part", true: "whole"}[s.Whole], func(t *testing.T) { test(t, s) })
	}
}

// Sets are the part of a collection that is in the repository and, in the long tier, the whole of
// it where that lies beside the repository.
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

// Of chooses what is known of the part, or of the whole.
func Of[T any](s Set, part, whole T) T {
	if s.Whole {
		return whole
	}
	return part
}

// Path is where a file of the set is.
func (s Set) Path(name string) string { return filepath.Join(s.Dir, filepath.FromSlash(name)) }

// Has reports whether the set has a file.
func (s Set) Has(name string) bool {
	_, err := os.Stat(s.Path(name))
	return err == nil
}

// index reads an index.toml, which holds nothing but tables named case, of strings and numbers.
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

// repository is the folder with go.mod that the test runs below.
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
