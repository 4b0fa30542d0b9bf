package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/unit"
)

// TestPoints prints what a scenario expands to. Lines "#! --set x" and "#! --only x" are flags.
func TestPoints(t *testing.T) {
	datadriven.RunTest(t, "testdata/points", func(t *testing.T, c *datadriven.TestData) string {
		text, o := c.Input+"\n", testOptions()
		o.Set, o.Only = flags(c.Input)
		if c.HasArg("network") {
			text += someNetwork
		}
		if c.HasArg("collective") {
			text += someCollective
		}
		s, err := load("s.toml", []byte(text), o)
		require.NoError(t, err, "%s", c.Pos)
		var b strings.Builder
		for _, p := range s.Points {
			fmt.Fprintf(&b, "%s  count %d", p.ID, p.Spec.Count)
			for _, a := range p.Axes {
				fmt.Fprintf(&b, "  %s = %v (%T)", a.Path, a.Value, a.Value)
			}
			for i, team := range p.Teams {
				fmt.Fprintf(&b, "  team %d %v count %d", i, team, p.TeamSpec(len(team)).Count)
			}
			if s.Output.Timeline != "" {
				fmt.Fprintf(&b, "  > %s", p.FileName(s.Output.Timeline))
			}
			b.WriteByte('\n')
		}
		for _, note := range s.Notes {
			b.WriteString("note: " + note + "\n")
		}
		return b.String()
	})
}

// TestDefaults: the smallest scenario, with every value that it leaves out.
func TestDefaults(t *testing.T) {
	s, err := load("dir/small.toml", []byte(someNetwork+someCollective), world{})
	require.NoError(t, err)
	require.Equal(t, "small", s.Name)
	require.Empty(t, s.Notes)
	require.Len(t, s.Points, 1)
	p := s.Points[0]
	require.Equal(t, collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Factor: 1,
		Type: dtype.Float32, Ranks: 8, Count: 1 << 18}, p.Spec)
	require.Equal(t, unit.MiB, p.Asked)
	require.Equal(t, Algorithm{Name: "ring", Slices: 1}, p.Algorithm)
	require.Equal(t, device.Ideal(), *p.Device)
	require.Equal(t, Sim{Slots: 8}, p.Sim)
	require.Equal(t, Check{Proof: true, Numbers: true, Memory: unit.GiB}, p.Check)
	require.Nil(t, p.Topology.Starts)
	require.Nil(t, p.Topology.Slowdowns)
	g, err := p.Topology.Graph()
	require.NoError(t, err)
	require.Len(t, g.Links(), 16)
	require.Equal(t, unit.Rate(12_500_000_000), g.Links()[0].Bandwidth) // 100 Gbit/s / 8
	require.Equal(t, 500*unit.Nanosecond, g.Links()[0].Latency)
}

