package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair is a scenario of two points, with what a test adds.
const pair = `[topology]
preset = "switch"
ranks = 4
bandwidth = "1 GB/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = ["ring", "one-shot"]
bytes = "1 KiB"
`

func TestHardware(t *testing.T) {
	host := Hardware{Executor: Host, Transport: Goroutines, Repetitions: 5,
		Warmup: 1, Timeout: 30 * time.Second}
	with := func(change func(*Hardware)) Hardware {
		h := host
		change(&h)
		return h
	}
	for name, c := range map[string]struct {
		text string
		want Hardware
	}{
		"nothing said": {"", host},
		"a lab talks by tcp": {`network = "lab"`, with(func(h *Hardware) {
			h.Network, h.Transport = Lab, TCP
		})},
		"hosts talk by tcp": {"hosts = [\"localhost\", \"b\"]\nlisten = \"10.0.0.1:7000\"",
			with(func(h *Hardware) {
				h.Hosts, h.Listen, h.Transport = []string{"localhost", "b"}, "10.0.0.1:7000", TCP
			})},
		"a transport is host's, a library mpi's": {
			"executor = \"mpi\"\nlibrary = true\ntransport = \"unix\"", with(func(h *Hardware) {
				h.Executor, h.Transport, h.Library = MPI, NoTransport, true
			})},
		"callbacks have no transport": {"executor = \"callbacks\"\ntransport = \"unix\"\nlibrary = true",
			with(func(h *Hardware) { h.Executor, h.Transport = Callbacks, NoTransport })},
		"figures": {"ranks = 8\nrepetitions = 20\nwarmup = 0\ntimeout = \"5 s\"",
			with(func(h *Hardware) {
				h.Ranks, h.Repetitions, h.Warmup, h.Timeout = 8, 20, 0, 5*time.Second
			})},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load("s.toml", []byte(pair+"[hardware]\n"+c.text+"\n"), testOptions())
			require.NoError(t, err)
			require.Equal(t, c.want, s.Points[0].Hardware)
		})
	}
}

// A swept executor makes points that differ in it alone.
func TestHardwareSwept(t *testing.T) {
	s, err := load("s.toml", []byte(pair+"[sweep]\n\"hardware.executor\" = [\"host\", \"mpi\"]\n"),
		testOptions())
	require.NoError(t, err)
	require.Len(t, s.Points, 4)
	require.Equal(t, "all_reduce/ring/1024/hardware.executor=mpi", s.Points[2].ID)
	require.Equal(t, MPI, s.Points[2].Hardware.Executor)
	require.Same(t, s.Points[0].Topology, s.Points[2].Topology)
}

// What --set gives a value is not swept, and patterns may mean what there is no more.
func TestSetAgainstSweep(t *testing.T) {
	text := pair + `[sweep]
"hardware.executor" = ["host", "mpi"]
"topology.ranks" = [4, 8]
[[hardware.known]]
match = "*/hardware.executor=host"
why = "a reason"
`
	o := testOptions()
	o.Set = []string{`hardware.executor="mpi"`}
	s, err := load("s.toml", []byte(text), o)
	require.NoError(t, err)
	require.Len(t, s.Points, 4)
	for _, p := range s.Points {
		require.Equal(t, MPI, p.Hardware.Executor)
		require.NotContains(t, p.ID, "executor")
	}
	o.Set = []string{"topology.ranks=6", `sweep."hardware.executor"=["host"]`}
	s, err = load("s.toml", []byte(text), o)
	require.NoError(t, err)
	require.Len(t, s.Points, 2)
	require.Equal(t, "all_reduce/ring/1024/hardware.executor=host", s.Points[0].ID)
	require.Equal(t, 6, s.Points[0].Topology.Ranks)
}

func TestTolerance(t *testing.T) {
	s, err := load("s.toml", []byte(pair+`[hardware]
tolerance = { bits = "any", time_median = "5 %", time_p90 = "12.5 %" }
known = [{ match = "*/ring/*", why = "a reason" }]
`), testOptions())
	require.NoError(t, err)
	require.Equal(t, Tolerance{Bits: "any", TimeMedian: 50_000, TimeP90: 125_000}, s.Tolerance)
	require.Equal(t, []Known{{"*/ring/*", "a reason"}}, s.Known)
	require.True(t, s.Known[0].Matches(s.Points[0]))
	require.False(t, s.Known[0].Matches(s.Points[1]))

	s, err = load("s.toml", []byte(pair), testOptions())
	require.NoError(t, err)
	require.Equal(t, Tolerance{Bits: "equal"}, s.Tolerance)
}

func TestWild(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*", "", true}, {"*b", "ab", true},
		{"a*a", "a", false}, {"a*b*c", "a/b/c", true}, {"a*b*c", "a/c/b", false}, {"", "", true},
		{"**", "x", true}, {"*ab*ab", "xab", false}, {"a*b", "abab", true},
	} {
		require.Equal(t, c.want, wild(c.pattern, c.text), "%q on %q", c.pattern, c.text)
	}
}
