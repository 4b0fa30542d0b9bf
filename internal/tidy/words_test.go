package tidy

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// privateWords are words for known things that this project once had of its own, and the field's
// words for them. Neither names nor comments nor documents use them again.
func privateWords() map[string]string {
	return map[string]string{
		"foretell": "predict", "foretold": "predicted", "muster": "gather", "hush": "a silent put ends",
		"soil": "mark", "pour": "send, flow", "poured": "sent", "obey": "keep to", "bury": "reap",
		"crew": "workers, ranks",
	}
}

// privateUses lists the private words in a text, with their lines.
func privateUses(text string) (found []string) {
	list := slices.Sorted(maps.Keys(privateWords()))
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(list, func(word string) bool { return strings.Contains(lower, word) }) {
		return nil // soon: nearly all texts have none
	}
	// Words in names, too: "pourAll" and "newCrew" have one.
	any := regexp.MustCompile(`(?i)(^|[^a-z])(` + strings.Join(list, "|") + `)(s|ed|ing)?([^a-z]|$)`)
	camel := regexp.MustCompile(`([a-z0-9])([A-Z])`)
	for i, line := range strings.Split(text, "\n") {
		if m := any.FindStringSubmatch(camel.ReplaceAllString(line, "$1 $2")); m != nil {
			found = append(found, fmt.Sprintf("%s in line %d", strings.ToLower(m[2]), i+1))
		}
	}
	return found
}

// TestWords: decisions and the change log tell what was, and may use the words of then.
func TestWords(t *testing.T) {
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "decisions" || path != "../.." &&
			strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(name); d.IsDir() || ext != ".go" && ext != ".md" ||
			name == "CHANGELOG.md" || name == "words_test.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, use := range privateUses(string(text)) {
			t.Errorf("%s: %s", path, use)
		}
		return nil
	}))
}

// TestWordsAreSeen: the list finds words in names, sentences and other forms, and nothing else.
func TestWordsAreSeen(t *testing.T) {
	require.Equal(t, []string{"crew in line 1", "pour in line 2", "foretold in line 4"},
		privateUses("type newCrew struct{}\nit pours\nscrews, soiree\nwhat was Foretold"))
}
