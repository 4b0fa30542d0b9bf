package ncclxml

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ringsOfTwo are graphs of two of four GPUs, 4 and 6, over several nodes.
const ringsOfTwo = `<graphs version="1">
 <graph id="0" pattern="4" crossnic="2" nchannels="2" speedintra="48" speedinter="48"
   typeintra="NVL" typeinter="PXN" samechannels="0">
  <channel><net dev="0"/><gpu dev="4" rank="4"/><gpu dev="6" rank="6"/><net dev="0"/></channel>
  <channel><net dev="1"/><gpu dev="6" rank="6"/><gpu dev="4" rank="4"/><net dev="1"/></channel>
 </graph>
 <graph id="1" pattern="3" crossnic="2" nchannels="1" speedintra="48" speedinter="48"
   latencyinter="75" typeintra="NVL" typeinter="PXN" samechannels="1">
  <channel><net dev="0"/><gpu dev="4"/><gpu dev="6"/></channel>
 </graph>
 <graph id="2" pattern="3" nchannels="0"/>
 <graph id="3" pattern="5" crossnic="0" nchannels="2" speedintra="60" speedinter="60"
   typeintra="NVL" typeinter="PIX" samechannels="1">
  <channel><gpu rank="4"/><gpu rank="4"/></channel>
  <channel><gpu rank="6"/></channel>
 </graph>
</graphs>`

// TestReadGraphs: GPUs are counted within their node by rank, else by their number in the driver;
// CollNet's graphs are passed over, and so are those without channels.
func TestReadGraphs(t *testing.T) {
	g, err := ReadGraphs("g.xml", []byte(ringsOfTwo))
	require.NoError(t, err)
	require.Equal(t, &Graph{Orders: [][]int32{{0, 1}, {1, 0}}, SpeedIntra: 48, SpeedInter: 48,
		TypeIntra: "NVL", TypeInter: "PXN", Pattern: 4, CrossNIC: 2, HasNets: true}, g.Ring)
	require.Equal(t, &Graph{Orders: [][]int32{{0, 1}}, SpeedIntra: 48, SpeedInter: 48,
		LatencyInter: 75, TypeIntra: "NVL", TypeInter: "PXN", Same: true, Pattern: 3, CrossNIC: 2,
		HasNets: true}, g.Tree)
	require.Equal(t, [][]int32{{0}, {1}}, g.NVLS.Orders)
	require.True(t, g.Ring.Short(90))
	require.False(t, g.Ring.Short(80))
}

// TestGraphsRefused: the error names the line and what was expected.
func TestGraphsRefused(t *testing.T) {
	const ring = `<graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20" ` +
		`speedinter="20" typeintra="NVL" typeinter="PIX" samechannels="1">`
	const one, end = `<channel><gpu rank="0"/></channel>`, "</graph></graphs>"
	for _, test := range [][2]string{
		{`<system version="1"/>`,
			"g.xml:1: is <system>; <graphs> is expected"},
		{"<graphs>\n<ring/>\n</graphs>",
			"g.xml:2: <ring>: <graph> is expected"},
		{`<graphs/>`,
			`has no <graph id="0"> with channels: rings are expected`},
		{"<graphs>" + ring + one + end,
			`has no <graph id="1">`},
		{"<graphs>\n" + ring + end,
			"g.xml:2: <graph nchannels=1> has 0 elements"},
		{"<graphs>\n" + ring + "\n<channel/>" + end,
			"g.xml:3: <channel> has 0 GPUs"},
		{"<graphs>" + ring + `<channel><gpu rank="x"/></channel>` + end,
			`<gpu rank="x">: a number`},
		{"<graphs>" + ring + `<channel><gpu rank="1"/><gpu rank="1"/></channel>` + end,
			`<gpu rank="1"> stands twice`},
		{"<graphs>" + ring + `<channel><cpu/></channel>` + end,
			"<cpu>: <gpu> or <net>"},
		{`<graphs><graph id="0" nchannels="65"/></graphs>`,
			`nchannels="65">: a number from 0 to 64`},
		{`<graphs><graph nchannels="1"/></graphs>`,
			`<graph id="">: a number`},
		{strings.Replace("<graphs>"+ring, `"20"`, `"fast"`, 1) + end,
			`speedintra="fast">: a number`},
		{strings.Replace("<graphs>"+ring, "NVL", "USB", 1) + end,
			`typeintra="USB">: one of LOC, NVL`},
	} {
		text, want := test[0], test[1]
		_, err := ReadGraphs("g.xml", []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// FuzzGraphs: whatever is read has whole orders; errors name the file, and nothing panics.
func FuzzGraphs(f *testing.F) {
	f.Add(ringsOfTwo)
	f.Add(`<graphs><graph id="0" nchannels="1"><channel><gpu dev="f"/></channel></graph></graphs>`)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadGraphs("f", []byte(text))
		var wrong *Error
		if err != nil {
			require.True(t, errors.As(err, &wrong), err)
			require.Equal(t, "f", wrong.File)
			return
		}
		for _, order := range g.Tree.Orders {
			require.Len(t, order, len(g.Ring.Orders[0]))
			require.NotContains(t, order, int32(-1))
		}
	})
}
