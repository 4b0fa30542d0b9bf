package forestcoll

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/internal/samples"
	"collsim/proof"
	"collsim/schedule"
	"collsim/unit"
)

// verdict is what is found, with the places in the file, or the proof.
func verdict(f *foreign.File) string {
	proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
	var b strings.Builder
	if proven != nil {
		fmt.Fprintf(&b, "proved: %d rounds, %d messages, %d slots\n", proven.Rounds, proven.Messages,
			proven.MinSlots)
	}
	for _, v := range append(found, f.Found...) {
		fmt.Fprintln(&b, v)
		if v.Step >= 0 {
			fmt.Fprintln(&b, "  at", f.Where(v.Rank, v.Lane, v.Step))
		}
	}
	return b.String()
}

// damage replaces the first line after "- " by the lines after "+ ".
func damage(t *testing.T, text, patch string) string {
	var old string
	var replacement []string
	for _, line := range strings.Split(patch, "\n") {
		if rest, ok := strings.CutPrefix(line, "- "); ok {
			old = rest
		} else if rest, ok := strings.CutPrefix(line, "+ "); ok {
			replacement = append(replacement, rest+"\n")
		}
	}
	damaged := strings.Replace(text, old+"\n", strings.Join(replacement, ""), 1)
	require.NotEqual(t, text, damaged)
	return damaged
}

// TestFiles runs testdata/files.txt over the small samples beside it: verify prints the verdict,
// show the schedule, notes what the file says, damage the verdict of a file with other lines.
func TestFiles(t *testing.T) {
	datadriven.RunTest(t, "testdata/files.txt", func(t *testing.T, d *datadriven.TestData) string {
		o, name, as := foreign.Options{}, "", ""
		d.ScanArgs(t, "file", &name)
		d.MaybeScanArgs(t, "count", &o.Count)
		if d.MaybeScanArgs(t, "as", &as); as != "" {
			kind, err := collective.ParseKind(as)
			require.NoError(t, err)
			o.As = kind
		}
		if d.HasArg("in-place") {
			o.Place = foreign.InPlace
		}
		if d.HasArg("avg") {
			o.Op, o.Avg = collective.Avg, collective.AvgPost
		}
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		if d.Cmd == "damage" || d.Cmd == "notes-of" {
			text = []byte(damage(t, string(text), d.Input))
		}
		o.File = name
		f, err := Read(strings.NewReader(string(text)), o)
		require.NoError(t, err)
		checkText(t, f.Schedule)
		switch d.Cmd {
		case "verify", "damage":
			return verdict(f)
		case "show":
			return f.Schedule.String()
		case "notes", "notes-of":
			return f.Sizes + "\n" + strings.Join(f.Notes, "\n") + "\n"
		}
		d.Fatalf(t, "no command %q", d.Cmd)
		return ""
	})
}

// TestSamples proves all trees that ForestColl's program was run for, as every kind of collective
// that they can be taken as.
func TestSamples(t *testing.T) {
	samples.Each(t, "forestcoll", func(t *testing.T, set samples.Set) {
		require.Len(t, set.Cases, samples.Of(set, 6, 21))
		for _, c := range set.Cases {
			path := set.Path(c["file"])
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, o := range []foreign.Options{{}, {Count: 7, Place: foreign.InPlace},
				{As: collective.ReduceScatter, Count: 11}, {As: collective.AllReduce},
				{As: collective.AllReduce, Count: 100, Place: foreign.InPlace}} {
				o.File = filepath.Base(path)
				f, err := Read(strings.NewReader(string(text)), o)
				require.NoError(t, err)
				proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
				require.Empty(t, found, "%s %v", path, o.As)
				require.Equal(t, 1, proven.MinSlots, path)
				checkText(t, f.Schedule)
				require.True(t, o.As != 0 || proven.KeepsRankOrder)
			}
		}
	})
}

