package scenarios

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestWith: keys of other files replace the scenario's, a later file an earlier one's, --set all.
func TestWith(t *testing.T) {
	o := testOptions()
	o.With = []With{
		{"a.toml", []byte("# figures\n[topology]\nlatency = \"2 us\" # measured\nranks = 5\n" +
			"[device]\noverhead = \"3 us\"\n")},
		{"b.toml", []byte("topology.latency = \"4 us\"\n[collective]\nbytes = \"2 KiB\"\n")},
	}
	o.Set = []string{"topology.ranks=6"}
	s, err := load("s.toml", []byte(pair), o)
	require.NoError(t, err)
	p := s.Points[0]
	require.Equal(t, 6, p.Topology.Ranks)
	g, err := p.Topology.Graph()
	require.NoError(t, err)
	require.Equal(t, 4*unit.Microsecond, g.Links()[0].Latency)
	require.Equal(t, 3*unit.Microsecond, p.Device.Overhead)
	require.Equal(t, 2*unit.KiB, p.Spec.Bytes())

	// What was replaced can be given by --set alone.
	require.Equal(t, []string{`topology.latency="2 us"`, "topology.ranks=5",
		`device.overhead="3 us"`, `topology.latency="4 us"`, `collective.bytes="2 KiB"`,
		"topology.ranks=6"}, s.Set)
	o.With, o.Set = nil, s.Set
	again, err := load("s.toml", []byte(pair), o)
	require.NoError(t, err)
	require.Equal(t, s.Points[0].ID, again.Points[0].ID)
	require.Equal(t, s.Points[0].Device, again.Points[0].Device)
}

// TestWithErrors: errors name the file and its line.
func TestWithErrors(t *testing.T) {
	for text, want := range map[string]string{
		"\n[topology]\nlatency = \"2 parsecs\"\n": "w.toml:3: topology.latency = \"2 parsecs\": " +
			"unknown unit",
		"\nlatency = \"2 us\"\n": "w.toml:2: latency: unknown key",
		"[topologie]\nx = 1\n":   "w.toml:1: topologie: unknown key",
		"a = [\n":                "w.toml:1: ",
		"[[collective]]\nkind = \"reduce\"\n": "w.toml:1: collective: an array of tables is the " +
			"scenario's alone",
		"\n[[topology.link]]\nmatch = \"gpu9->*\"\nlatency = \"1 us\"\n": "w.toml:3: " +
			"topology.link.match = \"gpu9->*\": matches no link",
		"[sweep]\nseed = [1, 2]\n": "w.toml:1: sweep: a sweep is the scenario's alone",
		"device = 3\n":             "w.toml:1: device = 3: a table is expected",
	} {
		o := testOptions()
		o.With = []With{{"w.toml", []byte(text)}}
		_, err := load("s.toml", []byte(pair), o)
		require.ErrorContains(t, err, want, text)
	}
}

// TestWithOnOneLine: lists and tables of several lines are given by one --set each, without their
// comments; of bytes and count the file's takes the scenario's place, unless it gives both.
func TestWithOnOneLine(t *testing.T) {
	o := testOptions()
	o.With = []With{{"w.toml", []byte("[collective]\ncount = [ # elements\n  1024,\n  2048, # two\n" +
		"]\n[hardware]\ntolerance = { bits = \"any\",\n time_p90 = \"5 %\" }\n")}}
	s, err := load("s.toml", []byte(pair), o)
	require.NoError(t, err)
	require.Len(t, s.Points, 4)
	require.Equal(t, int64(2048), s.Points[1].Spec.Count)
	require.Equal(t, []string{"collective.count=[1024, 2048]", `hardware.tolerance.bits="any"`,
		`hardware.tolerance.time_p90="5 %"`}, s.Set)
	o.With, o.Set = nil, s.Set
	again, err := load("s.toml", []byte(pair), o)
	require.NoError(t, err)
	require.Equal(t, s.Tolerance, again.Tolerance)
	require.Equal(t, int64(2048), again.Points[1].Spec.Count)

	o.With, o.Set = []With{{"w.toml", []byte("[collective]\nbytes = 8\ncount = 2\n")}}, nil
	_, err = load("s.toml", []byte(pair), o)
	require.ErrorContains(t, err, "w.toml:3: collective.count = 2: ")
}