// TestEverything: every key that changes a point, at a value that is not its default.
func TestEverything(t *testing.T) {
	s, err := load("-", []byte(`
schema = 1
name = "all keys"
description = """two
lines"""
seed = 42

[topology]
preset = "ring"
ranks = 4
bandwidth = "10 GB/s"
latency = "1 us"
[[topology.link]]
match = "gpu0 <-> gpu1"
bandwidth = "50 %"
[[topology.link]]
match = "gpu1->gpu0"
bandwidth = "50 %"
latency = "3 us"
[[topology.rank]]
match = "*"
start = "1 us"
[[topology.rank]]
match = "gpu3"
start = "2 us"
slowdown = 1.5

[device]
preset = "ideal"
overhead = "1 us"
reduce_rate = "400 GB/s"
copy_rate = "unlimited"
lane_rate = "20 GB/s"
slot_latency = "800 ns"
offload = true
queue = 16

[sim]
sharing = "fifo"
segment = "64 KiB"
switching = "store_and_forward"
slots = 0

[check]
proof = false
numbers = false
memory = "1 MiB"
data = "normal"

[[collective]]
name = "first"
kind = "reduce-scatter"
algorithm = "Ring( slices = 2 )"
count = 7
dtype = "bf16"
op = "premulsum(factor=0.5)"
in_place = true
channels = 3

[[collective]]
kind = "reduce"
algorithm = "file:mine.schedule"
bytes = 4096
op = "avg"
avg = "post"
root = 2

[[collective]]
kind = "all_to_allv"
algorithm = "direct"
splits = [[0, 1, 2, 3], [1, 0, 0, 0], [0, 0, 0, 0], [9, 9, 9, 9]]
dtype = "int8"

[[collective]]
enabled = false
kind = "barrier"
op = "max"

[output]
csv = "out/r.csv"
json = "r.json"
timeline = "{kind}-{algorithm}.svg"
`), testOptions())
	require.NoError(t, err)
	require.Equal(t, "all keys", s.Name)
	require.Equal(t, "two\nlines", s.Description)
	require.Equal(t, int64(42), s.Seed)
	require.Equal(t, Output{CSV: "out/r.csv", JSON: "r.json", Timeline: "{kind}-{algorithm}.svg"},
		s.Output)
	require.Len(t, s.Points, 3)

	p := s.Points[0]
	require.Equal(t, collective.Spec{Kind: collective.ReduceScatter, Op: collective.PremulSum,
		Type: dtype.BFloat16, Ranks: 4, Count: 7, InPlace: true, Factor: 0.5}, p.Spec)
	require.Equal(t, "first", p.Collective)
	require.Equal(t, "ring(channels=3,slices=2)", p.Algorithm.String())
	require.Equal(t, unit.Bytes(2*4*7), p.Asked)
	require.Equal(t, "reduce_scatter-ring-channels=3-slices=2-.svg", p.FileName(s.Output.Timeline))
	require.Equal(t, Sim{Sharing: FIFO, Segment: 64 * unit.KiB, Switching: StoreForward,
		SlotsSet: true}, p.Sim)
	require.Equal(t, Check{Memory: unit.MiB, Data: NormalData}, p.Check)
	require.Equal(t, &device.Device{Name: "ideal", Overhead: unit.Microsecond,
		ReduceRate: 400_000_000_000, CopyRate: unit.Unlimited, LaneRate: 20_000_000_000,
		SlotLatency: 800 * unit.Nanosecond, Offload: true, Queue: 16, Slots: 8}, p.Device)
	require.Equal(t, int64(42), p.Seed)

	require.Equal(t, []unit.Time{unit.Microsecond, unit.Microsecond, unit.Microsecond,
		2 * unit.Microsecond}, p.Topology.Starts)
	require.Equal(t, []float64{1, 1, 1, 1.5}, p.Topology.Slowdowns)
	require.True(t, p.Topology.Changed())
	g, err := p.Topology.Graph()
	require.NoError(t, err)
	for _, l := range g.Links() {
		want, latency := unit.Rate(10_000_000_000), unit.Microsecond
		switch l.Name {
		case "gpu0->gpu1":
			want = 5_000_000_000
		case "gpu1->gpu0": // half of the half
			want, latency = 2_500_000_000, 3*unit.Microsecond
		}
		require.Equal(t, want, l.Bandwidth, l.Name)
		require.Equal(t, latency, l.Latency, l.Name)
	}

	p = s.Points[1]
	require.Equal(t, collective.Spec{Kind: collective.Reduce, Op: collective.Avg, Factor: 1,
		Avg: collective.AvgPost, Type: dtype.Float32, Ranks: 4, Root: 2, Count: 1024}, p.Spec)
	require.Equal(t, Algorithm{Name: "file", File: "mine.schedule", Slices: 1},
		p.Algorithm)
	require.Equal(t, "file:mine.schedule", p.Algorithm.String())
	require.Equal(t, "mine.schedule", s.Resolve(p.Algorithm.File))
	require.Same(t, s.Points[0].Topology, p.Topology)

	p = s.Points[2]
	require.Equal(t, [][]int64{{0, 1, 2, 3}, {1, 0, 0, 0}, {0, 0, 0, 0}, {9, 9, 9, 9}}, p.Spec.Splits)
	require.Zero(t, p.Spec.Op)

	// A later stage points to the same places.
	require.Equal(t, "standard input:72: collective[2].dtype = \"int8\": no sums of this yet",
		s.Locate(p.Refuse("collective.dtype", "no sums of this yet", "")).Error())
	require.Equal(t, "standard input:68: collective[2].op: none\n  hint",
		s.Locate(p.Refuse("collective.op", "none", "hint")).Error())
	require.Equal(t, "standard input:10: topology.ranks = 4: too few",
		s.Locate(p.Refuse("topology.ranks", "too few", "")).Error())
	require.Equal(t, p.ID+": collective.op: none\n  hint",
		p.Refuse("collective.op", "none", "hint").Error())
}

