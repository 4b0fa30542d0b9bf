package nccl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestReleases: the tables of every version are those that its own source prints, and have the same
// algorithms and protocols.
func TestReleases(t *testing.T) {
	text, err := os.ReadFile("testdata/releases.txt")
	require.NoError(t, err)
	lines := map[string]map[string]string{} // of a call, by version
	var calls []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		version, rest, _ := strings.Cut(line, " ")
		call, ways, _ := strings.Cut(rest, ":")
		if lines[call] == nil {
			lines[call] = map[string]string{}
			calls = append(calls, call)
		}
		lines[call][version] = ways
	}
	kinds := map[string]collective.Kind{"AllReduce": collective.AllReduce,
		"AllGather": collective.AllGather, "Broadcast": collective.Broadcast}
	for _, call := range calls {
		var machine, name string
		var ranks, perNode int
		_, err := fmt.Sscan(call, &machine, &ranks, &perNode, &name)
		require.NoError(t, err)
		spec := collective.Spec{Kind: kinds[name], Type: dtype.Float32, Ranks: ranks}
		if spec.Kind.Reduces() {
			spec.Op = collective.Sum
		}
		ways := ""
		for _, version := range Versions() {
			if now, ok := lines[call][version]; ok {
				ways = now
			}
			s := Setting{Machine: machine, PerNode: perNode, Version: version}
			m, err := s.model(&spec)
			require.NoError(t, err)
			words := strings.Fields(ways)
			listed := map[Way]bool{}
			for i := 0; i < len(words); i += 3 {
				w := wayOf(t, words[i]+" "+words[i+1])
				listed[w] = true
				var latency, bandwidth float64 // rounded to what is printed
				_, err := fmt.Sscanf(words[i+2], "%g/%g", &latency, &bandwidth)
				require.NoError(t, err)
				require.InDelta(t, latency, m.latency(spec.Kind, w), .0051, "%s %s %v", version, call, w)
				require.InDelta(t, bandwidth, m.bandwidth(spec.Kind, w), .0051, "%s %s %v", version, call, w)
			}
			for a := range algorithms {
				for p := range protocols {
					if w := (Way{a, p}); !a.usesSwitch() {
						require.Equal(t, listed[w], m.has(&spec, w), "%s %s %v", version, call, w)
					}
				}
			}
		}
	}
}

// TestVersions: a version has the figures of the row that it is in, or of the last one before it;
// what is no version, or not known, is refused with those that are.
func TestVersions(t *testing.T) {
	for text, want := range map[string]string{"": newest, "newest": newest, "2.30.7": "2.30.7",
		"2.30": "2.30", "2.29.3": "2.29.3", "2.18.1": "2.18.1", "2.26.5": "2.26.5"} {
		r, err := releaseOf(text)
		require.NoError(t, err, text)
		require.Equal(t, want, r.name)
	}
	figures := func(text string) release {
		r, err := releaseOf(text)
		require.NoError(t, err, text)
		r.name = ""
		return *r
	}
	require.Equal(t, figures("2.25.1"), figures("2.26.5"))
	require.Equal(t, figures("2.28.9"), figures("2.28"))
	require.NotEqual(t, figures("2.28.7"), figures("2.28"))
	for text, want := range map[string]string{
		"2.17.1":  "the oldest that is known is 2.18.1; figures changed in 2.30.3, 2.29.7",
		"2.30.8":  "the newest that is known is 2.30.7",
		"3.1":     "the newest that is known is 2.30.7",
		"2":       "a version of NCCL is expected, such as 2.30.7",
		"2.25.x":  "a version of NCCL",
		"2.-1.0":  "a version of NCCL",
		"2.25.1.": "a version of NCCL",
	} {
		_, err := releaseOf(text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestVersionRules: what exists and what lists may say goes by the version.
func TestVersionRules(t *testing.T) {
	spec := func(kind collective.Kind, ranks int, bytes int64) collective.Spec {
		s := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: bytes / 4}
		if kind.Reduces() {
			s.Op = collective.Sum
		}
		return s
	}
	for _, test := range []struct {
		spec          collective.Spec
		machine       string
		version, env  string
		want, wantErr string
	}{
		{spec(collective.AllGather, 4, 1<<10), "socket", "2.23.4", "NCCL_ALGO=pat", "PAT Simple", ""},
		{spec(collective.AllGather, 4, 1<<10), "socket", "2.22.3", "NCCL_ALGO=pat", "Ring LL", ""},
		{spec(collective.AllReduce, 16, 1<<30), "dgx-h100", "2.21.5", "", "NVLSTree Simple", ""},
		{spec(collective.AllReduce, 16, 1<<30), "dgx-h100", "2.20.5", "", "Ring Simple", ""},
		{spec(collective.AllReduce, 16, 1<<30), "dgx-h100", "2.19.4", "", "NVLSTree Simple", ""},
		{spec(collective.AllReduce, 16, 1<<30), "dgx-h100", "2.23.4", "NCCL_ALGO=pat", "Ring Simple", ""},
		{spec(collective.AllReduce, 16, 1<<30), "dgx-h100", "2.24.3", "NCCL_ALGO=pat", "",
			"NCCL_ALGO=pat leaves none"},
		{spec(collective.AllReduce, 16, 1<<30), "dgx-h100", "2.24.3", "NCCL_ALGO=tree;allreduce:ring",
			"Ring Simple", ""},
		{spec(collective.AllReduce, 16, 1<<30), "dgx-h100", "2.23.4", "NCCL_ALGO=tree;allreduce:ring", "",
			"NCCL_ALGO=tree;allreduce:ring: NCCL 2.23.4 reads one list"},
	} {
		e, err := ParseEnv(test.env)
		require.NoError(t, err)
		perNode := 8
		if test.machine == "socket" {
			perNode = 1
		}
		c, err := Choose(test.spec, Setting{Machine: test.machine, PerNode: perNode, Env: e,
			Version: test.version})
		if test.wantErr != "" {
			require.ErrorContains(t, err, test.wantErr)
			continue
		}
		require.NoError(t, err, "%+v", test)
		require.Equal(t, test.want, c.Way.String(), "%+v", test)
	}
	float8s := spec(collective.AllReduce, 8, 1<<10)
	float8s.Type = dtype.Float8E4M3
	_, err := Choose(float8s, Setting{Version: "2.23.4"})
	require.EqualError(t, err, "NCCL 2.23.4 has no float8_e4m3fn to reduce")
	_, err = Choose(float8s, Setting{Version: "2.24.3"})
	require.NoError(t, err)
	for version, channels := range map[string]int{"2.19.4": 32, "2.20.3": 16, "2.30": 16} {
		c, err := Choose(spec(collective.AllGather, 16, 1<<30), Setting{PerNode: 8, Version: version})
		require.NoError(t, err)
		require.Equal(t, channels, c.all, version)
	}
}