// TestSlowLinkAndLateRank: links and ranks of --set and of other files take the place of all that
// the scenario has, whether it has some or not, and none are taken away.
func TestSlowLinkAndLateRank(t *testing.T) {
	own := pair + "\n[[topology.link]]\nmatch = \"*\"\nlatency = \"9 us\"\n"
	const link = `topology.link=[{ match = "gpu0->switch", bandwidth = "50 %" }]`
	const rank = `topology.rank=[{ match = "1", start = "3 us" }, { match = "0", slowdown = 2 }]`
	file := "[[topology.rank]]\nmatch = \"1\"\nstart = \"3 us\"\n[[topology.rank]]\n" +
		"match = \"0\"\nslowdown = 2\n" +
		"[topology]\nlink = [{ match = \"gpu0->switch\", bandwidth = \"50 %\" }] # slow\n"
	for name, o := range map[string]Options{
		"--set":  {Set: []string{link, rank}},
		"--with": {With: []With{{"w.toml", []byte(file)}}},
	} {
		for _, text := range []string{pair, own} {
			s, err := load("s.toml", []byte(text), world{Options: o})
			require.NoError(t, err, name)
			require.ElementsMatch(t, []string{link, rank}, s.Set, name)
			network := s.Points[0].Topology
			require.Equal(t, []unit.Time{0, 3 * unit.Microsecond, 0, 0}, network.Starts, name)
			require.Equal(t, []float64{2, 1, 1, 1}, network.Slowdowns, name)
			g, err := network.Graph()
			require.NoError(t, err)
			whole := unit.Rate(0)
			for _, l := range g.Links() {
				require.NotEqual(t, 9*unit.Microsecond, l.Latency, name)
				whole = max(whole, l.Bandwidth)
			}
			for _, l := range g.Links() {
				want := whole
				if l.Name == "gpu0->switch" {
					want /= 2
				}
				require.Equal(t, want, l.Bandwidth, "%s: %s", name, l.Name)
			}
		}
	}
	s, err := load("s.toml", []byte(own),
		world{Options: Options{Set: []string{"topology.link=[]"}}})
	require.NoError(t, err)
	require.False(t, s.Points[0].Topology.Changed())

	for set, want := range map[string]string{
		"topology.link=slow": "--set: topology.link = slow: a list of tables is expected\n" +
			`  for example --set 'topology.link=[{ match = "gpu3 <-> *", bandwidth = "50 %" }]'`,
		`topology.rank=[{ match = "7", start = "1 us" }]`: "--set: topology.rank.match = \"7\": " +
			"matches no rank; ranks are 0 to 3",
		`topology.rank=[{ start = "1 us" }]`: "topology.rank.match: missing",
		`topology.link=[{ mach = "*" }]`:     "--set: topology.link.mach: unknown key",
		"topology.link=[3]":                  "--set: topology.link[0] = 3: a table is expected",
	} {
		_, err := load("s.toml", []byte(pair), world{Options: Options{Set: []string{set}}})
		require.ErrorContains(t, err, want)
	}
}

// TestWholeListExamples: what a wrong list is answered with is a list that can be given.
func TestWholeListExamples(t *testing.T) {
	for _, path := range []string{"device.range", "topology.link", "topology.rank"} {
		set := path + "=[" + wholeLists()[path] + "]"
		_, err := load("s.toml", []byte(pair),
			world{Options: Options{Set: []string{"topology.ranks=4", set}}})
		require.NoError(t, err)
	}
}

// TestWithErrorsAreSorted: the scenario's own come first, then file by file, line by line.
func TestWithErrorsAreSorted(t *testing.T) {
	o := testOptions()
	o.With = []With{{"b.toml", []byte("b = 1\n[device]\noverhead = 1\n")},
		{"a.toml", []byte("[topology]\nlatency = \"x\"\n")}}
	_, err := load("s.toml", []byte(pair+"\nwrong = 1\n"), o)
	var all *Errors
	require.ErrorAs(t, err, &all)
	var places []string
	for _, e := range all.List {
		places = append(places, fmt.Sprintf("%s:%d", e.File, e.Line))
	}
	require.Len(t, places, 4)
	require.Contains(t, places[0], "s.toml:")
	require.Equal(t, []string{"a.toml:2", "b.toml:1", "b.toml:3"}, places[1:])
}

func TestGiven(t *testing.T) {
	s, err := load("s.toml", []byte(pair), testOptions())
	require.NoError(t, err)
	p := s.Points[0]
	require.True(t, s.Given(p, "topology.preset"))
	require.True(t, s.Given(p, "collective.kind"))
	require.False(t, s.Given(p, "topology.node.preset"))
}

func TestParseAlgorithm(t *testing.T) {
	a, err := ParseAlgorithm("Chain( segment = 512KiB, channels=2 )")
	require.NoError(t, err)
	require.Equal(t, "chain(segment=512KiB,channels=2)", a.String())
	require.Equal(t, 1, a.Slices)
	_, err = ParseAlgorithm("ring(")
	require.EqualError(t, err,
		`"ring(": an algorithm's name is expected, with parameters `+
			"in brackets if any")
}

// FuzzWith holds files whose keys replace others to: errors, or a scenario that --set alone gives.
func FuzzWith(f *testing.F) {
	f.Add("[topology]\nlatency = \"2 us\"\n[device]\noverhead = '''\n1 us'''\n")
	f.Add("[collective]\nbytes = { from = \"1 KiB\", to = \"4 KiB\", factor = 2 }\n")
	f.Add("hardware.tolerance = { bits = \"any\" }\ntopology.\"ranks\" = 0x8\n" +
		"\"topology.ranks\" = 3\n")
	f.Add("[collective]\nteams = [[0, 1], # a\n [2, 3]]\nop = [\"max\", \"\"\"\\\n sum\"\"\"]\n")
	f.Add("[[topology.link]]\nmatch = \"*\"\n[sweep]\nseed = [1]\n[topology.link]\nmatch = 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		o := testOptions()
		o.With = []With{{"w.toml", []byte(text)}}
		s, err := load("s.toml", []byte(pair), o)
		if err != nil {
			requireOurs(t, err)
			return
		}
		o.With, o.Set = nil, s.Set
		again, err := load("s.toml", []byte(pair), o)
		require.NoError(t, err, "%q", s.Set)
		require.Len(t, again.Points, len(s.Points))
		for i, p := range s.Points {
			require.Equal(t, p.ID, again.Points[i].ID)
			require.Equal(t, p.Device, again.Points[i].Device)
		}
		require.Equal(t, s.Name, again.Name)
	})
}