// TestFiles: parameters behind a file's name, and what a custom collective takes from its file.
func TestFiles(t *testing.T) {
	s, err := load("s.toml", []byte(`
[[collective]]
kind = "custom"
algorithm = ["file:mine.schedule", "file:mine.schedule ( strict-nop = true, protocol=LL )"]
[[collective]]
kind = "custom"
algorithm = "file:mine.schedule"
bytes = "1 KiB"
op = "max"
`+someNetwork+"multimem = true\n"), testOptions())
	require.NoError(t, err)
	require.Len(t, s.Points, 3)
	p := s.Points[0]
	require.Equal(t, "custom/file:mine.schedule/32", p.ID)
	require.Equal(t, collective.Sum, p.Spec.Op)
	require.Zero(t, p.Whole)
	p = s.Points[1]
	require.Equal(t, "file:mine.schedule(strict_nop=true,protocol=LL)", p.Algorithm.String())
	require.Equal(t, "mine.schedule", p.Algorithm.File)
	require.True(t, p.Algorithm.FromFile())
	require.Equal(t, []Param{{"strict_nop", "true"}, {"protocol", "LL"}}, p.Algorithm.Params)
	p = s.Points[2]
	require.Equal(t, unit.KiB, p.Whole)
	require.Equal(t, unit.KiB, p.Spec.Bytes())
	require.Equal(t, collective.Max, p.Spec.Op)
	g, err := p.Topology.Graph()
	require.NoError(t, err)
	_, _, err = g.Multimem(0, []int32{0, 1, 2}, true)
	require.NoError(t, err)

	_, err = load("s.toml", []byte(`
[[collective]]
kind = "custom"
algorithm = "file:mine.schedule"
count = 4
splits = [[1]]
root = 1
`+someNetwork), testOptions())
	for _, key := range []string{"count", "splits", "root"} {
		require.ErrorContains(t, err, "collective."+key)
		require.ErrorContains(t, err, "has no effect")
	}
}

// TestByHand: links by hand, one each way, over a switch.
func TestByHand(t *testing.T) {
	s, err := load("s.toml", []byte(`
[topology]
latency = "1 us"
[[topology.link]]
from = "gpu0"
to = "leaf"
bandwidth = "1 GB/s"
[[topology.link]]
from = "leaf"
to = "gpu1"
bandwidth = "2 GB/s"
both = false
[[topology.link]]
from = "gpu1"
to = "gpu0"
bandwidth = "3 GB/s"
latency = "2 us"
both = false
`+someCollective), testOptions())
	require.NoError(t, err)
	net := s.Points[0].Topology
	require.Equal(t, "links", net.Preset)
	require.Equal(t, 2, net.Ranks)
	g, err := net.Graph()
	require.NoError(t, err)
	var links []string
	for _, l := range g.Links() {
		links = append(links, fmt.Sprintf("%s %v %v", l.Name, l.Bandwidth, l.Latency))
	}
	require.Equal(t, []string{"gpu0->leaf 1 GB/s 1.00 us", "leaf->gpu0 1 GB/s 1.00 us",
		"leaf->gpu1 2 GB/s 1.00 us", "gpu1->gpu0 3 GB/s 2.00 us"}, links)
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ file, name, want string }{
		{"a/b.toml", "x.csv", "a/x.csv"},
		{"b.toml", "x.csv", "x.csv"},
		{"a/b.toml", "/x.csv", "/x.csv"},
		{"a/b.toml", "../x.csv", "x.csv"},
		{"-", "x.csv", "x.csv"},
		{"example:ring", "x.csv", "x.csv"},
	} {
		s := &Scenario{File: c.file}
		require.Equal(t, c.want, s.Resolve(c.name), c)
	}
}
