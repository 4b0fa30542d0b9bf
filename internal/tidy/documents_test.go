package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeLines is the most that README.md may have. What does not fit moves into docs.
const readmeLines = 250

// documents returns the texts of the repository's Markdown files, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (d.Name() == "testdata" || d.Name()[0] == '.') {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	}))
	return found
}

// anchors lists the names of a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}

// TestDocumentLinks follows every link of a document to a file of the repository, and to a heading
// of that file where the link names one.
func TestDocumentLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence := regexp.MustCompile("(?ms)^```.*?^```$")
	all := documents(t)
	for path, text := range all {
		all[path] = fence.ReplaceAllString(text, "") // code has neither links nor headings
	}
	for path, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s links to %s, which does not exist", path, m[1])
					continue
				}
			}
			if heading != "" && filepath.Ext(to) == ".md" && !anchors(all[to])[heading] {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
}

// TestDocumentPackages looks for every package that a go command in a document names.
func TestDocumentPackages(t *testing.T) {
	command := regexp.MustCompile(`go (?:test|run|vet|doc) (?:-\S+ )*\./([A-Za-z_/]+)`)
	for path, text := range documents(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue
		}
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if _, missing := os.Stat(filepath.Join(root, m[1])); missing != nil {
				t.Errorf("%s names the package ./%s, which does not exist", path, m[1])
			}
		}
	}
}

// TestReadmeLength holds README.md to one screen after the other: docs has the rest.
func TestReadmeLength(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), readmeLines)
}