// TestTiles: a schedule stays small however many tiles there are, and has as many as its size asks.
func TestTiles(t *testing.T) {
	text, err := os.ReadFile("testdata/chain3.xml")
	require.NoError(t, err)
	for _, tt := range []struct {
		bytes unit.Bytes
		tiles int
	}{{6, 1}, {6 * TileSize, 1}, {6*TileSize + 600, 2}, {600 * TileSize, 100},
		{unit.TiB, maxTiles}} {
		f, err := Read(strings.NewReader(string(text)), foreign.Options{Bytes: tt.bytes})
		require.NoError(t, err)
		require.Contains(t, f.Notes[0], fmt.Sprintf(" in %d tiles", tt.tiles))
		require.Less(t, strings.Count(f.Schedule.String(), "\n"), 60)
	}
	f, err := Read(strings.NewReader(string(text)), foreign.Options{Bytes: 600 * TileSize})
	require.NoError(t, err)
	for rank := range 3 {
		p := f.Schedule.Program(rank)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				require.NotEmpty(t, f.Where(rank, lane, int(c.Step)).Text)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/chain3.xml")
	require.NoError(t, err)
	tests := []struct{ old, new, want string }{
		{`<Algo `, `<algo `, `f:2: "<algo>": <Algo> is expected` + "\n  did you mean <Algo>?"},
		{`<send `, `<sent `, `f:4: "<sent>": <send> is expected` + "\n  did you mean <send>?"},
		{`nchunkspernode="2"`, `nchunkspernode="0"`,
			`f:2: nchunkspernode = "0": a whole number from 1 to 1048576 is expected`},
		{`nchunks="2"`, `nchunks="3"`, `f:3: nchunks = "3": a whole number from 1 to 2 is expected`},
		{`nchunks="2"`, `nchunks="1"`, "f: the trees of (0, 'GPU', 0) carry 1 chunks of 2"},
		{`nchunks="2"`, `chunks="2"`, `f:3: "chunks": root or index or nchunks or height is expected`},
		{`root="(0, 'GPU', 0)"`, `root="(0, 'GPU', 1)"`,
			"f:4: (0, 'GPU', 0) is the root of no tree, so it is no rank"},
		{`root="(0, 'GPU', 1)"`, `root="(0, 'GPU', 0)"`,
			"f:4: (0, 'GPU', 1) is the root of no tree, so it is no rank"},
		{`</Algo>`, `<tree root="(0, 'GPU', 0)" index="1" nchunks="1" height="0"/></Algo>`,
			"f:15: the trees of (0, 'GPU', 0) carry 3 chunks of 2"},
		{`index="0" `, ``, "f:3: index is missing"},
		{`index="0"`, `index="0" index="0"`, "f:3: index is given twice"},
		{`height="2"`, `height="-1"`, "f:3: height ="},
		{`src="(0, 'GPU', 0)"`, `src="(0, 'GPU', 0"`, "f:4: src = \"(0, 'GPU', 0\": a node such as"},
		{`src="(0, 'GPU', 0)"`, `src="(0, 'GPU', 1)"`, "nodes from (0, 'GPU', 1) to (0, 'GPU', 1)"},
		{`path="(0, 'GPU', 0),(0, 'GPU', 1)"`, `path="(0, 'GPU', 0)"`, "f:4: path ="},
		{`src="(0, 'GPU', 0)" dst="(0, 'GPU', 1)" path="(0, 'GPU', 0),`,
			`src="(0, 'GPU', 1)" dst="(0, 'GPU', 1)" path="(0, 'GPU', 1),`,
			"f:4: a send from (0, 'GPU', 1) to itself"},
		{`dst="(0, 'GPU', 1)" path="(0, 'GPU', 0),(0, 'GPU', 1)"`,
			`dst="(0, 'SW', 1)" path="(0, 'GPU', 0),(0, 'SW', 1)"`,
			"f:4: (0, 'SW', 1) is the root of no tree, so it is no rank"},
		{`</tree>`, `</tree>x`, `f:6: text "x": only elements are expected`},
		{`</tree>`, `</trees>`, "f:6: this is no XML"},
		{`</Algo>`, `</Algo><Algo/>`, "f:15: <Algo>: nothing more is expected here"},
		{`</Algo>`, ``, "f:16: this is no XML: unexpected EOF"},
		{`/>`, `><x/></send>`, "f:4: <x>: nothing more is expected here"},
	}
	for _, tt := range tests {
		damaged := strings.Replace(string(text), tt.old, tt.new, 1)
		_, err := Read(strings.NewReader(damaged), foreign.Options{File: "f"})
		var wrong *foreign.Error
		require.ErrorAs(t, err, &wrong, tt.new)
		require.Contains(t, err.Error(), tt.want)
	}
	_, err = Read(strings.NewReader(""), foreign.Options{File: "f"})
	require.EqualError(t, err, "f:1: the file has no <Algo>, or ends within it")
	_, err = Read(strings.NewReader(`<Algo nchunkspernode="1"></Algo>`), foreign.Options{File: "f"})
	require.ErrorContains(t, err, "a tree for every rank is expected")
	_, err = Read(strings.NewReader(string(text)), foreign.Options{File: "f", As: collective.Scatter})
	require.ErrorContains(t, err, "f: ForestColl's trees cannot be taken as scatter")
}

func TestNodes(t *testing.T) {
	for _, text := range []string{"(0, 'GPU', 3)", "(-1, 'IB', 0)", "7", "(1, 2)"} {
		list, err := parseNodes(text)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, text, list[0].String())
	}
	list, err := parseNodes("(0, 'GPU', 3),4, (1, 'SW', 0)")
	require.NoError(t, err)
	require.Equal(t, "[(0, 'GPU', 3) 4 (1, 'SW', 0)]", fmt.Sprint(list))
	for _, text := range []string{"", "(", "()", "(0,)", "'x", "''", "a", "1,", "(1)(2)", "((1))",
		"(1,2,3,4,5,6,7,8,9)"} {
		_, err := parseNodes(text)
		require.Error(t, err, text)
	}
}

// FuzzRead holds the reader and the proof to: no panic, and errors of the reader's own type.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"chain3", "star3"} {
		text, err := os.ReadFile("testdata/" + name + ".xml")
		require.NoError(f, err)
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, reduce bool) {
		o := foreign.Options{File: "f"}
		if reduce {
			o.As = collective.AllReduce
		}
		file, err := Read(strings.NewReader(string(text)), o)
		if err != nil {
			var wrong *foreign.Error
			require.ErrorAs(t, err, &wrong)
			return
		}
		if len(text) > 20_000 { // a step takes 20 bytes at least, in a tree of 4 tiles
			return
		}
		_, found := proof.Verify(file.Schedule, proof.Options{Iterations: 1})
		for _, v := range found {
			_ = file.Where(v.Rank, v.Lane, v.Step).String()
		}
	})
}

// checkText holds a schedule to its text form, which import prints: it reads back as the same.
func checkText(t *testing.T, s *schedule.Schedule) {
	t.Helper()
	back, err := schedule.Parse(s.String())
	require.NoError(t, err)
	require.True(t, schedule.Equal(s, back))
}
