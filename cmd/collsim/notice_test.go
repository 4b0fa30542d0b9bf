package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNotice holds NOTICE to the modules that a release links, on each of its platforms: their
// versions, and the texts of their licences.
func TestNotice(t *testing.T) {
	path := filepath.Join(repository(t), "NOTICE")
	want := "collsim\nCopyright the collsim maintainers\n\nIts licence is in LICENSE. The program " +
		"contains the works below, each under its own licence.\n"
	for _, m := range linkedModules(t) {
		want += "\n" + strings.Repeat("=", 80) + "\n" + m.name + "\n"
		texts := licenceFiles(t, m.folder)
		require.NotEmpty(t, texts, "%s has no licence", m.name)
		for _, file := range texts {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			want += strings.Repeat("-", 80) + "\n" + strings.Trim(string(text), "\n") + "\n"
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(have), want, "go test ./cmd/collsim -run Notice -update writes it")
}

// linked is a module of the program, or Go itself.
type linked struct{ name, folder string }

// linkedModules lists what is linked on any platform of a release, by name.
func linkedModules(t *testing.T) []linked {
	list := []linked{{"Go", goRoot(t)}}
	for _, os := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		cmd.Env = append(cmd.Environ(), "GOOS="+os)
		out, err := cmd.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			name, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if m := (linked{name, folder}); name != "" && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	slices.SortFunc(list[1:], func(a, b linked) int { return strings.Compare(a.name, b.name) })
	return list
}

// goRoot returns the folder of Go itself.
func goRoot(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// licenceFiles lists the licences in a module's folder: its own, and those of fonts and of others
// that it carries.
func licenceFiles(t *testing.T, folder string) (files []string) {
	for _, pattern := range []string{"LICENSE*", "COPYING*", "NOTICE*", "licenses/ftl.txt"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	return files
}
