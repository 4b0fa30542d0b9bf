package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/run"
)

// What a case of scenarios' wrong files may leave out.
const (
	someNetwork = `
[topology]
preset = "switch"
ranks = 8
bandwidth = "100 Gbit/s"
latency = "500 ns"
`
	someCollective = `
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "1 MiB"
`
)

// exchange is a schedule that wrong scenarios name; it is not what is wrong with them.
const exchange = `schedule exchange
collective all_reduce float32 sum
ranks 2
count 1024
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recvReduceCopy from 0, in into out @0
`

// place is where an error says that it is.
var place = regexp.MustCompile(`(?m)^(s\.toml:\d+|--set|--only)\b`)

// TestWrongScenarios runs every wrong scenario of package scenarios through the command: the same
// errors on standard error, nothing on standard output, exit code 2; with --json, one object.
func TestWrongScenarios(t *testing.T) {
	cases := 0
	all := filepath.Join(repository(t), "scenarios", "testdata", "errors")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("mine.schedule", []byte(exchange), 0o644))
	datadriven.Walk(t, all, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, c *datadriven.TestData) string {
			cases++
			text := c.Input + "\n"
			if c.HasArg("network") {
				text += someNetwork
			}
			if c.HasArg("collective") {
				text += someCollective
			}
			args, o := []string{"s.toml"}, run.LoadOptions{}
			for _, line := range strings.Split(c.Input, "\n") {
				if one, ok := strings.CutPrefix(line, "#! --set "); ok {
					args, o.Set = append(args, "--set", one), append(o.Set, one)
				}
				if one, ok := strings.CutPrefix(line, "#! --only "); ok {
					args, o.Only = append(args, "--only", one), append(o.Only, one)
				}
			}
			require.NoError(t, os.WriteFile("s.toml", []byte(text), 0o644))
			_, want := run.Load("s.toml", []byte(text), o)
			require.Error(t, want)

			code, out, stderr := runCommand(args...)
			require.Equal(t, exitUsage, code)
			require.Empty(t, out)
			require.True(t, strings.HasPrefix(stderr, want.Error()+"\n"), stderr)
			require.Equal(t, place.FindAllString(c.Expected, -1), place.FindAllString(stderr, -1))

			code, out, stderr = runCommand(append(args, "--json")...)
			require.Equal(t, exitUsage, code)
			require.Empty(t, out)
			var object struct {
				Error struct{ File, Text string }
			}
			require.NoError(t, json.Unmarshal([]byte(stderr), &object), stderr)
			require.NotEmpty(t, object.Error.File)
			require.NotEmpty(t, object.Error.Text)
			return c.Expected
		})
	})
	require.GreaterOrEqual(t, cases, 30)
}

func runCommand(args ...string) (code int, out, err string) {
	var stdout, stderr bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &stdout, err: &stderr}
	code = a.main(context.Background(), args)
	return code, stdout.String(), stderr.String()
}

// TestBug turns a panic into a report: version, command, seed, and where it was.
func TestBug(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := &app{out: &stdout, err: &stderr, args: []string{"example:ring", "--json"}}
	s, err := run.Load("example:numbers", nil, run.LoadOptions{})
	require.NoError(t, err)
	a.noteSeed(s.Points)
	s.Points[1] = nil // a bug of ours
	code := a.protect(func() int {
		_, err := s.Run(context.Background(), run.RunOptions{})
		return a.report(err)
	})
	require.Equal(t, exitBug, code)
	require.Empty(t, stdout.String())
	for _, part := range []string{"a bug in collsim", "please report", "version  " + run.Version,
		"command  collsim example:ring --json", "seed     7\n", "run/"} {
		require.Contains(t, stderr.String(), part)
	}
}

// TestEveryExampleIsHeld checks that no embedded example lacks a golden table.
func TestEveryExampleIsHeld(t *testing.T) {
	text, err := os.ReadFile("testdata/script/examples.txtar")
	require.NoError(t, err)
	_, list, _ := runCommand("list", "examples")
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		name := strings.Fields(line)[0]
		require.Regexp(t, "collsim "+name+` --quiet\n(\[long\] )?cmp stdout `, string(text))
	}
}

// TestHelpFits checks that help fits a terminal of 24 lines, of which the prompt takes one.
func TestHelpFits(t *testing.T) {
	require.LessOrEqual(t, strings.Count(helpText, "\n"), 23)
	for _, line := range strings.Split(helpText, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 80, line)
	}
}
