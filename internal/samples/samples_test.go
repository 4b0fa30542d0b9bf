package samples

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// licences are those whose texts LICENCES.md has, by the beginning of their names in an index.
func licences() []string { return []string{"Apache-2.0", "MIT", "BSD-3-Clause plus SPCL"} }

// TestParts: every file of a part has a source and a licence that allows it to be here, and is the
// file of the whole collection, where that is there to compare with.
func TestParts(t *testing.T) {
	for _, p := range collections() {
		t.Run(p.name, func(t *testing.T) {
			sets := Sets(t, p.name)
			part := sets[0]
			readme, err := os.ReadFile(part.Path("README.md"))
			require.NoError(t, err)
			require.Contains(t, string(readme), "internal/samples/LICENCES.md")
			require.Contains(t, string(readme), "`../shared/"+p.whole+"`")
			known := sources(t, part, string(readme))
			require.NoError(t, filepath.WalkDir(part.Dir, func(path string, d fs.DirEntry, err error) error {
				require.NoError(t, err)
				name, err := filepath.Rel(part.Dir, path)
				require.NoError(t, err)
				name = filepath.ToSlash(name)
				if d.IsDir() || name == "README.md" || name == "index.toml" {
					return nil
				}
				same, listed := known[name]
				if !listed {
					same, listed = known[filepath.ToSlash(filepath.Dir(name))]
				}
				require.True(t, listed, "%s: no source, no licence", name)
				if len(sets) == 2 && same {
					require.Equal(t, content(t, sets[1].Path(name)), content(t, path), name)
				}
				return nil
			}))
		})
	}
}

// sources are the files and folders of a part whose source and licence are known: by its index, by
// the file beside a table, or because its README calls them our own. It says of each whether it is
// as it was found.
func sources(t *testing.T, part Set, readme string) map[string]bool {
	known := map[string]bool{}
	for _, c := range part.Cases {
		require.NotEmpty(t, c["repo"])
		require.NotEmpty(t, c["commit"])
		allowed := false
		for _, licence := range licences() {
			allowed = allowed || strings.HasPrefix(c["licence"], licence)
		}
		require.True(t, allowed, c["licence"])
		require.Contains(t, readme, c["repo"]+" "+c["commit"])
		known[c["file"]+c["dir"]] = c["changed"] == ""
	}
	for _, beside := range []string{"*.toml", "*/*.toml", "*/*/*.toml"} {
		paths, err := filepath.Glob(part.Path(beside))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name, err := filepath.Rel(part.Dir, path)
			require.NoError(t, err)
			if name = filepath.ToSlash(name); name != "index.toml" {
				require.Contains(t, string(text), "\nsource_commit = ")
				known[name], known[strings.TrimSuffix(name, ".toml")+".csv"] = true, true
			}
		}
	}
	for line := range strings.Lines(readme) {
		name, source, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "` | ")
		if strings.HasPrefix(source, "our own") {
			known[name] = false
		}
	}
	return known
}

// content is what a file holds, gzipped or not.
func content(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return string(text)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	require.NoError(t, err)
	text, err = io.ReadAll(z)
	require.NoError(t, err)
	return string(text)
}
